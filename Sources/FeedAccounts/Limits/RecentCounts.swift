package import FeedConcurrency

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

    /// No attempts.
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

    /// Counts an attempt; O(limit), and no more where the table is full.
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
