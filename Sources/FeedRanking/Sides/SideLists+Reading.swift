/// Reads of side lists; the counterparts of those of `StripeOrders`.
extension SideLists {
    /// A list that is ready to be read, and the number of its posts.
    private struct Prepared {
        var group: SideGroup
        var list: SideList
        /// The list with its window as the queue has it.
        var id: ListID
        var postCount: Int
        /// What may still be done under the stripe's lock.
        var step: SideStep
    }

    /// Appends the next entries of a walk, exact as of now; nil when the allowance is used up.
    ///
    /// O(log n + limit) plus the refresh.
    mutating func collect(
        _ walk: ListWalk,
        of postCount: Int,
        _ orders: borrowing StripeOrders,
        into entries: inout [MergeEntry],
        _ allowance: inout RefreshAllowance,
        _ posts: inout PostTable
    ) -> WalkSummary? {
        guard postCount > 0 else { return WalkSummary() }
        let slots = orders.slots
        let headRank = orders.headBoundaryRank * RankingLimits.sideHeadFactor
        guard
            var read = prepare(
                walk.list,
                postCount,
                slots,
                headRank,
                orders.pace,
                &allowance,
                &posts
            )
        else { return nil }
        let firstEntry = entries.count
        let probe = slots.probe(walk, &posts)
        while true {
            let index = read.list.keys.index
            let reach = index.collect(walk, probe, slots, into: &entries, pool, posts)
            if read.list.keys.isExact(upTo: reach.last) {
                let count = read.postCount
                return WalkSummary(
                    postCount: count,
                    skippedCount: walk.isDescending ? count - reach.startRank : reach.startRank,
                    isShown: false
                )
            }
            entries.removeLast(entries.count - firstEntry)
            guard !allowance.isUsedUp,
                refresh(&read, includingTail: true, slots, headRank, &allowance, &posts)
            else { return nil }
        }
    }

    /// The number of posts before a place of a list, and of all its posts; nil when the allowance is
    /// used up.
    ///
    /// O(log n) plus the refresh.
    mutating func countBefore(
        _ position: ListPosition,
        _ list: ListID,
        of postCount: Int,
        _ orders: borrowing StripeOrders,
        _ allowance: inout RefreshAllowance,
        _ posts: inout PostTable
    ) -> WalkSummary? {
        guard postCount > 0 else { return WalkSummary() }
        let slots = orders.slots
        let headRank = orders.headBoundaryRank * RankingLimits.sideHeadFactor
        guard
            var read = prepare(list, postCount, slots, headRank, orders.pace, &allowance, &posts)
        else { return nil }
        let probe = slots.probe(position, isBehind: false, &posts)
        if !read.list.keys.isExact(upTo: probe) {
            guard !allowance.isUsedUp,
                refresh(&read, includingTail: true, slots, headRank, &allowance, &posts)
            else { return nil }
        }
        let rank = read.list.keys.index.position(of: probe, pool, posts).rank
        return WalkSummary(postCount: read.postCount, skippedCount: rank)
    }

    /// Refreshes a whole list; returns the number of its posts, and nil when the allowance is used
    /// up.
    mutating func refreshAll(
        _ list: ListID,
        of postCount: Int,
        _ orders: borrowing StripeOrders,
        _ allowance: inout RefreshAllowance,
        _ posts: inout PostTable
    ) -> Int? {
        guard postCount > 0 else { return 0 }
        let slots = orders.slots
        let headRank = orders.headBoundaryRank * RankingLimits.sideHeadFactor
        guard
            var read = prepare(list, postCount, slots, headRank, orders.pace, &allowance, &posts)
        else { return nil }
        if read.list.keys.hasTail {
            guard !allowance.isUsedUp,
                refresh(&read, includingTail: true, slots, headRank, &allowance, &posts)
            else { return nil }
        }
        return read.postCount
    }

    /// The place of the post at a rank of this stripe's share of a list; all must be refreshed.
    func position(
        atRank rank: Int,
        _ list: ListID,
        _ slots: SlotKeys,
        _ posts: borrowing PostTable
    ) -> ListPosition? {
        guard let index = existingList(list)?.keys.index, rank <= index.count else { return nil }
        guard let key = index.key(at: index.position(atRank: rank, pool), pool) else { return nil }
        return slots.position(of: key, posts)
    }

    /// Brings a list up to date but for its tail, and makes it where it is asked for first; nil when
    /// the allowance is used up.
    private mutating func prepare(
        _ list: ListID,
        _ postCount: Int,
        _ slots: SlotKeys,
        _ headRank: Int,
        _ pace: RefreshPace,
        _ allowance: inout RefreshAllowance,
        _ posts: inout PostTable
    ) -> Prepared? {
        dropIdleLists(at: list.readTime, &posts)
        let group = group(list.feed)
        if let span = list.span { group.dropLists(ofEraBefore: span, &pool) }
        let found = group.list(list)
        let kept = found ?? group.addList(list)
        kept.readTime = max(kept.readTime, list.readTime)
        if found == nil { countLists(&posts) }
        var step = allowance.sideStep(pace)
        guard !allowance.isUsedUp || !hasTouched && group.isWhole && !kept.keys.hasFresh else {
            return nil
        }
        noteVotes(slots, &step, &posts)
        join(group, &step, posts)
        if let span = list.span, !step.isCut { group.expire(kept, to: span, &step, posts) }
        var read = Prepared(group: group, list: kept, id: list, postCount: postCount, step: step)
        read.id.span = kept.queue?.span
        if let queue = kept.queue { read.postCount = queue.posts.count }
        return refresh(&read, includingTail: false, slots, headRank, &allowance, &posts)
            ? read : nil
    }

    /// Refreshes a list; false where the step does not suffice.
    ///
    /// The keys that moved are charged, and each post that was looked at as a quarter of a key.
    private mutating func refresh(
        _ read: inout Prepared,
        includingTail: Bool,
        _ slots: SlotKeys,
        _ headRank: Int,
        _ allowance: inout RefreshAllowance,
        _ posts: inout PostTable
    ) -> Bool {
        let usedBefore = includingTail ? read.step.usedCount : 0
        if includingTail { read.group.fillTails() }
        if !read.step.isCut {
            allowance.charge(
                read.list.refresh(
                    includingTail: includingTail,
                    read.id,
                    read.group.members,
                    slots,
                    headRank,
                    &read.step,
                    &pool,
                    &scratch,
                    &posts
                )
            )
            scratch.freeLargeMemory()
        }
        allowance.charge((read.step.usedCount - usedBefore) / 4)
        if read.step.isCut { allowance.endStep() }
        return !read.step.isCut
    }
}
