/// What moves an index from one tree into another leaf by leaf: off one's front, onto the other's
/// back.
extension RankedIndex {
    /// Takes off the first leaf, whose keys leave the index; none where it is empty.
    ///
    /// O(log n).
    package mutating func takeFirstLeaf(_ pool: inout NodePool) -> NodeID {
        guard root != .none else { return .none }
        var leaf = root
        if height == 0 {
            root = .none
        } else {
            leaf = Self.takeFirstLeaf(root, height, &pool)
        }
        count -= pool.count(leaf)
        let next = pool.next(leaf)
        if next != .none {
            pool.setPrevious(next, .none)
        }
        while height > 0, pool.count(root) <= 1 {
            let child = pool.count(root) == 1 ? pool.child(root, 0) : .none
            pool.freeNode(root)
            root = child
            height = child == .none ? 0 : height - 1
        }
        return leaf
    }

    private static func takeFirstLeaf(
        _ node: NodeID,
        _ height: Int,
        _ pool: inout NodePool
    ) -> NodeID {
        let first = pool.child(node, 0)
        var leaf = first
        if height > 1 {
            leaf = takeFirstLeaf(first, height - 1, &pool)
            guard pool.count(first) == 0 else {
                fill(node, 0, first, height - 1, &pool)
                return leaf
            }
            pool.freeNode(first)
        }
        let count = pool.count(node)
        pool.moveChildren(node, 1, count - 1, to: node, 0)
        pool.setCount(node, count - 1)
        return leaf
    }

    /// Adds a leaf whose keys come behind all others; O(log n).
    package mutating func appendLeaf(_ leaf: NodeID, _ pool: inout NodePool) {
        pool.setNext(leaf, .none)
        pool.setPrevious(leaf, .none)
        count += pool.count(leaf)
        guard root != .none else {
            root = leaf
            return
        }
        let sibling = Self.appendLeaf(leaf, root, height, &pool)
        guard sibling != .none else { return }
        addRoot(over: sibling, &pool)
    }

    /// Adds a leaf below a node; returns the node that did not fit into it, if one did not.
    private static func appendLeaf(
        _ leaf: NodeID,
        _ node: NodeID,
        _ height: Int,
        _ pool: inout NodePool
    ) -> NodeID {
        guard height > 0 else {
            pool.setNext(node, leaf)
            pool.setPrevious(leaf, node)
            return leaf
        }
        let count = pool.count(node)
        let last = pool.child(node, count - 1)
        let sibling = appendLeaf(leaf, last, height - 1, &pool)
        fill(node, count - 1, last, height - 1, &pool)
        guard sibling != .none else { return .none }
        if count < packedInnerCount {
            fill(node, count, sibling, height - 1, &pool)
            pool.setCount(node, count + 1)
            return .none
        }
        let split = pool.makeNode()
        fill(split, 0, sibling, height - 1, &pool)
        pool.setCount(split, 1)
        return split
    }

    /// The last key; nil where there is none.
    ///
    /// O(log n).
    func lastKey(_ pool: borrowing NodePool) -> RankKey? {
        guard count > 0 else { return nil }
        return pool.key(position(atRank: count - 1, pool))
    }
}

/// Packs keys that come in order into leaves, and puts those behind an index.
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
