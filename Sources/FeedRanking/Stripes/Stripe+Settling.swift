extension Stripe {
    /// Above this share of an index's keys, one in so many, a rebuild is cheaper than moves.
    private static let rebuildShare = 100
    /// How many records ahead of the one being read are asked for.
    private static let prefetchDistance = 16

    /// Settles the near list, and the far one too where `includingFar`; returns how many keys
    /// moved.
    ///
    /// O(dirty * log n), or O(n + dirty) where many of a list are dirty.
    @discardableResult
    mutating func settle(includingFar: Bool) -> Int {
        dirty.removeLast()
        let takesFar = includingFar && farCount > 0
        for index in 0..<near.count where posts.contains(near[index]) {
            if takesFar {
                far.insert(near[index])
            } else {
                takeDirty(near[index])
            }
        }
        near.removeLast()
        if takesFar {
            takeFar()
        }
        guard dirty.count > 0 else { return 0 }
        groupByFeed()
        let mayLower = farCount == 0
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
        return movedCount
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

    private mutating func freeWorkingMemory() {
        dirty = Slab()
        keys = Slab()
        sorter = KeySort()
    }

    /// Takes all of the far set, in the order of slots: so records are read one after another.
    private mutating func takeFar() {
        var ahead = far.next(from: 0)
        for _ in 0..<Self.prefetchDistance {
            guard let slot = ahead else { break }
            posts.directory.prefetch(slot)
            ahead = far.next(from: Int(slot) + 1)
        }
        var next = far.next(from: 0)
        while let slot = next {
            if let later = ahead {
                posts.directory.prefetch(later)
                ahead = far.next(from: Int(later) + 1)
            }
            far.remove(slot)
            takeDirty(slot)
            next = far.next(from: Int(slot) + 1)
        }
        farCount = 0
    }

    /// Marks a post clean, and notes it where its votes have not cancelled each other out.
    ///
    /// The indexes are behind the record until `settle` ends.
    private mutating func takeDirty(_ slot: UInt32) {
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
    private mutating func groupByFeed() {
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
            if range.count * Self.rebuildShare > index.count {
                rebuild(&index, kind, range)
            } else {
                move(&index, kind, range)
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
        dropped.reserve(posts.slotLimit)
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

    private mutating func move(_ index: inout RankedIndex, _ kind: IndexKind, _ range: Range<Int>) {
        for place in range {
            let post = dirty[place]
            let new = key(kind, post, post.newScore)
            guard post.wasIndexed else {
                index.insert(new, &pool, posts)
                continue
            }
            guard kind.followsScore else { continue }
            index.move(key(kind, post, post.oldScore), to: new, &pool, posts)
        }
    }
}
