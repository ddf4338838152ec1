/// Splits a count into nearly equal parts of at most a capacity.
struct EvenShare {
    private var remaining: Int
    private var partCount: Int

    /// Spreads a count over as few nodes as possible.
    init(of count: Int, nodeCapacity: Int) {
        remaining = count
        partCount = (count + nodeCapacity - 1) / nodeCapacity
    }

    /// The size of the next node; nil once all are given.
    mutating func next() -> Int? {
        guard partCount > 0 else { return nil }
        let part = (remaining + partCount - 1) / partCount
        remaining -= part
        partCount -= 1
        return part
    }
}

/// Writes a known number of keys, in order, into a chain of evenly packed leaves.
struct LeafWriter {
    private(set) var firstLeaf = NodeID.none
    private var leaf = NodeID.none
    private var filled = 0
    private var leafCount = 0
    private var share: EvenShare

    /// Begins a level of leaves for so many keys.
    init(keyCount: Int, nodeCapacity: Int) {
        share = EvenShare(of: keyCount, nodeCapacity: nodeCapacity)
    }

    /// Whether as many keys came as were announced.
    var isComplete: Bool {
        var share = share
        return filled == leafCount && share.next() == nil
    }

    /// Puts a key behind all before it.
    mutating func append(_ key: RankKey, _ pool: inout NodePool) {
        if filled == leafCount {
            startLeaf(&pool)
        }
        pool.setKey(leaf, filled, key)
        filled += 1
    }

    /// Appends a run of another leaf's keys.
    mutating func append(_ source: NodeID, _ range: Range<Int>, _ pool: inout NodePool) {
        var start = range.lowerBound
        while start < range.upperBound {
            if filled == leafCount {
                startLeaf(&pool)
            }
            let count = min(range.upperBound - start, leafCount - filled)
            pool.moveKeys(source, start, count, to: leaf, filled)
            filled += count
            start += count
        }
    }

    @inline(never)
    private mutating func startLeaf(_ pool: inout NodePool) {
        guard let count = share.next() else {
            preconditionFailure("A rebuild was told a wrong count of dropped keys.")
        }
        let next = pool.makeNode()
        pool.setCount(next, count)
        if firstLeaf == .none {
            firstLeaf = next
        } else {
            pool.setNext(leaf, next)
            pool.setPrevious(next, leaf)
        }
        leaf = next
        leafCount = count
        filled = 0
    }
}

/// Packs keys that come in order into leaves, and appends the leaves to an index.
struct LeafAppender {
    private var leaf = NodeID.none

    /// Adds a key behind all before it.
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
            pool.moveKeys(source, start, count, to: leaf, place)
            pool.setCount(leaf, place + count)
            start += count
        }
    }

    /// Gives the index the leaf that is not full.
    mutating func finish(_ index: inout RankedIndex, _ pool: inout NodePool) {
        if leaf != .none {
            index.appendLeaf(leaf, &pool)
        }
        leaf = .none
    }

    /// The keys of the leaf that has room for one more.
    private mutating func startedCount(_ index: inout RankedIndex, _ pool: inout NodePool) -> Int {
        if leaf != .none, pool.count(leaf) == RankedIndex.packedLeafCount {
            finish(&index, &pool)
        }
        if leaf == .none {
            leaf = pool.makeNode()
        }
        return pool.count(leaf)
    }
}
