extension RankedIndex {
    /// How full a rebuild packs a node: room for a few inserts before it splits.
    static let packedLeafCount = 58
    static let packedInnerCount = 38

    /// Drops the keys whose slots are in a set, `droppedCount` of them, and merges in sorted keys.
    ///
    /// One linear pass that writes packed leaves, then the levels above: O(n), a few nanoseconds a
    /// key, so cheaper than single moves where more than about a hundredth of the keys change.
    package mutating func rebuild(
        dropping dropped: borrowing SlotSet,
        droppedCount: Int,
        merging keys: borrowing Slab<RankKey>,
        _ pool: inout NodePool,
        _ posts: borrowing PostTable
    ) {
        var source = detachLeaves(&pool)
        let total = count - droppedCount + keys.count
        var writer = LeafWriter(keyCount: total, nodeCapacity: Self.packedLeafCount)
        var nextKey = 0
        while source != .none {
            let kept = pool.compact(source, dropping: dropped)
            var written = 0
            while nextKey < keys.count {
                let place = pool.place(of: keys[nextKey], in: source, from: written, posts)
                writer.append(source, written..<place, &pool)
                written = place
                if place == kept { break }
                writer.append(keys[nextKey], &pool)
                nextKey += 1
            }
            writer.append(source, written..<kept, &pool)
            let next = pool.next(source)
            pool.freeNode(source)
            source = next
        }
        while nextKey < keys.count {
            writer.append(keys[nextKey], &pool)
            nextKey += 1
        }
        precondition(writer.isComplete, "A rebuild was told a wrong count of dropped keys.")
        count = total
        buildLevels(above: writer.firstLeaf, &pool)
    }

    /// Frees the inner nodes; returns the first leaf of the chain.
    private mutating func detachLeaves(_ pool: inout NodePool) -> NodeID {
        guard root != .none else { return .none }
        var first = root
        for _ in 0..<height {
            first = pool.child(first, 0)
        }
        if height > 0 {
            Self.freeInner(root, height, &pool)
        }
        root = .none
        height = 0
        return first
    }

    private static func freeInner(_ node: NodeID, _ height: Int, _ pool: inout NodePool) {
        if height > 1 {
            for index in 0..<pool.count(node) {
                freeInner(pool.child(node, index), height - 1, &pool)
            }
        }
        pool.freeNode(node)
    }

    /// Builds the inner levels bottom up over a chain of nodes.
    private mutating func buildLevels(above first: NodeID, _ pool: inout NodePool) {
        var levelFirst = first
        height = 0
        while levelFirst != .none, pool.next(levelFirst) != .none {
            levelFirst = Self.buildLevel(above: levelFirst, height, &pool)
            height += 1
        }
        root = levelFirst
    }

    /// Spreads a chain of nodes evenly over parents, which are chained in turn.
    private static func buildLevel(
        above first: NodeID,
        _ childHeight: Int,
        _ pool: inout NodePool
    ) -> NodeID {
        var childCount = 0
        var child = first
        while child != .none {
            childCount += 1
            child = pool.next(child)
        }
        var share = EvenShare(of: childCount, nodeCapacity: packedInnerCount)
        child = first
        var firstParent = NodeID.none
        var lastParent = NodeID.none
        while let count = share.next() {
            let parent = pool.makeNode()
            for index in 0..<count {
                fill(parent, index, child, childHeight, &pool)
                let next = pool.next(child)
                if childHeight > 0 {
                    pool.setNext(child, .none)
                }
                child = next
            }
            pool.setCount(parent, count)
            if firstParent == .none {
                firstParent = parent
            } else {
                pool.setNext(lastParent, parent)
            }
            lastParent = parent
        }
        return firstParent
    }
}

/// Splits a count into nearly equal parts of at most a capacity.
struct EvenShare {
    private var remaining: Int
    private var partCount: Int

    /// Spreads a count over as few nodes as hold it.
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
