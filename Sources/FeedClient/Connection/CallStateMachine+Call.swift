package import FeedProto
package import FeedTransport

extension CallStateMachine {
    /// One call, from its submission to its end.
    package struct Call {
        /// Who waits for its answer.
        package let caller: Caller
        /// What is asked.
        package let request: Request
        /// The revision that the answer must not be older than; 0 is any.
        package let minimumRevision: UInt64
        /// What its caller gave it, for the error that says so.
        package let timeout: Duration
        /// When that is over.
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

        /// What it did, if it never gets an answer.
        package var effect: CallEffect { isSent && request.mayHaveEffect ? .unknown : .none }
    }

    /// A call that ended without an answer, and why.
    package struct Failure {
        /// Who is told.
        package let caller: Caller
        /// What it is told.
        package let error: FeedClientError
    }

    /// A call that leaves now.
    package struct Departure {
        /// The id of its frame.
        package let id: UInt64
        /// What is sent.
        package let call: Call
    }

    /// Whose answer came.
    package enum Arrival {
        /// That of a call whose caller waits.
        case answer(Call)
        /// Its caller does not wait any more.
        case late
        /// Nothing with this id is in flight.
        case unasked
    }
}
