internal import FeedConcurrency

/// Counts the watches of all loops, and bounds them together and by host.
///
/// Each host may have an eighth of the watches that are left to all others. The first one comes to a ninth
/// of all, and ten hosts that want all leave 3,690 of 12,000. No watch is taken back, so no host may come
/// near all.
package final class WatchAdmission: Sendable {
    package enum Refusal: Error, Equatable {
        case full
        /// The host has so many, which is its share.
        case hostIsFull(Int)
    }

    /// The part of the free watches that a host may have.
    private static let shareDivisor = 8

    private struct State {
        var counts: [ClientIdentity: Int] = [:]
        var total = 0
    }

    private let limit: Int
    private let state = Lock(State())

    package init(limit: Int) { self.limit = limit }

    package var count: Int { state.withLock { $0.total } }

    /// Lets a watch in, from any thread; O(1) on average.
    ///
    /// A service has no share, as it watches for many people: it may have all.
    package func admit(_ peer: ClientIdentity, mayHaveAll: Bool) throws(Refusal) {
        try state.withLock { (state) throws(Refusal) in
            let count = state.counts[peer] ?? 0
            let free = limit - state.total
            guard free > 0 else { throw .full }
            guard mayHaveAll || count * Self.shareDivisor < free else { throw .hostIsFull(count) }
            state.counts[peer] = count + 1
            state.total += 1
        }
    }

    package func release(_ peer: ClientIdentity) {
        state.withLock { state in
            guard let count = state.counts[peer] else { return }
            state.counts[peer] = count > 1 ? count - 1 : nil
            state.total -= 1
        }
    }

    /// Who has the most watches, the first one most; O(peers), for statistics.
    package func largest(_ count: Int) -> [(peer: ClientIdentity, count: Int)] {
        let counts = state.withLock { $0.counts }
        return counts.sorted { $0.value > $1.value }.prefix(count).map { ($0.key, $0.value) }
    }
}
