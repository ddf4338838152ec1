package import FeedConcurrency
internal import Synchronization

/// Limits how often passwords may be tried, for each e-mail and for each peer that tries, and how many
/// accounts a peer may create.
package final class SignInLimits<Peer: Hashable & Sendable>: Sendable {
    /// An attempt that was let in.
    package struct Attempt: Sendable {
        fileprivate let email: Int
        fileprivate let peer: Peer?
        fileprivate let mayCreate: Bool
        fileprivate let time: MonotonicInstant
    }

    /// The decision about an attempt.
    package enum Decision: Sendable {
        /// It may go on; it counts as a failure, and as a creation if it may become one, until it is
        /// withdrawn.
        case allowed(Attempt)
        /// There were too many failures; the next attempt may be made after that time.
        case wait(Duration)
        /// The peer has created too many accounts; it may create the next one after that time.
        case waitToCreate(Duration)
    }

    private struct State {
        var emails: RecentCounts<Int>
        var peers: RecentCounts<Peer>
        var creators: RecentCounts<Peer>
    }

    private let state: Lock<State>
    private let clock: @Sendable () -> MonotonicInstant
    private let refused = Atomic<UInt64>(0)

    /// Limits on a monotonic clock.
    package init(
        _ limits: AccountLimits,
        clock: @escaping @Sendable () -> MonotonicInstant = { MonotonicInstant.now }
    ) {
        func counts<Key: Hashable>(_ limit: Int, in window: Duration) -> RecentCounts<Key> {
            RecentCounts(
                limit: limit,
                window: window,
                maximumKeyCount: limits.maximumLimitedKeyCount
            )
        }
        state = Lock(
            State(
                emails: counts(limits.failuresPerWindow, in: limits.failureWindow),
                peers: counts(limits.failuresPerWindow, in: limits.failureWindow),
                creators: counts(limits.creationsPerWindow, in: limits.creationWindow)
            )
        )
        self.clock = clock
    }

    /// The number of attempts that were refused.
    package var refusedCount: UInt64 { refused.load(ordering: .relaxed) }

    /// Lets an attempt in, or says how long to wait; O(1) on average.
    ///
    /// - Parameters:
    ///   - email: The e-mail whose password is tried.
    ///   - peer: The peer that tries; nil for a service, which acts for many people.
    ///   - mayCreate: Whether the attempt creates an account if it succeeds.
    /// - Returns: The attempt, or the time until the next one may be made.
    package func begin(
        _ email: EmailAddress,
        from peer: Peer?,
        mayCreate: Bool = false
    ) -> Decision {
        // Hashes are seeded anew in each process, so nobody can choose two that are the same.
        let key = email.key.hashValue
        let now = clock()
        let refusal = state.withLock { state -> Decision? in
            let ofEmail = state.emails.wait(of: key, at: now)
            let ofPeer = peer.flatMap { state.peers.wait(of: $0, at: now) }
            if let wait = [ofEmail, ofPeer].compactMap(\.self).max() { return .wait(wait) }
            if mayCreate, let wait = peer.flatMap({ state.creators.wait(of: $0, at: now) }) {
                return .waitToCreate(wait)
            }
            state.emails.begin(key, at: now)
            guard let peer else { return nil }
            state.peers.begin(peer, at: now)
            if mayCreate { state.creators.begin(peer, at: now) }
            return nil
        }
        guard let refusal else {
            return .allowed(Attempt(email: key, peer: peer, mayCreate: mayCreate, time: now))
        }
        refused.wrappingAdd(1, ordering: .relaxed)
        return refusal
    }

    /// The attempt is no failure: it has succeeded, or its password was never looked at.
    ///
    /// - Parameters:
    ///   - attempt: The attempt.
    ///   - created: Whether it has created an account, which stays counted.
    package func withdraw(_ attempt: Attempt, created: Bool = false) {
        state.withLock { state in
            state.emails.withdraw(attempt.email, begunAt: attempt.time)
            guard let peer = attempt.peer else { return }
            state.peers.withdraw(peer, begunAt: attempt.time)
            if attempt.mayCreate, !created {
                state.creators.withdraw(peer, begunAt: attempt.time)
            }
        }
    }
}
