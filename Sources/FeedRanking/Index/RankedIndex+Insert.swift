extension RankedIndex {
    /// Puts in a key that is not there; O(log n).
    package mutating func insert(
        _ key: RankKey,
        _ pool: inout NodePool,
        _ posts: borrowing PostTable
    ) {
        if root == .none { root = pool.makeNode() }
        let sibling = tree.insert(key, &pool, posts)
        count += 1
        if sibling != .none { addRoot(over: sibling, &pool) }
    }

    /// Puts a new root over the old one and a node whose keys come behind its; O(1).
    mutating func addRoot(over sibling: NodeID, _ pool: inout NodePool) {
        let top = Subtree(node: pool.makeNode(), height: height + 1)
        top.setChild(0, tree, &pool)
        top.setChild(1, Subtree(node: sibling, height: height), &pool)
        pool.setCount(top.node, 2)
        root = top.node
        height += 1
    }
}

extension Subtree {
    /// Inserts a key; returns the node split off behind this one, if one was.
    fileprivate func insert(
        _ key: RankKey,
        _ pool: inout NodePool,
        _ posts: borrowing PostTable
    ) -> NodeID {
        guard height > 0 else { return insertInLeaf(key, &pool, posts) }
        let index = childIndex(of: key, pool, posts)
        let child = child(index, pool)
        let sibling = Subtree(node: child.insert(key, &pool, posts), height: height - 1)
        guard sibling.node != .none else {
            adjust(index, by: 1, &pool)
            return .none
        }
        setChild(index, child, &pool)
        var target = self
        var place = index + 1
        var split = NodeID.none
        let count = pool.count(node)
        if count == NodePool.innerCapacity {
            split = pool.makeNode()
            let kept = Self.keptCount(of: count, insertingAt: place, atFront: false, atEnd: true)
            pool.moveChildren(node, kept..<count, to: split, at: 0)
            pool.setCount(node, kept)
            pool.setCount(split, count - kept)
            if place > kept || (place == kept && count == kept) {
                target.node = split
                place -= kept
            }
        }
        let targetCount = pool.count(target.node)
        pool.moveChildren(target.node, place..<targetCount, to: target.node, at: place + 1)
        target.setChild(place, sibling, &pool)
        pool.setCount(target.node, targetCount + 1)
        return split
    }

    private func insertInLeaf(
        _ key: RankKey,
        _ pool: inout NodePool,
        _ posts: borrowing PostTable
    ) -> NodeID {
        var target = node
        var place = pool.lowerBound(node, key, posts)
        var split = NodeID.none
        let count = pool.count(node)
        if count == NodePool.leafCapacity {
            split = pool.makeNode()
            let kept = Self.keptCount(
                of: count,
                insertingAt: place,
                atFront: pool.previous(node) == .none,
                atEnd: pool.next(node) == .none
            )
            pool.moveKeys(node, kept..<count, to: split, at: 0)
            pool.setCount(node, kept)
            pool.setCount(split, count - kept)
            linkLeaf(split, &pool)
            if place > kept || (place == kept && count == kept) {
                target = split
                place -= kept
            }
        }
        let targetCount = pool.count(target)
        pool.moveKeys(target, place..<targetCount, to: target, at: place + 1)
        pool.setKey(target, place, key)
        pool.setCount(target, targetCount + 1)
        return split
    }

    /// The number of keys that a split leaves in place: half of them.
    ///
    /// A list that grows at an end stays packed: there a split leaves all keys, or none.
    private static func keptCount(
        of count: Int,
        insertingAt place: Int,
        atFront: Bool,
        atEnd: Bool
    ) -> Int {
        if place == count && atEnd { return count }
        if place == 0 && atFront { return 0 }
        return count / 2
    }

    /// Chains a leaf behind this one.
    private func linkLeaf(_ leaf: NodeID, _ pool: inout NodePool) {
        let next = pool.next(node)
        pool.setNext(leaf, next)
        pool.setPrevious(leaf, node)
        pool.setNext(node, leaf)
        if next != .none { pool.setPrevious(next, leaf) }
    }
}
