extension SideIndex {
    /// The number of records that are prefetched ahead of the record being read.
    private static let prefetchDistance = 16

    /// The stale members of which a part of a refresh looks at some.
    // Not private: Swift 6.3 then fails to compile a debug build, where other files hold an index.
    enum Part {
        /// Those that are fresh; the others of the head's boundary go to the tail.
        case fresh
        /// Those of the tail, which the index has from then on.
        case tail
    }

    /// Brings the fresh members to their places, as many as a step allows.
    ///
    /// O(fresh) and O(log n) for each key that moves; O(n) where many keys move.
    ///
    /// - Returns: How many keys moved.
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

    /// Brings the members of the tail to their places, as many as a step allows.
    ///
    /// - Returns: How many keys moved.
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

    /// Looks at stale members, at most so many: puts those of the fresh that a first page needs not
    /// know of into the tail, and collects the other moves.
    ///
    /// - Returns: How many members it has looked at.
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
        for _ in 0..<Self.prefetchDistance {
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
