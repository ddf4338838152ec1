extension Stripe {
    /// Above this share of an index's keys, one in so many, a rebuild is cheaper than moves.
    private static let rebuildShare = 50

    /// Settles the near list, and the far one too where `includingFar`; returns how many keys
    /// moved.
    ///
    /// O(dirty * log n), or O(n + dirty) where many of a list are dirty.
    @discardableResult
    mutating func settle(includingFar: Bool) -> Int {
        pending.removeLast()
        let takesFar = includingFar && farCount > 0
        for index in 0..<near.count where posts.contains(near[index]) {
            if takesFar {
                far.insert(near[index])
            } else {
                takePending(near[index])
            }
        }
        near.removeLast()
        if takesFar {
            takeFar()
        }
        guard pending.count > 0 else { return 0 }
        groupByFeed()
        let mayLower = farCount == 0
        var start = 0
        while start < pending.count {
            let feed = posts[pending[start]].feed
            var end = start + 1
            while end < pending.count, posts[pending[end]].feed == feed {
                end += 1
            }
            settle(start..<end, feed, mayLower: mayLower)
            start = end
        }
        settle(0..<pending.count, nil, mayLower: mayLower)
        for index in 0..<pending.count {
            let slot = pending[index]
            if !posts[slot].flags.contains(.isIndexed) {
                unindexedCount -= 1
                posts[slot].flags.insert(.isIndexed)
            }
            posts[slot].settledScore = posts[slot].score
        }
        return pending.count
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
        // A build needs more room than settling ever will.
        keys = Slab()
        sorter = KeySort()
        return keyCount
    }

    /// Takes all of the far set, in the order of slots: so records are read one after another.
    private mutating func takeFar() {
        var next = far.next(from: 0)
        while let slot = next {
            far.remove(slot)
            takePending(slot)
            next = far.next(from: Int(slot) + 1)
        }
        farCount = 0
    }

    /// Makes a dirty post pending, or clean where its votes have cancelled each other out.
    private mutating func takePending(_ slot: UInt32) {
        let record = posts[slot]
        posts[slot].flags = record.flags.subtracting([.isNear, .isFar])
        if !record.flags.contains(.isIndexed) || record.settledScore != record.score {
            pending.append(slot)
        }
    }

    /// Brings the pending posts of each feed together.
    private mutating func groupByFeed() {
        let first = posts[pending[0]].feed
        var isMixed = false
        for index in 0..<pending.count where posts[pending[index]].feed != first {
            isMixed = true
        }
        guard isMixed else { return }
        keys.removeLast()
        for index in 0..<pending.count {
            let slot = pending[index]
            keys.append(
                RankKey(
                    primary: UInt64(posts[slot].feed.rawValue),
                    secondary: UInt64(slot) << 8,
                    slot: slot
                )
            )
        }
        sorter.sort(&keys, posts)
        for index in 0..<pending.count {
            pending[index] = keys[index].slot
        }
    }

    /// Settles a range of the pending posts into the indexes of one list.
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
            let slot = pending[place]
            let record = posts[slot]
            if record.flags.contains(.isIndexed) {
                guard kind.followsScore else { continue }
                dropped.insert(slot)
                droppedCount += 1
            }
            keys.append(key(kind, slot, record, record.score))
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
            let slot = pending[place]
            let record = posts[slot]
            let new = key(kind, slot, record, record.score)
            guard record.flags.contains(.isIndexed) else {
                index.insert(new, &pool, posts)
                continue
            }
            guard kind.followsScore else { continue }
            index.move(key(kind, slot, record, record.settledScore), to: new, &pool, posts)
        }
    }
}
