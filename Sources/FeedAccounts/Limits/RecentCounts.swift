package import FeedConcurrency

/// Counts recent attempts of keys, such as failures of an e-mail, and says when a key may try again.
///
/// An attempt counts from its beginning until it is withdrawn, so that many attempts at the same time
/// are no way around the limit. The window slides: in no window are there more attempts than the limit.
///
/// The table is bounded. Where it is full, a hand goes round it, as in the clock algorithm of page
/// replacement, and looks at a few keys for each new one. The new key takes the place of one whose attempts
/// are over, or else of the one with the fewest. So keys that are made up, with one attempt each, do not push
/// out a key at its limit.
package struct RecentCounts<Key: Hashable & Sendable>: Sendable {
    private struct Entry {
        let key: Key
        /// The times of the attempts in nanoseconds, the oldest first; some may be out of the window.
        var times: [UInt64] = []
    }

    /// The keys that the hand looks at for a new one.
    private static var lookCount: Int { 8 }

    private let limit: Int
    private let window: UInt64
    private let maximumKeyCount: Int
    private var entries: [Entry] = []
    /// The place of each key among the entries.
    private var places: [Key: Int] = [:]
    /// The entry that the hand looks at next.
    private var hand = 0

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
        guard let place = places[key] else { return nil }
        let times = entries[place].times
        guard times.count >= limit else { return nil }
        let free = times[times.count - limit] &+ window
        return free > now.nanoseconds ? .nanoseconds(Int64(free - now.nanoseconds)) : nil
    }

    /// Counts an attempt; O(limit), and no more where the table is full.
    package mutating func begin(_ key: Key, at now: MonotonicInstant) {
        let place = places[key] ?? place(for: key, at: now)
        let window = window
        entries[place].times.removeAll { $0 &+ window <= now.nanoseconds }
        entries[place].times.append(now.nanoseconds)
    }

    /// The attempt that began at that time does not count; a key without any is forgotten.
    package mutating func withdraw(_ key: Key, begunAt time: MonotonicInstant) {
        guard let place = places[key],
            let index = entries[place].times.lastIndex(of: time.nanoseconds)
        else { return }
        entries[place].times.remove(at: index)
        guard entries[place].times.isEmpty else { return }
        places[key] = nil
        let last = entries.removeLast()
        guard place < entries.count else { return }
        entries[place] = last
        places[last.key] = place
    }

    /// A place for a new key; where the table is full, the key that had it is forgotten and may try again.
    private mutating func place(for key: Key, at now: MonotonicInstant) -> Int {
        var place = entries.count
        if place < maximumKeyCount {
            entries.append(Entry(key: key))
        } else {
            place = placeToGive(at: now)
            places[entries[place].key] = nil
            entries[place] = Entry(key: key)
        }
        places[key] = place
        return place
    }

    private mutating func placeToGive(at now: MonotonicInstant) -> Int {
        var fewest = (place: 0, count: Int.max)
        for _ in 0..<Self.lookCount where fewest.count > 0 {
            hand = (hand + 1) % entries.count
            let count = entries[hand].times.count { $0 &+ window > now.nanoseconds }
            if count < fewest.count { fewest = (hand, count) }
        }
        return fewest.place
    }
}
