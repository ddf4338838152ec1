package import FeedConcurrency
internal import Synchronization

/// Limits how often passwords may be tried: for each e-mail, and for each peer that tries.
package final class SignInLimits<Peer: Hashable & Sendable>: Sendable {
    /// An attempt that was let in.
    package struct Attempt: Sendable {
        fileprivate let email: Int
        fileprivate let peer: Peer?
        fileprivate let time: MonotonicInstant
    }

    /// The decision about an attempt.
    package enum Decision: Sendable {
        /// It may go on; it counts as a failure until it is withdrawn.
        case allowed(Attempt)
        /// There were too many failures; the next attempt may be made after that time.
        case wait(Duration)
    }

    private struct State {
        var emails: FailureCounts<Int>
        var peers: FailureCounts<Peer>
    }

    private let state: Lock<State>
    private let clock: @Sendable () -> MonotonicInstant
    private let refused = Atomic<UInt64>(0)

    /// Limits on a monotonic clock.
    package init(
        _ limits: AccountLimits,
        clock: @escaping @Sendable () -> MonotonicInstant = { MonotonicInstant.now }
    ) {
        func counts<Key: Hashable>() -> FailureCounts<Key> {
            FailureCounts(
                limit: limits.failuresPerWindow,
                window: limits.failureWindow,
                maximumKeyCount: limits.maximumFailureKeyCount
            )
        }
        state = Lock(State(emails: counts(), peers: counts()))
        self.clock = clock
    }

    /// The number of attempts that were refused.
    package var refusedCount: UInt64 { refused.load(ordering: .relaxed) }

    /// Lets an attempt in, or says how long to wait; O(1) on average.
    ///
    /// - Parameters:
    ///   - email: The e-mail whose password is tried.
    ///   - peer: The peer that tries; nil for a service, which acts for many people.
    /// - Returns: The attempt, or the time until the next one may be made.
    package func begin(_ email: EmailAddress, from peer: Peer?) -> Decision {
        // Hashes are seeded anew in each process, so nobody can choose two that are the same.
        let key = email.key.hashValue
        let now = clock()
        let wait = state.withLock { state -> Duration? in
            let ofEmail = state.emails.wait(of: key, at: now)
            let ofPeer = peer.flatMap { state.peers.wait(of: $0, at: now) }
            if let wait = [ofEmail, ofPeer].compactMap(\.self).max() { return wait }
            state.emails.begin(key, at: now)
            if let peer { state.peers.begin(peer, at: now) }
            return nil
        }
        guard let wait else {
            return .allowed(Attempt(email: key, peer: peer, time: now))
        }
        refused.wrappingAdd(1, ordering: .relaxed)
        return .wait(wait)
    }

    /// The attempt has succeeded, or its password was never looked at: it is no failure.
    package func withdraw(_ attempt: Attempt) {
        state.withLock { state in
            state.emails.withdraw(attempt.email, begunAt: attempt.time)
            if let peer = attempt.peer { state.peers.withdraw(peer, begunAt: attempt.time) }
        }
    }
}
