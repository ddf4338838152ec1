/// A set of slots as one bit each.
package struct SlotSet: ~Copyable {
    private var words = Slab<UInt64>()

    /// An empty set with room for no slot.
    package init() {}

    /// Makes room for the slots below `slotCount`.
    package mutating func reserve(_ slotCount: Int) {
        words.extend(to: (slotCount + 63) / 64, with: 0)
    }

    /// Whether a slot is in the set; false where there is no room for it.
    package func contains(_ slot: UInt32) -> Bool {
        Int(slot >> 6) < words.count && bit(slot) == 1
    }

    /// 1 for a slot in the set, else 0: for sums that must not branch.
    ///
    /// Traps beyond the room made.
    @inline(__always)
    func bit(_ slot: UInt32) -> Int {
        Int(truncatingIfNeeded: words[Int(slot >> 6)] >> UInt64(slot & 63) & 1)
    }

    /// Puts a slot in.
    @inline(__always)
    package mutating func insert(_ slot: UInt32) {
        words[Int(slot >> 6)] |= 1 << UInt64(slot & 63)
    }

    /// The first slot of the set from `slot` on; nil where none follows.
    ///
    /// O(slots / 64).
    package func next(from slot: Int) -> UInt32? {
        var word = slot >> 6
        guard word < words.count else { return nil }
        var bits = words[word] & (~0 << UInt64(slot & 63))
        while bits == 0 {
            word += 1
            guard word < words.count else { return nil }
            bits = words[word]
        }
        return UInt32(word << 6 + bits.trailingZeroBitCount)
    }

    /// Takes a slot out.
    @inline(__always)
    package mutating func remove(_ slot: UInt32) {
        words[Int(slot >> 6)] &= ~(1 << UInt64(slot & 63))
    }

    /// Takes all slots in that another set has, which has room for as many.
    ///
    /// O(slots / 64).
    mutating func formUnion(_ other: borrowing SlotSet) {
        for index in 0..<min(words.count, other.words.count) { words[index] |= other.words[index] }
    }

    /// Puts all slots below a limit in, for which there is room; O(slots / 64).
    mutating func insertAll(below limit: Int) {
        for index in 0..<limit >> 6 { words[index] = ~0 }
        if limit & 63 > 0 { words[limit >> 6] |= 1 << UInt64(limit & 63) - 1 }
    }

    /// Takes all slots out; O(slots / 64).
    mutating func removeAll() {
        for index in 0..<words.count { words[index] = 0 }
    }
}
