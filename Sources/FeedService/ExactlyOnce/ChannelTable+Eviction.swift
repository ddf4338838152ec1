internal import FeedConcurrency
internal import FeedLog
internal import FeedRanking

/// Eviction: the rules by which channels are forgotten.
///
/// - A host that takes more than its share loses idle channels at once: first those on which nothing
///   was called, then the others, the one that has been idle for longest first. So the greediest
///   hosts give up channels when the memory of all runs short.
/// - A host with many idle channels (`quietByteCount`) keeps them for the short retention only.
/// - All others are forgotten after the retention.
///
/// The hosts of restored channels are not known; they count as one, which may take the memory of all
/// hosts and keeps what fits into it for the whole retention: their clients are about to come back.
/// If hosts need that memory again, restored channels are forgotten, the newest first.
extension ChannelTable {
    /// The time between two runs of the eviction.
    package static let evictionInterval = Duration.milliseconds(250)
    /// The most channels that one run evicts: a few tenths of a millisecond, and enough to empty a
    /// full table in about half a minute.
    package static let evictionLimit = 2048
    /// The most hosts that one run visits.
    static let visitedHostLimit = 4096

    /// The restored channels that are forgotten for a new one at most.
    static let makeRoomLimit = 8

    /// Forgets channels whose retention is over, the short one or the full one; O(limit), and
    /// O(channels) where memory is given back.
    ///
    /// - Returns: How many were forgotten.
    @discardableResult
    package func evict(limit: Int = evictionLimit) -> Int {
        let now = clock()
        return state.withLock { state in
            var count = 0
            for _ in 0..<min(state.hosts.endPlace, Self.visitedHostLimit) {
                if state.nextHost >= state.hosts.endPlace { state.nextHost = 0 }
                while count < limit, let due = state.dueChannel(of: state.nextHost, limits, now) {
                    evict(due, &state)
                    count += 1
                }
                // The next run evicts the other channels of this host.
                guard count < limit else { break }
                state.nextHost += 1
            }
            state.shrink()
            return count
        }
    }

    /// Forgets restored channels until a new channel has the memory that it needs; O(1).
    func makeRoom(_ state: inout State) {
        // Calls may have taken more, which the next run evicts.
        for _ in 0..<Self.makeRoomLimit where !budget.holds(RecentCalls.baseByteCount) {
            guard let host = state.hostIndex[.earlierRun], let idle = state.hosts[host].idlest
            else { return }
            evict(idle, &state)
        }
    }

    /// Forgets a channel, for any of the rules above.
    func evict(_ place: Int, _ state: inout State) {
        let number = state.channels[place].channel.identity.number
        state.remove(place)
        state.restored[number] = nil
        if collectsEvicted { state.evicted.append(number) }
        state.evictedCount += 1
    }

    /// Whether the runs since the last call found a host with so many idle channels that they are
    /// kept for the short retention only.
    package func takeForgetsSoon() -> Bool {
        state.withLock { state in
            let forgetsSoon = state.forgetsSoon
            state.forgetsSoon = false
            return forgetsSoon
        }
    }

    /// The numbers evicted since they were taken last; empty unless the table collects them.
    ///
    /// The log entries that name them may still be on their way to the journal.
    package func takeEvicted() -> [UInt64] {
        state.withLock { state in
            let evicted = state.evicted
            state.evicted = []
            return evicted
        }
    }
}
