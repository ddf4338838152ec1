/// A value for each of a bounded number of keys, such as what hosts have used of a limit.
///
/// Where the table is full, a hand goes round it, as in the clock algorithm of page replacement. It looks at
/// a few keys for each new one, and the new one takes the place of one whose loss costs nothing, or else of
/// the one whose loss costs least. So a new key costs a few looks, and keys that are made up, which have used
/// little, do not push out one at its limit. A key that is removed leaves no place that others would have to
/// fill.
package struct BoundedTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// The keys that the hand looks at for a new one.
    package static var lookLimit: Int { 8 }

    private let maximumCount: Int
    private var entries: [(key: Key, value: Value)] = []
    /// The place of each key among the entries.
    private var places: [Key: Int] = [:]
    /// The entry that the hand looks at next.
    private var hand = 0
    /// How often the hand has looked at an entry.
    package private(set) var lookCount = 0

    /// An empty table, for so many keys.
    package init(maximumCount: Int) {
        precondition(maximumCount > 0, "A table has room.")
        self.maximumCount = maximumCount
    }

    package var count: Int { entries.count }

    /// The value of a key; nil for one that is not kept.
    package subscript(_ key: Key) -> Value? { places[key].map { entries[$0].value } }

    /// Keeps a key, in the place of another one where the table is full; O(1) on average.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - value: Its value from now on.
    ///   - cost: What it costs to lose the value of another key; 0 is nothing.
    package mutating func set(_ key: Key, to value: Value, cost: (Value) -> UInt64) {
        if let place = places[key] {
            entries[place].value = value
        } else if count < maximumCount {
            places[key] = count
            entries.append((key, value))
        } else {
            let place = placeToGive(cost)
            places[entries[place].key] = nil
            places[key] = place
            entries[place] = (key, value)
        }
    }

    /// Forgets a key; O(1) on average.
    package mutating func remove(_ key: Key) {
        guard let place = places.removeValue(forKey: key) else { return }
        let last = entries.removeLast()
        guard place < count else { return }
        entries[place] = last
        places[last.key] = place
    }

    private mutating func placeToGive(_ cost: (Value) -> UInt64) -> Int {
        var least = (place: 0, cost: UInt64.max)
        for _ in 0..<Self.lookLimit where least.cost > 0 {
            hand = (hand + 1) % count
            lookCount += 1
            let loss = cost(entries[hand].value)
            if loss < least.cost { least = (hand, loss) }
        }
        return least.place
    }
}
