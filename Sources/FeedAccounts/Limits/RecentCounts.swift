package import FeedConcurrency

/// Counts recent attempts of keys, such as failures of an e-mail, and says when a key may try again.
///
/// An attempt counts from its beginning until it is withdrawn, so that many attempts at the same time
/// are no way around the limit. The window slides: in no window are there more attempts than the limit.
///
/// The table is bounded. A new key takes the place of the one that came first, in constant time.
package struct RecentCounts<Key: Hashable & Sendable>: Sendable {
    private struct Entry {
        /// Where the key is in `places`.
        let place: Int
        /// The times of the attempts in nanoseconds, the oldest first; some may be out of the window.
        var times: [UInt64] = []
    }

    private let limit: Int
    private let window: UInt64
    private let maximumKeyCount: Int
    private var entries: [Key: Entry] = [:]
    /// The keys in the order in which they came, as a ring once it is full; nil where one was withdrawn.
    private var places: [Key?] = []
    /// The place of the key that came first, once the ring is full.
    private var firstPlace = 0

    /// No attempts.
    package init(limit: Int, window: Duration, maximumKeyCount: Int) {
        precondition(limit > 0 && maximumKeyCount > 0, "Some attempts are allowed and counted.")
        self.limit = limit
        self.window = MonotonicInstant(nanoseconds: 0).advanced(by: window).nanoseconds
        self.maximumKeyCount = maximumKeyCount
    }

    /// The number of keys in the table; the attempts of some may be over.
    package var keyCount: Int { entries.count }

    /// How long a key has to wait for its next attempt; nil if it may try now, O(1).
    package func wait(of key: Key, at now: MonotonicInstant) -> Duration? {
        guard let times = entries[key]?.times, times.count >= limit else { return nil }
        let free = times[times.count - limit] &+ window
        return free > now.nanoseconds ? .nanoseconds(Int64(free - now.nanoseconds)) : nil
    }

    /// Counts an attempt; O(limit), and no more where the table is full.
    package mutating func begin(_ key: Key, at now: MonotonicInstant) {
        var entry = entries[key] ?? Entry(place: takePlace(for: key))
        entry.times.removeAll { $0 &+ window <= now.nanoseconds }
        entry.times.append(now.nanoseconds)
        entries[key] = entry
    }

    /// The attempt that began at that time does not count.
    package mutating func withdraw(_ key: Key, begunAt time: MonotonicInstant) {
        guard var entry = entries[key],
            let index = entry.times.lastIndex(of: time.nanoseconds)
        else { return }
        entry.times.remove(at: index)
        if entry.times.isEmpty { places[entry.place] = nil }
        entries[key] = entry.times.isEmpty ? nil : entry
    }

    /// A place for a new key; the key that had it is forgotten and may try again.
    private mutating func takePlace(for key: Key) -> Int {
        guard places.count == maximumKeyCount else {
            places.append(key)
            return places.count - 1
        }
        let place = firstPlace
        firstPlace = (firstPlace + 1) % maximumKeyCount
        if let first = places[place] { entries[first] = nil }
        places[place] = key
        return place
    }
}
