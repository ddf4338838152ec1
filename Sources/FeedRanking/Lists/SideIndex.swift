/// The index of a side list, with the posts that are stale in it.
///
/// Unlike the indexes of `StandingLists`, it keeps its own account of what is stale, so that each
/// list is refreshed when it is read and not before. A changed post is *fresh* until a reader has
/// looked at it. A reader leaves a post in the tail whose old and new key lie behind the head
/// boundary. So a list whose first pages alone are read has the keys of its head only.
///
/// Invariants (`checkInvariants`): The index has exactly the keys of `indexed`. A member whose key
/// is another one, or that is not there though it should be, is stale: it is fresh or in the tail.
/// Where a stale member is not fresh, neither its old nor its new key lies at the head boundary or
/// before it. Where `hasTail` is false, no member is in the tail.
struct SideIndex: ~Copyable {
    /// What the list is sorted by.
    let kind: KeyKind
    /// The keys in order.
    var index = RankedIndex()
    /// The first part of the key under which the index has a member; 0 where it has none.
    var indexed = Slab<UInt64>()
    /// The members that have changed since a reader looked.
    var fresh = SlotSet()
    /// Whether a member is fresh.
    var hasFresh = false
    /// The stale members behind the head boundary, which a first page leaves out, and some that are
    /// not stale; `SideGroup.behind` has more of them.
    var tail = SlotSet()
    /// Whether there may be members in the tail.
    var hasTail = false

    /// An index without keys.
    init(_ kind: KeyKind) { self.kind = kind }

    /// Makes room for the members below a limit.
    mutating func reserve(_ limit: Int) {
        indexed.extend(to: limit, with: 0)
        fresh.reserve(limit)
        tail.reserve(limit)
    }

    /// Notes that a member has changed; O(1).
    @inline(__always)
    mutating func noteChange(_ member: UInt32) {
        hasFresh = true
        fresh.insert(member)
    }

    /// Notes that members have changed; O(members).
    mutating func noteChanges(_ members: borrowing Slab<UInt32>) {
        hasFresh = hasFresh || members.count > 0
        for place in 0..<members.count { fresh.insert(members[place]) }
    }

    /// Notes that all members below a limit have changed; O(members / 64).
    mutating func noteAll(below limit: Int) {
        hasFresh = hasFresh || limit > 0
        fresh.insertAll(below: limit)
    }

    /// Whether no stale post can belong before a key; nil asks for the whole index.
    func isExact(upTo key: RankKey?) -> Bool {
        if !hasTail { return true }
        guard let key else { return false }
        return index.headBoundary.covers(key)
    }

    /// Takes a member's key out, before its title changes or it is deleted; O(log n).
    mutating func takeOut(_ member: UInt32, at slot: UInt32, _ pass: inout ListPass) {
        tail.remove(member)
        fresh.remove(member)
        let key = key(indexed[Int(member)], slot, pass.posts[slot])
        pass.move(key.ifAny, to: nil, in: &index)
        indexed[Int(member)] = 0
    }

    /// The whole key of which the first part is known.
    @inline(__always)
    func key(_ primary: UInt64, _ slot: UInt32, _ record: PostRecord) -> RankKey {
        RankKey(primary: primary, secondary: kind == .top ? record.titlePrefix : 0, slot: slot)
    }

    /// The key that a member should have; none where it is not within the list's window.
    @inline(__always)
    func newKey(_ list: ListID, _ slot: UInt32, _ record: PostRecord, by slots: SlotKeys) -> RankKey
    {
        let isThere = list.hasTime(record.createTimeMilliseconds)
        return isThere ? slots.key(kind, slot, record) : key(0, slot, record)
    }

    /// Whether a key lies behind the head boundary, or is none.
    @inline(__always)
    func isBehind(_ key: RankKey) -> Bool { key.primary == 0 || !index.headBoundary.covers(key) }
}

extension SideIndex {
    /// Traps where an invariant of the type does not hold; O(n log n).
    func checkInvariants(
        _ list: ListID,
        _ members: borrowing SideMembers,
        behind: borrowing SlotSet,
        _ pass: borrowing ListPass
    ) {
        index.checkInvariants(pass.pool, pass.posts)
        var count = 0
        for member in 0..<UInt32(members.limit) {
            let slot = members.slot(member)
            let primary = indexed[Int(member)]
            guard pass.posts.contains(slot) else {
                precondition(primary == 0, "A side list has a deleted post.")
                continue
            }
            let record = pass.posts[slot]
            let old = key(primary, slot, record)
            if primary != 0 {
                count += 1
                let position = index.position(of: old, pass.pool, pass.posts)
                precondition(index.key(at: position, pass.pool) == old, "A side list lost a post.")
            }
            if kind.followsVotes, !isBehind(old) {
                let isMarked = record.flags.contains(.isInSideHead)
                precondition(
                    isMarked || fresh.bit(member) == 1,
                    "A post of the head is not marked."
                )
            }
            guard fresh.bit(member) == 0 else { continue }
            let new = newKey(list, slot, record, by: pass.slots)
            guard new.primary != primary else { continue }
            let isInTail = tail.bit(member) == 1 || kind.followsVotes && behind.contains(member)
            precondition(hasTail && isInTail, "A post that moved is not stale.")
            precondition(isBehind(old) && isBehind(new), "A post of the tail is in the head.")
        }
        precondition(count == index.count, "A side list has other posts.")
    }
}

/// A member whose key changes; a key with the first part 0 is none.
struct SideMove: BitwiseCopyable {
    var member: UInt32
    var old: RankKey
    var new: RankKey
}
