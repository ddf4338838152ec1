/// A set of slots as one bit each; emptying it costs what was put in.
package struct SlotSet: ~Copyable {
    private var words = Slab<UInt64>()

    package init() {}

    /// Makes room for the slots below `slotCount`.
    package mutating func reserve(_ slotCount: Int) {
        words.extend(to: (slotCount + 63) / 64, with: 0)
    }

    /// Whether the slot is in the set; traps beyond the room made.
    @inline(__always)
    package func contains(_ slot: UInt32) -> Bool {
        words[Int(slot >> 6)] & (1 << UInt64(slot & 63)) != 0
    }

    /// Puts a slot in.
    @inline(__always)
    package mutating func insert(_ slot: UInt32) {
        words[Int(slot >> 6)] |= 1 << UInt64(slot & 63)
    }

    /// Takes a slot out.
    @inline(__always)
    package mutating func remove(_ slot: UInt32) {
        words[Int(slot >> 6)] &= ~(1 << UInt64(slot & 63))
    }
}
