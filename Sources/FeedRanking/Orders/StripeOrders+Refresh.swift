extension StripeOrders {
    /// The share of an index's keys, one in so many, above which a rebuild is cheaper than moves.
    static let rebuildShare = 100
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
        stalePosts.removeAll()
        let takesTail = includingTail && stale.tailCount > 0
        for index in 0..<stale.head.count where posts.contains(stale.head[index]) {
            if takesTail {
                stale.insertIntoTail(stale.head[index])
            } else {
                takeStale(stale.head[index], &posts)
            }
        }
        stale.head.removeAll()
        if takesTail {
            takeTail(atMost: .max, &posts)
        }
        guard stalePosts.count > 0 else { return finishedCount }
        groupByFeed(posts)
        let mayLower = stale.tailCount == 0 && job.isIdle
        var start = 0
        while start < stalePosts.count {
            let feed = stalePosts[start].feed
            var end = start + 1
            while end < stalePosts.count, stalePosts[end].feed == feed {
                end += 1
            }
            refresh(start..<end, feed, mayLower: mayLower, posts)
            start = end
        }
        refresh(0..<stalePosts.count, nil, mayLower: mayLower, posts)
        let movedCount = stalePosts.count
        if movedCount > RankingLimits.refreshMemoryCount {
            freeWorkingMemory()
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
        keys.removeAll()
        var next = posts.nextSlot(from: 0)
        while let found = next {
            let slot = UInt32(found)
            if posts.contains(slot), feed == nil || posts[slot].feed == feed {
                keys.append(slots.key(kind, slot, posts[slot], posts[slot].score))
            }
            next = posts.nextSlot(from: found + 1)
        }
        sorter.sort(&keys, posts)
        var index = RankedIndex()
        index.isBuilt = true
        index.rebuild(dropping: dropped, droppedCount: 0, merging: keys, &pool, posts)
        index.moveHeadBoundary(to: headBoundaryRank, pool, mayLower: true)
        setIndex(index, kind, feed)
        let keyCount = refreshedCount + keys.count
        freeWorkingMemory()
        return keyCount
    }

    /// Frees the memory that was kept for the next refresh.
    mutating func freeWorkingMemory() {
        stalePosts = Slab()
        keys = Slab()
        sorter = KeySort()
    }

    /// Takes posts off the stale tail in the order of slots, so records are read one after another.
    mutating func takeTail(atMost limit: Int, _ posts: inout PostTable) {
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
        posts[slot].indexedScore = post.newScore
        stalePosts.append(post)
    }

    /// Groups the posts taken by feed.
    mutating func groupByFeed(_ posts: borrowing PostTable) {
        let first = stalePosts[0].feed
        var isMixed = false
        for index in 0..<stalePosts.count where stalePosts[index].feed != first {
            isMixed = true
        }
        guard isMixed else { return }
        keys.removeAll()
        for index in 0..<stalePosts.count {
            // A secondary part that ends in a zero byte is no title.
            let feed = UInt64(stalePosts[index].feed.rawValue)
            keys.append(RankKey(primary: feed, secondary: 0, slot: UInt32(index)))
        }
        sorter.sort(&keys, posts)
        var grouped = Slab<StalePost>()
        for index in 0..<keys.count {
            grouped.append(stalePosts[Int(keys[index].slot)])
        }
        swap(&stalePosts, &grouped)
    }

    /// Moves a range of the posts taken to their new keys in the indexes of one list.
    private mutating func refresh(
        _ range: Range<Int>,
        _ feed: FeedID?,
        mayLower: Bool,
        _ posts: borrowing PostTable
    ) {
        for kind in IndexKind.allCases {
            var index = indexes(feed)[kind]
            guard index.isBuilt else { continue }
            if job.isIdle, range.count * Self.rebuildShare > index.count {
                rebuild(&index, kind, range, posts)
            } else {
                move(kind, feed, range, posts)
                index = indexes(feed)[kind]
            }
            index.moveHeadBoundary(to: headBoundaryRank, pool, mayLower: mayLower)
            setIndex(index, kind, feed)
        }
    }

    private mutating func rebuild(
        _ index: inout RankedIndex,
        _ kind: IndexKind,
        _ range: Range<Int>,
        _ posts: borrowing PostTable
    ) {
        keys.removeAll()
        var droppedCount = 0
        for place in range {
            let post = stalePosts[place]
            if post.wasIndexed {
                guard kind.followsScore else { continue }
                dropped.insert(post.slot)
                droppedCount += 1
            }
            keys.append(slots.key(kind, post, post.newScore))
        }
        guard keys.count > 0 else { return }
        sorter.sort(&keys, posts)
        index.rebuild(
            dropping: dropped,
            droppedCount: droppedCount,
            merging: keys,
            &pool,
            posts
        )
        for place in 0..<keys.count {
            dropped.remove(keys[place].slot)
        }
    }

    private mutating func move(
        _ kind: IndexKind,
        _ feed: FeedID?,
        _ range: Range<Int>,
        _ posts: borrowing PostTable
    ) {
        let isSplit = job.progress(feed, kind) == .split
        var index = indexes(feed)[kind]
        for place in range {
            let post = stalePosts[place]
            guard kind.followsScore || !post.wasIndexed else { continue }
            let new = slots.key(kind, post, post.newScore)
            let old = slots.key(kind, post, post.oldScore)
            if isSplit {
                let wasThere = !post.wasIndexed || removeKey(old, kind, feed, posts)
                precondition(wasThere, "An index has lost a post.")
                insertKey(new, kind, feed, posts)
            } else if post.wasIndexed {
                index.move(old, to: new, &pool, posts)
            } else {
                index.insert(new, &pool, posts)
            }
        }
        if !isSplit {
            setIndex(index, kind, feed)
        }
    }
}
