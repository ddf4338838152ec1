extension StandingLists {
    /// The most posts of the stale head that are moved one by one while a job is under way; for
    /// more posts the job is finished.
    private static let movesBesideJob = 1_024
    /// The number of records that are prefetched ahead of the record being read.
    private static let prefetchDistance = 16

    /// Builds a missing index and refreshes the stale head; false when the allowance is used up.
    mutating func prepare(
        _ list: ListID,
        _ allowance: inout RefreshAllowance,
        _ pass: inout ListPass
    ) -> Bool {
        let isBuilt = index(list.kind, list.feed).isBuilt
        let isFresh = stale.head.count == 0 || !list.kind.followsVotes && unindexedCount == 0
        if isBuilt && isFresh { return true }
        guard !allowance.isUsedUp else { return false }
        allowance.charge(
            isBuilt ? refresh(includingTail: false, &pass) : build(list.kind, list.feed, &pass)
        )
        return true
    }

    /// Refreshes the stale head and the stale tail; false when the allowance is used up.
    mutating func refreshTail(_ allowance: inout RefreshAllowance, _ pass: inout ListPass) -> Bool {
        guard !allowance.isUsedUp else { return false }
        allowance.charge(refresh(includingTail: true, &pass))
        return true
    }

    /// Whether no post of the stale tail can belong before `key`; nil asks for the whole index.
    @inline(__always)
    func isExact(_ index: RankedIndex, _ kind: KeyKind, upTo key: RankKey?) -> Bool {
        if index.headBoundary == .lowest { return true }
        let isFresh = stale.tailCount == 0 || (!kind.followsVotes && unindexedCount == 0)
        if isFresh && job.isIdle { return true }
        guard let key else { return false }
        return index.headBoundary.covers(key)
    }

    /// Refreshes the stale head, and where `includingTail` the stale tail too.
    ///
    /// O(stale * log n), or O(n + stale) where many posts of a list are stale.
    ///
    /// - Returns: How many keys moved.
    @discardableResult
    mutating func refresh(includingTail: Bool, _ pass: inout ListPass) -> Int {
        var finishedCount = 0
        if includingTail || stale.head.count > Self.movesBesideJob {
            finishedCount = finishJob(&pass)
        }
        pass.scratch.posts.removeAll()
        let takesTail = includingTail && stale.tailCount > 0
        takeStaleHead(intoTail: takesTail, &pass)
        if takesTail { takeStaleTail(atMost: .max, &pass) }
        let count = pass.scratch.posts.count
        guard count > 0 else { return finishedCount }
        pass.scratch.groupByFeed(pass.posts)
        let mayLower = stale.tailCount == 0 && job.isIdle
        var start = 0
        while start < count {
            let feed = pass.scratch.posts[start].feed
            var end = start + 1
            while end < count, pass.scratch.posts[end].feed == feed { end += 1 }
            moveInLists(of: feed, start..<end, mayLower: mayLower, &pass)
            start = end
        }
        moveInLists(of: nil, 0..<count, mayLower: mayLower, &pass)
        pass.scratch.free(afterPosts: count)
        return finishedCount + count
    }

    /// Builds an index that no reader has asked for yet; returns how many keys that took.
    ///
    /// O(n).
    private mutating func build(_ kind: KeyKind, _ feed: FeedID?, _ pass: inout ListPass) -> Int {
        let refreshedCount = refresh(includingTail: true, &pass)
        pass.scratch.beginRebuild(slotLimit: pass.posts.slotLimit)
        var next = pass.posts.nextLiveSlot(from: 0)
        while let slot = next {
            let record = pass.posts[slot]
            if feed == nil || record.feed == feed {
                pass.scratch.keys.append(pass.slots.key(kind, slot, record))
            }
            next = pass.posts.nextLiveSlot(from: Int(slot) + 1)
        }
        var index = RankedIndex()
        index.isBuilt = true
        pass.rebuild(&index)
        moveHeadBoundary(of: &index, mayLower: true, &pass)
        setIndex(index, kind, feed)
        let keyCount = refreshedCount + pass.scratch.keys.count
        pass.scratch.free()
        return keyCount
    }

    /// Takes all posts off the stale head; puts them into the stale tail where `intoTail`.
    private mutating func takeStaleHead(intoTail: Bool, _ pass: inout ListPass) {
        for place in 0..<stale.head.count where pass.posts.contains(stale.head[place]) {
            if intoTail {
                stale.insertIntoTail(stale.head[place])
            } else {
                takeStale(stale.head[place], &pass)
            }
        }
        stale.head.removeAll()
    }

    /// Takes posts off the stale tail in the order of slots, so records are read one after another.
    mutating func takeStaleTail(atMost limit: Int, _ pass: inout ListPass) {
        let takesAll = stale.tailCount <= limit
        var ahead = stale.nextInTail(from: takesAll ? 0 : stale.nextJobSlot)
        var next = ahead
        for _ in 0..<min(Self.prefetchDistance, stale.tailCount) {
            ahead = prefetchInTail(ahead, pass.posts)
        }
        for _ in 0..<min(limit, stale.tailCount) {
            guard let slot = next else { preconditionFailure("The stale tail is counted wrong.") }
            ahead = prefetchInTail(ahead, pass.posts)
            next = stale.nextInTail(from: Int(slot) + 1)
            stale.removeFromTail(slot)
            takeStale(slot, &pass)
            stale.nextJobSlot = Int(slot) + 1
        }
    }

    private func prefetchInTail(_ slot: UInt32?, _ posts: borrowing PostTable) -> UInt32? {
        guard let slot else { return nil }
        posts.directory.prefetch(slot)
        return stale.nextInTail(from: Int(slot) + 1)
    }

    /// Counts a post as refreshed, and takes it unless its votes have cancelled each other out.
    ///
    /// The indexes have the post's old keys until `refresh` ends.
    private mutating func takeStale(_ slot: UInt32, _ pass: inout ListPass) {
        if !job.isIdle, job.hasMember(slot) { takeOut(slot, &pass) }
        let post = StalePost(slot, pass.posts[slot])
        pass.posts[slot].flags.remove([.isInStaleHead, .isInStaleTail])
        if !post.wasIndexed {
            pass.posts[slot].flags.insert(.isIndexed)
            unindexedCount -= 1
        } else if post.oldScore == post.newScore {
            return
        }
        pass.posts[slot].scoreChange = 0
        pass.scratch.posts.append(post)
    }

    /// Brings a range of the posts taken to their new keys in the lists of a feed, or of all feeds.
    private mutating func moveInLists(
        of feed: FeedID?,
        _ range: Range<Int>,
        mayLower: Bool,
        _ pass: inout ListPass
    ) {
        let hasNew = range.contains { !pass.scratch.posts[$0].wasIndexed }
        for kind in KeyKind.standing where kind.followsVotes || hasNew {
            var index = index(kind, feed)
            guard index.isBuilt else { continue }
            let isSplit = job.progress(feed, kind) == .split
            let rebuilds = job.isIdle && ListPass.rebuilds(index, forMoves: range.count)
            if rebuilds { pass.scratch.beginRebuild(slotLimit: pass.posts.slotLimit) }
            for place in range {
                let post = pass.scratch.posts[place]
                guard kind.followsVotes || !post.wasIndexed else { continue }
                let new = pass.slots.key(kind, post, at: post.newScore)
                if rebuilds {
                    if post.wasIndexed { pass.scratch.drop(post.slot) }
                    pass.scratch.keys.append(new)
                    continue
                }
                let old = post.wasIndexed ? pass.slots.key(kind, post, at: post.oldScore) : nil
                if isSplit {
                    move(old, to: new, in: kind, of: feed, &pass)
                } else {
                    pass.move(old, to: new, in: &index)
                }
            }
            if rebuilds { pass.rebuild(&index) }
            if isSplit { index = self.index(kind, feed) }
            moveHeadBoundary(of: &index, mayLower: mayLower, &pass)
            setIndex(index, kind, feed)
        }
    }
}
