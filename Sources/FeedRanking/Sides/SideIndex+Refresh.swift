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
        _ members: borrowing SideMembers,
        _ slots: SlotKeys,
        _ headRank: Int,
        _ step: inout SideStep,
        _ pool: inout NodePool,
        _ scratch: inout SideScratch,
        _ posts: inout PostTable
    ) -> Int {
        var movedCount = 0
        while hasFresh {
            var limit = step.room()
            // The first few set a boundary, so that most of the others need not be moved.
            if boundary.isBehindAll {
                limit = min(limit, max(2 * headRank - index.count, headRank))
            }
            let seen = findMoves(.fresh, limit, list, members, slots, &scratch, &posts)
            _ = step.take(seen)
            move(headRank, &pool, &scratch, &posts)
            movedCount += scratch.moves.count
            if hasFresh, step.room() == 0 {
                step.cut()
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
        _ members: borrowing SideMembers,
        _ slots: SlotKeys,
        _ headRank: Int,
        _ step: inout SideStep,
        _ pool: inout NodePool,
        _ scratch: inout SideScratch,
        _ posts: inout PostTable
    ) -> Int {
        guard hasTail else { return 0 }
        let limit = step.room(costing: SideStep.tailPostCost)
        let seen = findMoves(.tail, limit, list, members, slots, &scratch, &posts)
        _ = step.take(seen, costing: SideStep.tailPostCost)
        move(headRank, &pool, &scratch, &posts)
        if hasTail { step.cut() }
        return scratch.moves.count
    }

    /// Looks at stale members, at most so many: puts those of the fresh that a first page needs not
    /// know of into the tail, and collects the other moves.
    ///
    /// - Returns: How many members it has looked at.
    private mutating func findMoves(
        _ part: Part,
        _ limit: Int,
        _ list: ListID,
        _ members: borrowing SideMembers,
        _ slots: SlotKeys,
        _ scratch: inout SideScratch,
        _ posts: inout PostTable
    ) -> Int {
        scratch.moves.removeAll()
        var seen = 0
        var ahead = nextMember(part, from: 0)
        var next = ahead
        for _ in 0..<Self.prefetchDistance { ahead = prefetch(ahead, part, members, posts) }
        while seen < limit, let member = next {
            ahead = prefetch(ahead, part, members, posts)
            next = nextMember(part, from: Int(member) + 1)
            seen += 1
            switch part {
            case .fresh: fresh.remove(member)
            case .tail: tail.remove(member)
            }
            let slot = members.slot(member)
            guard posts.contains(slot) else { continue }
            let record = posts[slot]
            let old = key(indexed[Int(member)], slot, record)
            let isThere = list.hasTime(record.createTimeMilliseconds)
            let new = isThere ? slots.key(kind, slot, record) : key(0, slot, record)
            let isBehind = isBehind(new)
            if kind.followsVotes, !isBehind { posts[slot].flags.insert(.isInSideHead) }
            guard new.primary != old.primary else { continue }
            if part == .fresh, isBehind, self.isBehind(old) {
                tail.insert(member)
                hasTail = true
            } else {
                scratch.moves.append(SideMove(member: member, old: old, new: new))
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
        _ members: borrowing SideMembers,
        _ posts: borrowing PostTable
    ) -> UInt32? {
        guard let member else { return nil }
        posts.directory.prefetch(members.slot(member))
        return nextMember(part, from: Int(member) + 1)
    }

    /// Makes the moves that were found.
    private mutating func move(
        _ headRank: Int,
        _ pool: inout NodePool,
        _ scratch: inout SideScratch,
        _ posts: inout PostTable
    ) {
        if scratch.moves.count * StripeOrders.rebuildShare > index.count {
            rebuild(&pool, &scratch, posts)
        } else {
            moveEach(&pool, &scratch, posts)
        }
        moveBoundary(to: headRank, pool, &posts)
    }

    private mutating func moveEach(
        _ pool: inout NodePool,
        _ scratch: inout SideScratch,
        _ posts: borrowing PostTable
    ) {
        for place in 0..<scratch.moves.count {
            let move = scratch.moves[place]
            indexed[Int(move.member)] = move.new.primary
            if move.old.primary == 0 {
                index.insert(move.new, &pool, posts)
            } else if move.new.primary == 0 {
                let wasThere = index.remove(move.old, &pool, posts)
                precondition(wasThere, "A side list has lost a post.")
            } else {
                index.move(move.old, to: move.new, &pool, posts)
            }
        }
    }

    /// Merges the new keys into the index, without the old ones; O(n).
    private mutating func rebuild(
        _ pool: inout NodePool,
        _ scratch: inout SideScratch,
        _ posts: borrowing PostTable
    ) {
        guard scratch.moves.count > 0 else { return }
        scratch.keys.removeAll()
        scratch.dropped.reserve(posts.slotLimit)
        var droppedCount = 0
        for place in 0..<scratch.moves.count {
            let move = scratch.moves[place]
            indexed[Int(move.member)] = move.new.primary
            if move.old.primary != 0 {
                scratch.dropped.insert(move.old.slot)
                droppedCount += 1
            }
            if move.new.primary != 0 { scratch.keys.append(move.new) }
        }
        scratch.sorter.sort(&scratch.keys, posts)
        index.rebuild(
            dropping: scratch.dropped,
            droppedCount: droppedCount,
            merging: scratch.keys,
            &pool,
            posts
        )
        for place in 0..<scratch.moves.count {
            scratch.dropped.remove(scratch.moves[place].old.slot)
        }
    }

    /// Moves the head boundary to the key of a rank; towards the end only while the tail is empty.
    private mutating func moveBoundary(
        to rank: Int,
        _ pool: borrowing NodePool,
        _ posts: inout PostTable
    ) {
        var moved = HeadBoundary.behindAll
        if rank < index.count {
            let key = pool.key(index.position(atRank: rank, pool))
            moved = HeadBoundary(primary: key.primary, secondary: key.secondary, slot: key.slot)
        }
        let asKey = RankKey(primary: moved.primary, secondary: moved.secondary, slot: moved.slot)
        let isWider = !boundary.covers(asKey)
        guard !hasTail || !isWider else { return }
        boundary = moved
        if isWider, kind.followsVotes { markHead(pool, &posts) }
    }

    /// Marks the posts of the head, which has become wider; O(head).
    private func markHead(_ pool: borrowing NodePool, _ posts: inout PostTable) {
        var position = index.position(atRank: 0, pool)
        while let key = index.key(at: position, pool), boundary.covers(key) {
            posts[key.slot].flags.insert(.isInSideHead)
            index.advance(&position, pool)
        }
    }
}
