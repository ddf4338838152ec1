package import FeedConcurrency
package import FeedProto

extension ClientSession {
    /// What tells sessions apart: their Hello and how patient they are.
    package struct Settings {
        /// What the client says of itself: its name, its id and its channel.
        package var hello = HelloRequest()
        /// How often and how soon to try again.
        package var retry = RetryPolicy()
        /// How long one try to connect may take, with the answer to Hello.
        package var connectTimeout = Duration.seconds(5)
        /// Whether the first connection is tried again until its caller's deadline.
        package var waitsForService = false
        /// Whether a lost connection is followed by another one; without, its end is the session's.
        package var reconnects = true

        /// The defaults, of a client without an id.
        package init() {}
    }

    /// One call, from its submission to its end.
    package struct Call {
        /// The caller that waits for its answer.
        package let caller: Caller
        /// The request.
        package let request: Request
        /// The revision that the answer must not be older than; 0 is any.
        package let minimumRevision: UInt64
        /// The user whom the client acts for; 0 is the client itself.
        package let actingUserID: UInt64
        /// The timeout that its caller gave, for the error that names it.
        package let timeout: Duration
        /// When the timeout is over, however often the call is sent.
        package let deadline: MonotonicInstant
        /// The sequence of a change, which it keeps; 0 is none.
        package internal(set) var sequence: UInt64 = 0
        /// How often it was sent, without the frames that a GoAway excluded.
        package internal(set) var attemptCount = 0
        /// Whether a frame of it is on the current connection.
        var isInFlight = false
        /// Whether it was sent on a lost connection and may have been executed there.
        var isDoubtful = false
        /// How the session ended that the call in flight was sent under; nil where it has not.
        var endOfSession: EndOfSession?

        /// A call that has not left.
        package init(
            caller: Caller,
            request: Request,
            minimumRevision: UInt64 = 0,
            actingUserID: UInt64 = 0,
            timeout: Duration,
            deadline: MonotonicInstant
        ) {
            self.caller = caller
            self.request = request
            self.minimumRevision = minimumRevision
            self.actingUserID = actingUserID
            self.timeout = timeout
            self.deadline = deadline
        }

        /// The call under a sequence that its caller keeps, also beyond the process.
        ///
        /// A service that no longer knows may have executed one that may have left before.
        package func numbered(_ sequence: UInt64, mayHaveLeft: Bool) -> Call {
            var call = self
            call.sequence = sequence
            call.isDoubtful = mayHaveLeft
            return call
        }

        /// The call's effect, if it never gets an answer.
        var effect: CallEffect {
            (isInFlight || isDoubtful) && request.mayHaveEffect ? .unknown : .none
        }

        /// Whether it is a change that has no sequence yet.
        var wantsSequence: Bool { sequence == 0 && request.takesSequence }

        /// Whether it may be sent again after its connection was lost: a read has no effect, and a
        /// numbered change has it once.
        var isRepeatable: Bool { !request.mayHaveEffect || sequence > 0 }
    }

    /// The refusal that says how a session ended; apart, so that calls stay small.
    final class EndOfSession: Sendable {
        let status: Status

        init(_ status: Status) {
            self.status = status
        }
    }

    /// A call that leaves now.
    package struct Departure {
        /// The id of its frame.
        package let id: UInt64
        /// The call, with its sequence.
        package let call: Call
    }

    /// What the driver does next.
    package enum Step {
        /// Give callers their results; one at least.
        case complete([(Caller, Result<Answer, FeedClientError>)])
        /// Open a connection within the time, and say how that ends.
        case connect(timeout: Duration)
        /// Send Hello as the first frame of the connection.
        case sendHello(id: UInt64, HelloRequest)
        /// Send a call.
        case send(Departure)
        /// Do something for a watch.
        case watch(WatchTable.Step)
        /// Let the client's other connections forget a session.
        case tellOthers(EndedSession)
        /// Send what is buffered, close the connection, and say when it has ended.
        case close
        /// Drop the connection, or the try to open one; nothing more is heard of it.
        case abandon
        /// Nothing before an input comes, or before the instant.
        case wait(until: MonotonicInstant?)
        /// Nothing ever again.
        case finish
    }
}

/// A session that the service has ended, and the refusal that said so.
package struct EndedSession: Sendable {
    let token: [UInt8]
    let status: Status
}

extension ClientSession.Call: Sendable where Caller: Sendable {}
