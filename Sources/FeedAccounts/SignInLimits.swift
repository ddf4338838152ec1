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
            if attempt.mayCreate, !created { state.creators.withdraw(peer, begunAt: attempt.time) }
        }
    }
}

/// Counts recent attempts of keys, such as failures of an e-mail, and says when a key may try again.
///
/// An attempt counts from its beginning until it is withdrawn, so that many attempts at the same time
/// are no way around the limit. The window slides: in no window are there more attempts than the limit.
///
/// The table is bounded (`BoundedTable`): a new key takes the place of one whose attempts are over, or else
/// of one with few.
package struct RecentCounts<Key: Hashable & Sendable>: Sendable {
    private let limit: Int
    private let window: UInt64
    /// The times of each key's attempts in nanoseconds, the oldest first; some may be out of the window.
    private var table: BoundedTable<Key, [UInt64]>

    package init(limit: Int, window: Duration, maximumKeyCount: Int) {
        precondition(limit > 0, "Some attempts are allowed.")
        self.limit = limit
        self.window = MonotonicInstant(nanoseconds: 0).advanced(by: window).nanoseconds
        table = BoundedTable(maximumCount: maximumKeyCount)
    }

    /// The number of keys in the table; the attempts of some may be over.
    package var keyCount: Int { table.count }

    /// How long a key has to wait for its next attempt; nil if it may try now, O(1).
    package func wait(of key: Key, at now: MonotonicInstant) -> Duration? {
        guard let times = table[key], times.count >= limit else { return nil }
        let free = times[times.count - limit] &+ window
        return free > now.nanoseconds ? .nanoseconds(Int64(free - now.nanoseconds)) : nil
    }

    /// Counts an attempt; O(limit), and no more if the table is full.
    package mutating func begin(_ key: Key, at now: MonotonicInstant) {
        let window = window
        var times = table[key] ?? []
        times.removeAll { $0 &+ window <= now.nanoseconds }
        table.set(key, to: times + [now.nanoseconds]) { times in
            UInt64(times.count { $0 &+ window > now.nanoseconds })
        }
    }

    /// The attempt that began at that time does not count; a key without any is forgotten.
    package mutating func withdraw(_ key: Key, begunAt time: MonotonicInstant) {
        guard var times = table[key], let index = times.lastIndex(of: time.nanoseconds) else {
            return
        }
        times.remove(at: index)
        guard !times.isEmpty else { return table.remove(key) }
        table.set(key, to: times) { _ in 0 }
    }
}
