extension StripeOrders {
    /// The share of an index's keys, one in so many, above which a rebuild is cheaper than moves.
    static let rebuildShare = 12
    /// The most posts of the stale head that are moved one by one while a job is under way; for
    /// more posts the job is finished.
    private static let movesBesideJob = 1_024
    /// The number of records that are prefetched ahead of the record being read.
    private static let prefetchDistance = 16

    /// Refreshes the stale head, and where `includingTail` the stale tail too.
    ///
    /// O(stale * log n), or O(n + stale) where many posts of a list are stale.
    ///
    /// - Returns: How many keys moved.
    @discardableResult
    mutating func refresh(includingTail: Bool, _ posts: inout PostTable) -> Int {
        var finishedCount = 0
        if includingTail || stale.head.count > Self.movesBesideJob {
            finishedCount = finishJob(posts)
        }
        scratch.posts.removeAll()
        let takesTail = includingTail && stale.tailCount > 0
        takeStaleHead(intoTail: takesTail, &posts)
        if takesTail {
            takeStaleTail(atMost: .max, &posts)
        }
        guard scratch.posts.count > 0 else { return finishedCount }
        scratch.groupByFeed(posts)
        let mayLower = stale.tailCount == 0 && job.isIdle
        var start = 0
        while start < scratch.posts.count {
            let feed = scratch.posts[start].feed
            var end = start + 1
            while end < scratch.posts.count, scratch.posts[end].feed == feed {
                end += 1
            }
            moveInLists(of: feed, start..<end, mayLower: mayLower, posts)
            start = end
        }
        moveInLists(of: nil, 0..<scratch.posts.count, mayLower: mayLower, posts)
        let movedCount = scratch.posts.count
        if movedCount > RankingLimits.refreshMemoryCount {
            scratch.free()
        }
        return finishedCount + movedCount
    }

    /// Builds an index that no reader has asked for yet; returns how many keys that took.
    ///
    /// O(n).
    mutating func build(
        _ kind: IndexKind,
        _ feed: FeedID?,
        _ posts: inout PostTable
    ) -> Int {
        let refreshedCount = refresh(includingTail: true, &posts)
        scratch.keys.removeAll()
        var next = posts.nextSlot(from: 0)
        while let found = next {
            let slot = UInt32(found)
            if posts.contains(slot), feed == nil || posts[slot].feed == feed {
                scratch.keys.append(slots.key(kind, slot, posts[slot], posts[slot].score))
            }
            next = posts.nextSlot(from: found + 1)
        }
        scratch.sorter.sort(&scratch.keys, posts)
        var index = RankedIndex()
        index.isBuilt = true
        index.rebuild(
            dropping: scratch.dropped,
            droppedCount: 0,
            merging: scratch.keys,
            &pool,
            posts
        )
        moveHeadBoundary(of: &index, mayLower: true)
        setIndex(index, kind, feed)
        let keyCount = refreshedCount + scratch.keys.count
        scratch.free()
        return keyCount
    }

    /// Takes all posts off the stale head; puts them into the stale tail where `intoTail`.
    private mutating func takeStaleHead(intoTail: Bool, _ posts: inout PostTable) {
        for index in 0..<stale.head.count where posts.contains(stale.head[index]) {
            if intoTail {
                stale.insertIntoTail(stale.head[index])
            } else {
                takeStale(stale.head[index], &posts)
            }
        }
        stale.head.removeAll()
    }

    /// Takes posts off the stale tail in the order of slots, so records are read one after another.
    mutating func takeStaleTail(atMost limit: Int, _ posts: inout PostTable) {
        let takesAll = stale.tailCount <= limit
        var ahead = stale.nextInTail(from: takesAll ? 0 : stale.nextJobSlot)
        var next = ahead
        for _ in 0..<min(Self.prefetchDistance, stale.tailCount) {
            ahead = prefetchInTail(ahead, posts)
        }
        for _ in 0..<min(limit, stale.tailCount) {
            guard let slot = next else { preconditionFailure("The stale tail is counted wrong.") }
            ahead = prefetchInTail(ahead, posts)
            next = stale.nextInTail(from: Int(slot) + 1)
            stale.removeFromTail(slot)
            takeStale(slot, &posts)
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
    private mutating func takeStale(_ slot: UInt32, _ posts: inout PostTable) {
        if !job.isIdle, job.hasMember(slot) {
            _ = takeOut(slot, &posts)
        }
        let post = StalePost(slot, posts[slot])
        posts[slot].flags.remove([.isInStaleHead, .isInStaleTail])
        if !post.wasIndexed {
            posts[slot].flags.insert(.isIndexed)
            unindexedCount -= 1
        } else if post.oldScore == post.newScore {
            return
        }
        posts[slot].scoreChange = 0
        scratch.posts.append(post)
    }

    /// Brings a range of the posts taken to their new keys in the lists of a feed, or of all feeds.
    private mutating func moveInLists(
        of feed: FeedID?,
        _ range: Range<Int>,
        mayLower: Bool,
        _ posts: borrowing PostTable
    ) {
        let hasNew = range.contains { !scratch.posts[$0].wasIndexed }
        for kind in IndexKind.allCases where kind.followsScore || hasNew {
            var index = listIndex(kind, feed)
            guard index.isBuilt else { continue }
            if job.progress(feed, kind) == .split {
                moveInSplitList(kind, feed, range, posts)
                index = listIndex(kind, feed)
            } else if job.isIdle, range.count * Self.rebuildShare > index.count {
                rebuildList(&index, kind, range, posts)
            } else {
                moveInList(&index, kind, range, posts)
            }
            moveHeadBoundary(of: &index, mayLower: mayLower)
            setIndex(index, kind, feed)
        }
    }

    /// Merges the new keys of a range of the posts taken into an index, without their old keys.
    private mutating func rebuildList(
        _ index: inout RankedIndex,
        _ kind: IndexKind,
        _ range: Range<Int>,
        _ posts: borrowing PostTable
    ) {
        scratch.keys.removeAll()
        var droppedCount = 0
        for place in range {
            let post = scratch.posts[place]
            if post.wasIndexed {
                guard kind.followsScore else { continue }
                scratch.dropped.insert(post.slot)
                droppedCount += 1
            }
            scratch.keys.append(slots.key(kind, post, post.newScore))
        }
        guard scratch.keys.count > 0 else { return }
        scratch.sorter.sort(&scratch.keys, posts)
        index.rebuild(
            dropping: scratch.dropped,
            droppedCount: droppedCount,
            merging: scratch.keys,
            &pool,
            posts
        )
        for place in 0..<scratch.keys.count {
            scratch.dropped.remove(scratch.keys[place].slot)
        }
    }

    /// Moves a range of the posts taken to their new keys in an index, one by one.
    private mutating func moveInList(
        _ index: inout RankedIndex,
        _ kind: IndexKind,
        _ range: Range<Int>,
        _ posts: borrowing PostTable
    ) {
        for place in range {
            let post = scratch.posts[place]
            guard kind.followsScore || !post.wasIndexed else { continue }
            let new = slots.key(kind, post, post.newScore)
            if post.wasIndexed {
                index.move(slots.key(kind, post, post.oldScore), to: new, &pool, posts)
            } else {
                index.insert(new, &pool, posts)
            }
        }
    }

    /// Moves a range of the posts taken to their new keys in a list that the job has split.
    private mutating func moveInSplitList(
        _ kind: IndexKind,
        _ feed: FeedID?,
        _ range: Range<Int>,
        _ posts: borrowing PostTable
    ) {
        for place in range {
            let post = scratch.posts[place]
            guard kind.followsScore || !post.wasIndexed else { continue }
            let old = slots.key(kind, post, post.oldScore)
            let wasThere = !post.wasIndexed || removeKey(old, kind, feed, posts)
            precondition(wasThere, "An index has lost a post.")
            insertKey(slots.key(kind, post, post.newScore), kind, feed, posts)
        }
    }
}
