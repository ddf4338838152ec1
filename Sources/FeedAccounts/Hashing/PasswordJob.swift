package import FeedConcurrency
internal import Synchronization

/// A password that waits to be hashed, and what happens to the result.
package struct PasswordJob: Sendable {
    /// What the password is hashed for.
    package enum Purpose: Sendable, Equatable {
        /// To keep the hash in a new account.
        case create
        /// To compare it with the hash of an account; nil where there is no such account, which takes
        /// as long.
        case verify(String?)
    }

    /// The result of a job.
    package enum Outcome: Sendable, Equatable {
        /// The hash for a new account.
        case hashed(String)
        /// The password is the account's.
        case matches
        /// The password is not the account's, or there is no such account.
        case differs
        /// The job was not done: its client has gone, its time was over, or the thread has stopped.
        case skipped
        /// The queue was full, and the job's host had most of it: another host has the place.
        case crowdedOut
        /// There was no memory for the hash.
        case noMemory
    }

    /// Whether a job's client still waits; shared with the thread that knows.
    package final class Interest: Sendable {
        private let hasEnded = Atomic(false)

        /// A client that waits.
        package init() {}

        /// The client has gone.
        package func end() { hasEnded.store(true, ordering: .relaxed) }

        /// Whether the client has gone.
        package var isOver: Bool { hasEnded.load(ordering: .relaxed) }
    }

    let host: Int
    let password: Secret
    let purpose: Purpose
    let interest: Interest
    let deadline: MonotonicInstant
    let finish: @Sendable (Outcome) -> Void

    /// A job.
    ///
    /// - Parameters:
    ///   - host: A number for the host that asks, by which turns are taken.
    ///   - password: The password.
    ///   - purpose: What it is hashed for.
    ///   - interest: Whether the client still waits when the job's turn comes.
    ///   - deadline: When the job need not begin any more.
    ///   - finish: Gets the outcome, once, on a hashing thread or the one that stops it; returns soon.
    package init(
        host: Int,
        password: Secret,
        purpose: Purpose,
        interest: Interest,
        deadline: MonotonicInstant,
        finish: @escaping @Sendable (Outcome) -> Void
    ) {
        self.host = host
        self.password = password
        self.purpose = purpose
        self.interest = interest
        self.deadline = deadline
        self.finish = finish
    }
}
