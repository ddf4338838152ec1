/// The members of a side group that were voted on.
///
/// Noting looks at plain values only. A list is a reference, and each access to its keys would be
/// checked for exclusivity, for each member and list.
struct SideVotes: ~Copyable {
    /// The head of a list that follows votes, as of the begin of noting.
    struct Head: BitwiseCopyable {
        /// What the list is sorted by.
        var kind: KeyKind
        /// The place of the list among those of the group.
        var list: Int
        /// The time after which the list's posts were created.
        var start: Int64
        /// The end of the head.
        var boundary: RankedIndex.HeadBoundary
    }

    /// A member that comes into the head of a list.
    struct Arrival: BitwiseCopyable {
        /// The member.
        var member: UInt32
        /// The place of the list among those of the group.
        var list: Int
    }

    /// Tells which votes may reach a head.
    var filter = HeadFilter()
    /// The heads of the lists, those of a kind one after the other.
    var heads = Slab<Head>()
    /// The members that were in a head before; empty but for the time of noting.
    private(set) var inHead = Slab<UInt32>()
    /// The members that come into a head; empty but for the time of noting.
    private(set) var arrivals = Slab<Arrival>()
    /// The members that were in no head, since the tails got them.
    private(set) var behind = SlotSet()
    private(set) var hasBehind = false

    /// No votes.
    init() {}

    /// Makes room for the members below a limit.
    mutating func reserve(_ limit: Int) { behind.reserve(limit) }

    /// Notes that a member was voted on; O(1), and O(lists) where it may come into a head.
    @inline(__always)
    mutating func note(_ member: UInt32, at slot: UInt32, _ record: PostRecord, _ slots: SlotKeys) {
        guard !record.flags.contains(.isInSideHead) else {
            inHead.append(member)
            return
        }
        behind.insert(member)
        hasBehind = true
        if filter.mayReachHead(record) { findHeads(member, at: slot, record, slots) }
    }

    /// Finds the lists into whose heads a member comes; O(lists).
    private mutating func findHeads(
        _ member: UInt32,
        at slot: UInt32,
        _ record: PostRecord,
        _ slots: SlotKeys
    ) {
        var known: (kind: KeyKind, key: RankKey)?
        for place in 0..<heads.count {
            let head = heads[place]
            guard record.createTimeMilliseconds > head.start else { continue }
            if known?.kind != head.kind { known = (head.kind, slots.key(head.kind, slot, record)) }
            if let known, known.key.primary != 0, head.boundary.covers(known.key) {
                arrivals.append(Arrival(member: member, list: head.list))
            }
        }
    }

    /// Forgets the members of heads, which the lists have.
    mutating func endNoting() {
        inHead.removeAll()
        arrivals.removeAll()
    }

    /// Forgets the members behind the heads.
    mutating func removeAll() {
        behind.removeAll()
        hasBehind = false
    }
}
