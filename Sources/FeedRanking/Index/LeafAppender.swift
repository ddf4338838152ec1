/// Packs keys that come in order into leaves, and appends the leaves to an index.
struct LeafAppender {
    private var leaf = NodeID.none

    mutating func append(_ key: RankKey, to index: inout RankedIndex, _ pool: inout NodePool) {
        let place = startedCount(&index, &pool)
        pool.setKey(leaf, place, key)
        pool.setCount(leaf, place + 1)
    }

    /// Adds a run of another leaf's keys.
    mutating func append(
        _ source: NodeID,
        _ range: Range<Int>,
        to index: inout RankedIndex,
        _ pool: inout NodePool
    ) {
        var start = range.lowerBound
        while start < range.upperBound {
            let place = startedCount(&index, &pool)
            let count = min(range.upperBound - start, RankedIndex.packedLeafCount - place)
            pool.moveKeys(source, start..<start + count, to: leaf, at: place)
            pool.setCount(leaf, place + count)
            start += count
        }
    }

    /// Adds the keys of another tree's leaf, which is freed, and the sorted keys that come before the last
    /// of them, from a place on, but for those that the body does not keep.
    @inline(__always)
    mutating func append(
        _ source: NodeID,
        merging keys: borrowing Slab<RankKey>,
        from next: inout Int,
        to index: inout RankedIndex,
        _ pool: inout NodePool,
        _ posts: borrowing PostTable,
        keeping isKept: (RankKey) -> Bool = { _ in true }
    ) {
        let count = pool.count(source)
        var written = 0
        while next < keys.count {
            guard isKept(keys[next]) else {
                next += 1
                continue
            }
            let place = pool.place(of: keys[next], in: source, from: written, posts)
            append(source, written..<place, to: &index, &pool)
            written = place
            if place == count { break }
            append(keys[next], to: &index, &pool)
            next += 1
        }
        append(source, written..<count, to: &index, &pool)
        pool.freeNode(source)
    }

    /// Gives the index the leaf that is not full.
    mutating func finish(_ index: inout RankedIndex, _ pool: inout NodePool) {
        if leaf != .none { index.appendLeaf(leaf, &pool) }
        leaf = .none
    }

    /// The keys of the leaf that has room for one more.
    private mutating func startedCount(_ index: inout RankedIndex, _ pool: inout NodePool) -> Int {
        if leaf != .none, pool.count(leaf) == RankedIndex.packedLeafCount { finish(&index, &pool) }
        if leaf == .none { leaf = pool.makeNode() }
        return pool.count(leaf)
    }
}
