extension RankedIndex {
    /// How full a rebuild packs a node: room for a few inserts before it splits.
    static let packedLeafCount = 58
    static let packedInnerCount = 38

    /// Drops the keys whose slots are in a set, `droppedCount` of them, and merges in sorted keys.
    ///
    /// One linear pass that writes packed leaves, then the levels above: O(n), a few nanoseconds a
    /// key, so cheaper than single moves where more than about one key in twelve changes.
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

    /// Spreads a chain of nodes evenly over parents, which are chained too.
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
