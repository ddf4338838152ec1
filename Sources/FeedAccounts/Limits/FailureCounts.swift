package import FeedConcurrency

/// Counts recent failures of keys, and says when a key may try again.
///
/// An attempt counts as a failure from its beginning until it is known to have succeeded, so that
/// many attempts at the same time are no way around the limit. The window slides: in no window are
/// there more failures than the limit.
package struct FailureCounts<Key: Hashable & Sendable>: Sendable {
    private let limit: Int
    private let window: UInt64
    private let maximumKeyCount: Int
    /// The times of each key's failures in its window, in nanoseconds, the oldest first.
    private var times: [Key: [UInt64]] = [:]

    /// No failures.
    package init(limit: Int, window: Duration, maximumKeyCount: Int) {
        precondition(limit > 0 && maximumKeyCount > 0, "Some attempts are allowed and counted.")
        self.limit = limit
        self.window = MonotonicInstant(nanoseconds: 0).advanced(by: window).nanoseconds
        self.maximumKeyCount = maximumKeyCount
    }

    /// The number of keys in the table; the failures of some may be over.
    package var keyCount: Int { times.count }

    /// How long a key has to wait for its next attempt; nil if it may try now, O(1).
    package func wait(of key: Key, at now: MonotonicInstant) -> Duration? {
        guard let times = times[key], times.count >= limit else { return nil }
        let free = times[times.count - limit] &+ window
        return free > now.nanoseconds ? .nanoseconds(Int64(free - now.nanoseconds)) : nil
    }

    /// Counts an attempt; O(1) on average.
    package mutating func begin(_ key: Key, at now: MonotonicInstant) {
        if times[key] == nil, times.count >= maximumKeyCount { makeRoom(now) }
        var list = times[key] ?? []
        list.removeAll { $0 &+ window <= now.nanoseconds }
        list.append(now.nanoseconds)
        times[key] = list
    }

    /// The attempt that began at that time is no failure.
    package mutating func withdraw(_ key: Key, begunAt time: MonotonicInstant) {
        guard var list = times[key], let place = list.lastIndex(of: time.nanoseconds) else {
            return
        }
        list.remove(at: place)
        times[key] = list.isEmpty ? nil : list
    }

    /// Drops the keys whose failures are over, or an eighth of all where that is more; a dropped key
    /// may try again.
    private mutating func makeRoom(_ now: MonotonicInstant) {
        times = times.filter { ($0.value.last ?? 0) &+ window > now.nanoseconds }
        let left = maximumKeyCount - max(1, maximumKeyCount / 8)
        guard times.count > left else { return }
        for key in Array(times.keys.prefix(times.count - left)) { times[key] = nil }
    }
}
