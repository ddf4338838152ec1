/// The members of a side group that were voted on.
struct SideVotes: ~Copyable {
    /// Tells which votes may reach a head.
    var filter = HeadFilter()
    /// Those of them that are in a head; empty but for the time of noting.
    private(set) var inHead = Slab<UInt32>()
    /// The others, since the tails got them.
    private(set) var behind = SlotSet()
    private(set) var hasBehind = false

    /// No votes.
    init() {}

    /// Makes room for the members below a limit.
    mutating func reserve(_ limit: Int) { behind.reserve(limit) }

    /// Notes that a member was voted on; returns whether it may come into a head.
    @inline(__always)
    mutating func note(_ member: UInt32, _ record: PostRecord) -> Bool {
        guard !record.flags.contains(.isInSideHead) else {
            inHead.append(member)
            return false
        }
        behind.insert(member)
        hasBehind = true
        return filter.mayReachHead(record)
    }

    /// Forgets the members of heads, which the lists have.
    mutating func endNoting() { inHead.removeAll() }

    /// Forgets the members.
    mutating func removeAll() {
        behind.removeAll()
        hasBehind = false
    }
}
