extension SideIndex {
    /// The number of records that are prefetched ahead of the record being read.
    private static let prefetchDistance = 16

    /// Brings the fresh members to their places, and those of the tail too where `includingTail`.
    ///
    /// O(fresh) and O(log n) for each key that moves; O(n) where many keys move.
    ///
    /// - Returns: How many members were looked at and how many keys moved.
    mutating func refresh(
        includingTail: Bool,
        _ list: ListID,
        _ members: borrowing SideMembers,
        _ slots: SlotKeys,
        _ headRank: Int,
        _ pool: inout NodePool,
        _ scratch: inout SideScratch,
        _ posts: borrowing PostTable
    ) -> (seen: Int, moved: Int) {
        if includingTail, tailCount > 0 {
            hasFresh = true
            fresh.formUnion(tail)
            tail.removeAll()
            tailCount = 0
        }
        scratch.moves.removeAll()
        guard hasFresh else { return (0, 0) }
        let seen = findMoves(leavingTail: !includingTail, list, members, slots, &scratch, posts)
        if scratch.moves.count * StripeOrders.rebuildShare > index.count {
            rebuild(&pool, &scratch, posts)
        } else {
            moveEach(&pool, &scratch, posts)
        }
        moveBoundary(to: headRank, pool)
        return (seen, scratch.moves.count)
    }

    /// Looks at the fresh members: puts those that a first page needs not know of into the tail,
    /// and collects the other moves.
    private mutating func findMoves(
        leavingTail: Bool,
        _ list: ListID,
        _ members: borrowing SideMembers,
        _ slots: SlotKeys,
        _ scratch: inout SideScratch,
        _ posts: borrowing PostTable
    ) -> Int {
        var seen = 0
        var ahead = fresh.next(from: 0)
        var next = ahead
        for _ in 0..<Self.prefetchDistance { ahead = prefetch(ahead, members, posts) }
        while let member = next {
            ahead = prefetch(ahead, members, posts)
            next = fresh.next(from: Int(member) + 1)
            seen += 1
            let slot = members.slot(member)
            guard posts.contains(slot) else { continue }
            let record = posts[slot]
            let old = indexed[Int(member)]
            let isThere = list.hasTime(record.createTimeMilliseconds)
            let new = isThere ? slots.key(kind, slot, record) : key(0, slot, record)
            guard new.primary != old else {
                leaveTail(member)
                continue
            }
            let move = SideMove(
                member: member,
                old: key(old, slot, record),
                new: new
            )
            if leavingTail, isBehind(move.old), isBehind(move.new) {
                if !tail.contains(member) {
                    tail.insert(member)
                    tailCount += 1
                }
            } else {
                leaveTail(member)
                scratch.moves.append(move)
            }
        }
        fresh.removeAll()
        hasFresh = false
        return seen
    }

    private func prefetch(
        _ member: UInt32?,
        _ members: borrowing SideMembers,
        _ posts: borrowing PostTable
    ) -> UInt32? {
        guard let member else { return nil }
        posts.directory.prefetch(members.slot(member))
        return fresh.next(from: Int(member) + 1)
    }

    @inline(__always)
    private mutating func leaveTail(_ member: UInt32) {
        guard tail.contains(member) else { return }
        tail.remove(member)
        tailCount -= 1
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
    private mutating func moveBoundary(to rank: Int, _ pool: borrowing NodePool) {
        var moved = HeadBoundary.behindAll
        if rank < index.count {
            let key = pool.key(index.position(atRank: rank, pool))
            moved = HeadBoundary(primary: key.primary, secondary: key.secondary, slot: key.slot)
        }
        let asKey = RankKey(primary: moved.primary, secondary: moved.secondary, slot: moved.slot)
        if tailCount == 0 || boundary.covers(asKey) { boundary = moved }
    }
}
