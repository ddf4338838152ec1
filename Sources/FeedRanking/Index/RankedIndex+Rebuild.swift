extension RankedIndex {
    /// How full a rebuild packs a node: room for a few inserts before it splits.
    static let packedLeafCount = 58
    static let packedInnerCount = 38

    /// Drops the keys whose slots are in a set, `droppedCount` of them, and merges in sorted keys.
    ///
    /// One linear pass that appends packed leaves: O(n), a few nanoseconds a key, so cheaper than
    /// single moves where more than about one key in twelve changes.
    package mutating func rebuild(
        dropping dropped: borrowing SlotSet,
        droppedCount: Int,
        merging keys: borrowing Slab<RankKey>,
        _ pool: inout NodePool,
        _ posts: borrowing PostTable
    ) {
        let total = count - droppedCount + keys.count
        var source = detachLeaves(&pool)
        var appender = LeafAppender()
        var nextKey = 0
        while source != .none {
            let next = pool.next(source)
            _ = pool.compact(source, dropping: dropped)
            appender.append(source, merging: keys, from: &nextKey, to: &self, &pool, posts)
            source = next
        }
        while nextKey < keys.count {
            appender.append(keys[nextKey], to: &self, &pool)
            nextKey += 1
        }
        appender.finish(&self, &pool)
        precondition(count == total, "A rebuild was told a wrong count of dropped keys.")
    }

    /// Frees the inner nodes; returns the first leaf of the chain.
    private mutating func detachLeaves(_ pool: inout NodePool) -> NodeID {
        guard root != .none else { return .none }
        var first = tree
        while first.height > 0 { first = first.child(0, pool) }
        tree.free(keepingLeaves: true, &pool)
        forgetKeys()
        return first.node
    }
}

/// Moves an index from one tree into another leaf by leaf: from the front of one to the back of the
/// other.
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
            leaf = tree.takeFirstLeaf(&pool)
        }
        count -= pool.count(leaf)
        let next = pool.next(leaf)
        if next != .none { pool.setPrevious(next, .none) }
        while height > 0, pool.count(root) <= 1 {
            let child = pool.count(root) == 1 ? pool.child(root, 0) : .none
            pool.freeNode(root)
            root = child
            height = child == .none ? 0 : height - 1
        }
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
        let sibling = tree.appendLeaf(leaf, &pool)
        if sibling != .none { addRoot(over: sibling, &pool) }
    }

    /// The last key; nil where there is none.
    ///
    /// O(log n).
    func lastKey(_ pool: borrowing NodePool) -> RankKey? {
        guard count > 0 else { return nil }
        return pool.key(position(atRank: count - 1, pool))
    }
}

extension Subtree {
    /// Takes off the first leaf of an inner node, which may be left without children.
    fileprivate func takeFirstLeaf(_ pool: inout NodePool) -> NodeID {
        let first = child(0, pool)
        var leaf = first.node
        if height > 1 {
            leaf = first.takeFirstLeaf(&pool)
            guard pool.count(first.node) == 0 else {
                setChild(0, first, &pool)
                return leaf
            }
            pool.freeNode(first.node)
        }
        let count = pool.count(node)
        pool.moveChildren(node, 1..<count, to: node, at: 0)
        pool.setCount(node, count - 1)
        return leaf
    }

    /// Adds a leaf behind all others; returns the node that did not fit, if one did not.
    fileprivate func appendLeaf(_ leaf: NodeID, _ pool: inout NodePool) -> NodeID {
        guard height > 0 else {
            pool.setNext(node, leaf)
            pool.setPrevious(leaf, node)
            return leaf
        }
        let count = pool.count(node)
        let last = child(count - 1, pool)
        let sibling = Subtree(node: last.appendLeaf(leaf, &pool), height: height - 1)
        guard sibling.node != .none else {
            adjust(count - 1, by: pool.count(leaf), &pool)
            return .none
        }
        if count < RankedIndex.packedInnerCount {
            setChild(count, sibling, &pool)
            pool.setCount(node, count + 1)
            return .none
        }
        let split = Subtree(node: pool.makeNode(), height: height)
        split.setChild(0, sibling, &pool)
        pool.setCount(split.node, 1)
        return split.node
    }
}
