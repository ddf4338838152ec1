package import FeedConcurrency

/// Counts the connections of each identity, and keeps what is left of its limits.
///
/// The lock is taken when a connection comes, shows a key, or goes; requests use the allowance that the
/// connection holds. An identity without connections is forgotten once its buckets are full. Until
/// then their times are kept in tables of bounded size, so that a client gains nothing by coming anew.
package final class IdentityAdmission: Sendable {
    /// The decision about a connection.
    package enum Decision {
        /// It is counted, and has this allowance.
        case admitted(IdentityAllowance)
        /// The identity has as many connections as it may.
        case refused
    }

    private struct Entry {
        let allowance: IdentityAllowance
        var connectionCount = 0
    }

    private struct State {
        var entries: [ClientIdentity: Entry] = [:]
        var votesFull = FullTimes()
        var callsFull = FullTimes()
    }

    /// The limits of each identity.
    package let limits: IdentityLimits
    private let clock: @Sendable () -> MonotonicInstant
    private let state = Lock(State())

    /// No connections.
    package init(
        _ limits: IdentityLimits,
        clock: @escaping @Sendable () -> MonotonicInstant = { MonotonicInstant.now }
    ) {
        self.limits = limits
        self.clock = clock
    }

    /// The identities that have connections.
    package var identityCount: Int { state.withLock { $0.entries.count } }

    /// Counts a connection of an identity; O(1) on average.
    ///
    /// - Parameters:
    ///   - identity: Whose connection.
    ///   - isForced: Whether it is admitted above the limit, too: a connection whose key has become void.
    ///   - left: The connections that are left to all: an identity may have as many, so that a few hosts
    ///     do not have them all.
    /// - Returns: The decision.
    package func enter(
        _ identity: ClientIdentity,
        isForced: Bool = false,
        left: Int = .max
    ) -> Decision {
        state.withLock { state in
            var entry =
                state.entries[identity]
                ?? Entry(
                    allowance: IdentityAllowance(
                        identity,
                        limits,
                        votesFull: state.votesFull[identity] ?? 0,
                        callsFull: state.callsFull[identity] ?? 0
                    )
                )
            let limit = min(limits.connectionCount, max(1, left))
            guard isForced || limits.connectionCount == 0 || entry.connectionCount < limit else {
                return .refused
            }
            entry.connectionCount += 1
            state.entries[identity] = entry
            return .admitted(entry.allowance)
        }
    }

    /// A connection with this allowance has gone, or has another identity now; O(1) on average.
    package func leave(_ allowance: IdentityAllowance) {
        let now = clock().nanoseconds
        state.withLock { state in
            guard var entry = state.entries[allowance.identity] else { return }
            entry.connectionCount -= 1
            guard entry.connectionCount == 0 else {
                state.entries[allowance.identity] = entry
                return
            }
            state.entries[allowance.identity] = nil
            let (votes, calls) = (allowance.votes.fullNanoseconds, allowance.calls.fullNanoseconds)
            if votes > now { state.votesFull.set(allowance.identity, votes, at: now) }
            if calls > now { state.callsFull.set(allowance.identity, calls, at: now) }
        }
    }
}
