/// The slots of a stripe's stale posts: those that first pages may show, and all others.
struct StaleSlots: ~Copyable {
    /// The posts that first pages may show; some may have been deleted since.
    var head = Slab<UInt32>()
    /// The posts behind all head boundaries.
    private(set) var tail = SlotSet()
    /// The number of slots in the tail.
    private(set) var tailCount = 0
    /// The slot at which the search for the next job's posts begins, so that each post is taken
    /// some time.
    var nextJobSlot = 0

    /// The number of stale posts, with those of the head that have been deleted since.
    var count: Int { head.count + tailCount }

    /// Makes room in the tail for all slots below a limit.
    mutating func reserve(_ slotLimit: Int) { tail.reserve(slotLimit) }

    /// Adds a post to the tail, which does not have it; O(1).
    @inline(__always)
    mutating func insertIntoTail(_ slot: UInt32) {
        tail.insert(slot)
        tailCount += 1
    }

    /// Removes a post from the tail, which has it; O(1).
    mutating func removeFromTail(_ slot: UInt32) {
        tail.remove(slot)
        tailCount -= 1
    }

    /// The next post of the tail; the search wraps from the last slot to the first.
    func nextInTail(from slot: Int) -> UInt32? { tail.next(from: slot) ?? tail.next(from: 0) }
}
