package import FeedProto
package import FeedTransport

extension CallStateMachine {
    /// One call, from its submission to its end.
    package struct Call {
        /// The caller that waits for its answer.
        package let caller: Caller
        /// The request.
        package let request: Request
        /// The revision that the answer must not be older than; 0 is any.
        package let minimumRevision: UInt64
        /// The timeout that its caller gave, for the error that names it.
        package let timeout: Duration
        /// When the timeout is over.
        package let deadline: MonotonicInstant
        /// Whether it has left.
        package internal(set) var isSent = false

        /// A call that has not left.
        package init(
            caller: Caller,
            request: Request,
            minimumRevision: UInt64 = 0,
            timeout: Duration,
            deadline: MonotonicInstant
        ) {
            self.caller = caller
            self.request = request
            self.minimumRevision = minimumRevision
            self.timeout = timeout
            self.deadline = deadline
        }

        /// The call's effect, if it never gets an answer.
        package var effect: CallEffect { isSent && request.mayHaveEffect ? .unknown : .none }
    }

    /// A call that ended without an answer, and why.
    package struct Failure {
        /// The caller to notify.
        package let caller: Caller
        /// The error for the caller.
        package let error: FeedClientError
    }

    /// A call that leaves now.
    package struct Departure {
        /// The id of its frame.
        package let id: UInt64
        /// The call.
        package let call: Call
    }

    /// The call that an answer belongs to.
    package enum Arrival {
        /// A call whose caller waits.
        case answer(Call)
        /// A call whose caller no longer waits.
        case late
        /// Nothing with this id is in flight.
        case unasked
    }
}
