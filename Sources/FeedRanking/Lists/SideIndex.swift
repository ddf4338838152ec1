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
    let kind: KeyKind
    var index = RankedIndex()
    /// The first part of the key under which the index has a member; 0 where it has none.
    private var indexed = Slab<UInt64>()
    /// The members that have changed since a reader looked.
    private var fresh = SlotSet()
    var hasFresh = false
    /// The stale members behind the head boundary, which a first page leaves out, and some that are
    /// not stale; `SideGroup.behind` has more of them.
    var tail = SlotSet()
    /// Whether there may be members in the tail.
    var hasTail = false

    init(_ kind: KeyKind) { self.kind = kind }

    mutating func reserve(_ limit: Int) {
        indexed.extend(to: limit, with: 0)
        fresh.reserve(limit)
        tail.reserve(limit)
    }

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
    private func key(_ primary: UInt64, _ slot: UInt32, _ record: PostRecord) -> RankKey {
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

    /// The stale members of which a part of a refresh looks at some.
    // Not private: Swift 6.3 then fails to compile a debug build, where other files hold an index.
    enum Part {
        /// Those that are fresh; the others of the head's boundary go to the tail.
        case fresh
        /// Those of the tail, which the index has from then on.
        case tail
    }

    /// Brings the fresh members to their places, as many as a step allows; returns how many keys moved.
    ///
    /// O(fresh) and O(log n) for each key that moves; O(n) where many keys move.
    mutating func refresh(
        _ list: ListID,
        of members: borrowing SideMembers,
        _ allowance: inout RefreshAllowance,
        _ pass: inout ListPass
    ) -> Int {
        var movedCount = 0
        while hasFresh {
            var limit = allowance.room()
            // The first few set a boundary, so that most of the others need not be moved.
            if index.headBoundary == .lowest {
                limit = min(limit, max(2 * pass.sideHeadRank - index.count, pass.sideHeadRank))
            }
            _ = allowance.take(findMoves(.fresh, atMost: limit, list, of: members, &pass))
            movedCount += makeMoves(&pass)
            if hasFresh, allowance.room() == 0 {
                allowance.cutStep()
                break
            }
        }
        return movedCount
    }

    /// Brings the members of the tail to their places, as many as a step allows; returns how many keys moved.
    mutating func refreshTail(
        _ list: ListID,
        of members: borrowing SideMembers,
        _ allowance: inout RefreshAllowance,
        _ pass: inout ListPass
    ) -> Int {
        guard hasTail else { return 0 }
        let limit = allowance.room(costing: RefreshAllowance.tailPostCost)
        let seen = findMoves(.tail, atMost: limit, list, of: members, &pass)
        _ = allowance.take(seen, costing: RefreshAllowance.tailPostCost)
        let movedCount = makeMoves(&pass)
        if hasTail { allowance.cutStep() }
        return movedCount
    }

    /// Looks at stale members, at most so many: puts those of the fresh that a first page needs not know of
    /// into the tail, and collects the other moves; returns how many it has looked at.
    private mutating func findMoves(
        _ part: Part,
        atMost limit: Int,
        _ list: ListID,
        of members: borrowing SideMembers,
        _ pass: inout ListPass
    ) -> Int {
        pass.scratch.moves.removeAll()
        var seen = 0
        var ahead = nextMember(part, from: 0)
        var next = ahead
        for _ in 0..<RecordDirectory.prefetchDistance {
            ahead = prefetch(ahead, part, of: members, pass.posts)
        }
        while seen < limit, let member = next {
            ahead = prefetch(ahead, part, of: members, pass.posts)
            next = nextMember(part, from: Int(member) + 1)
            seen += 1
            switch part {
            case .fresh: fresh.remove(member)
            case .tail: tail.remove(member)
            }
            let slot = members.slot(member)
            guard pass.posts.contains(slot) else { continue }
            let record = pass.posts[slot]
            let old = key(indexed[Int(member)], slot, record)
            let new = newKey(list, slot, record, by: pass.slots)
            let isBehind = isBehind(new)
            if kind.followsVotes, !isBehind { pass.posts[slot].flags.insert(.isInSideHead) }
            guard new.primary != old.primary else { continue }
            if part == .fresh, isBehind, self.isBehind(old) {
                tail.insert(member)
                hasTail = true
            } else {
                pass.scratch.moves.append(SideMove(member: member, old: old, new: new))
            }
        }
        switch part {
        case .fresh: hasFresh = next != nil
        case .tail: hasTail = next != nil
        }
        return seen
    }

    @inline(__always)
    private func nextMember(_ part: Part, from member: Int) -> UInt32? {
        switch part {
        case .fresh: fresh.next(from: member)
        case .tail: tail.next(from: member)
        }
    }

    @inline(__always)
    private func prefetch(
        _ member: UInt32?,
        _ part: Part,
        of members: borrowing SideMembers,
        _ posts: borrowing PostTable
    ) -> UInt32? {
        guard let member else { return nil }
        posts.directory.prefetch(members.slot(member))
        return nextMember(part, from: Int(member) + 1)
    }

    /// Makes the moves that were found, and moves the head boundary; returns how many there were.
    private mutating func makeMoves(_ pass: inout ListPass) -> Int {
        let count = pass.scratch.moves.count
        let rebuilds = count > 0 && ListPass.rebuilds(index, forMoves: count)
        if rebuilds { pass.scratch.beginRebuild(slotLimit: pass.posts.slotLimit) }
        for place in 0..<count {
            let move = pass.scratch.moves[place]
            indexed[Int(move.member)] = move.new.primary
            guard rebuilds else {
                pass.move(move.old.ifAny, to: move.new.ifAny, in: &index)
                continue
            }
            if move.old.primary != 0 { pass.scratch.drop(move.old.slot) }
            if move.new.primary != 0 { pass.scratch.keys.append(move.new) }
        }
        if rebuilds { pass.rebuild(&index) }
        // Towards the end only while the tail is empty.
        let rank = pass.sideHeadRank
        if index.moveHeadBoundary(to: rank, pass.pool, mayLower: !hasTail), kind.followsVotes {
            markHead(&pass)
        }
        return count
    }

    /// Marks the posts of the head, which has become wider; O(head).
    private func markHead(_ pass: inout ListPass) {
        var position = index.position(atRank: 0, pass.pool)
        while let key = index.key(at: position, pass.pool), index.headBoundary.covers(key) {
            pass.posts[key.slot].flags.insert(.isInSideHead)
            index.advance(&position, pass.pool)
        }
    }
}

/// A member whose key changes; a key with the first part 0 is none.
struct SideMove: BitwiseCopyable {
    var member: UInt32
    var old: RankKey
    var new: RankKey
}
