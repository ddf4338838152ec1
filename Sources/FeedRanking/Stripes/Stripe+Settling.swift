extension Stripe {
    /// Above this share of an index's keys, one in so many, a rebuild is cheaper than moves.
    static let rebuildShare = 100
    /// So many near posts are moved one by one while a job is under way; for more it is finished.
    private static let movesBesideJob = 1_024
    /// How many records ahead of the one being read are asked for.
    private static let prefetchDistance = 16

    /// Settles the near list, and the far one too where `includingFar`; returns how many keys
    /// moved.
    ///
    /// O(dirty * log n), or O(n + dirty) where many of a list are dirty.
    @discardableResult
    mutating func settle(includingFar: Bool) -> Int {
        var finishedCount = 0
        if includingFar || near.count > Self.movesBesideJob {
            finishedCount = finishJob()
        }
        dirty.removeLast()
        let takesFar = includingFar && farCount > 0
        for index in 0..<near.count where posts.contains(near[index]) {
            if takesFar {
                far.insert(near[index])
                farCount += 1
            } else {
                takeDirty(near[index])
            }
        }
        near.removeLast()
        if takesFar {
            takeFar(atMost: .max)
        }
        guard dirty.count > 0 else { return finishedCount }
        groupByFeed()
        let mayLower = farCount == 0 && !job.isActive
        var start = 0
        while start < dirty.count {
            let feed = dirty[start].feed
            var end = start + 1
            while end < dirty.count, dirty[end].feed == feed {
                end += 1
            }
            settle(start..<end, feed, mayLower: mayLower)
            start = end
        }
        settle(0..<dirty.count, nil, mayLower: mayLower)
        let movedCount = dirty.count
        if movedCount > RankingLimits.settlingMemoryCount {
            freeWorkingMemory()
        }
        return finishedCount + movedCount
    }

    /// Builds an index that nobody has asked for yet; returns how many keys that took.
    ///
    /// O(n).
    mutating func build(_ kind: IndexKind, _ feed: FeedID?) -> Int {
        let settledCount = settle(includingFar: true)
        keys.removeLast()
        var next = posts.nextSlot(from: 0)
        while let found = next {
            let slot = UInt32(found)
            if posts.contains(slot), feed == nil || posts[slot].feed == feed {
                keys.append(key(kind, slot, posts[slot], posts[slot].score))
            }
            next = posts.nextSlot(from: found + 1)
        }
        sorter.sort(&keys, posts)
        var index = RankedIndex()
        index.isBuilt = true
        index.rebuild(dropping: dropped, droppedCount: 0, merging: keys, &pool, posts)
        index.moveFloor(to: floorRank, pool, mayLower: true)
        setIndex(index, kind, feed)
        let keyCount = settledCount + keys.count
        freeWorkingMemory()
        return keyCount
    }

    /// Gives back what was kept for the next settle.
    mutating func freeWorkingMemory() {
        dirty = Slab()
        keys = Slab()
        sorter = KeySort()
    }

    /// Takes posts off the far set, in the order of slots: so records are read one after another.
    mutating func takeFar(atMost limit: Int) {
        let takesAll = farCount <= limit
        var ahead = nextFar(from: takesAll ? 0 : job.nextSlot)
        var next = ahead
        for _ in 0..<min(Self.prefetchDistance, farCount) {
            ahead = prefetchFar(ahead)
        }
        for _ in 0..<min(limit, farCount) {
            guard let slot = next else { preconditionFailure("The far posts are counted wrong.") }
            ahead = prefetchFar(ahead)
            next = nextFar(from: Int(slot) + 1)
            far.remove(slot)
            farCount -= 1
            takeDirty(slot)
            job.nextSlot = Int(slot) + 1
        }
    }

    /// The next far post, over the end of the slots to the first.
    private func nextFar(from slot: Int) -> UInt32? {
        far.next(from: slot) ?? far.next(from: 0)
    }

    private func prefetchFar(_ slot: UInt32?) -> UInt32? {
        guard let slot else { return nil }
        posts.directory.prefetch(slot)
        return nextFar(from: Int(slot) + 1)
    }

    /// Marks a post clean, and notes it where its votes have not cancelled each other out.
    ///
    /// The indexes are behind the record until `settle` ends.
    private mutating func takeDirty(_ slot: UInt32) {
        if job.isActive, job.members.bit(slot) == 1 {
            _ = takeOut(slot)
        }
        let post = DirtyPost(slot, posts[slot])
        posts[slot].flags.remove([.isNear, .isFar])
        if !post.wasIndexed {
            posts[slot].flags.insert(.isIndexed)
            unindexedCount -= 1
        } else if post.oldScore == post.newScore {
            return
        }
        posts[slot].settledScore = post.newScore
        dirty.append(post)
    }

    /// Brings the dirty posts of each feed together.
    mutating func groupByFeed() {
        let first = dirty[0].feed
        var isMixed = false
        for index in 0..<dirty.count where dirty[index].feed != first {
            isMixed = true
        }
        guard isMixed else { return }
        keys.removeLast()
        for index in 0..<dirty.count {
            // A second part that ends in a zero byte is no title.
            let feed = UInt64(dirty[index].feed.rawValue)
            keys.append(RankKey(primary: feed, secondary: 0, slot: UInt32(index)))
        }
        sorter.sort(&keys, posts)
        var grouped = Slab<DirtyPost>()
        for index in 0..<keys.count {
            grouped.append(dirty[Int(keys[index].slot)])
        }
        swap(&dirty, &grouped)
    }

    /// Settles a range of the dirty posts into the indexes of one list.
    private mutating func settle(_ range: Range<Int>, _ feed: FeedID?, mayLower: Bool) {
        for kind in IndexKind.allCases {
            var index = indexes(feed)[kind]
            guard index.isBuilt else { continue }
            if !job.isActive, range.count * Self.rebuildShare > index.count {
                rebuild(&index, kind, range)
            } else {
                move(kind, feed, range)
                index = indexes(feed)[kind]
            }
            index.moveFloor(to: floorRank, pool, mayLower: mayLower)
            setIndex(index, kind, feed)
        }
    }

    private mutating func rebuild(
        _ index: inout RankedIndex,
        _ kind: IndexKind,
        _ range: Range<Int>
    ) {
        keys.removeLast()
        var droppedCount = 0
        for place in range {
            let post = dirty[place]
            if post.wasIndexed {
                guard kind.followsScore else { continue }
                dropped.insert(post.slot)
                droppedCount += 1
            }
            keys.append(key(kind, post, post.newScore))
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

    private mutating func move(_ kind: IndexKind, _ feed: FeedID?, _ range: Range<Int>) {
        let isSplit = job.stage(feed, kind) == .split
        var index = indexes(feed)[kind]
        for place in range {
            let post = dirty[place]
            guard kind.followsScore || !post.wasIndexed else { continue }
            let new = key(kind, post, post.newScore)
            let old = key(kind, post, post.oldScore)
            if isSplit {
                let wasThere = !post.wasIndexed || removeKey(old, kind, feed)
                precondition(wasThere, "An index has lost a post.")
                insertKey(new, kind, feed)
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
