extension RankedIndex {
    /// Puts in a key that is not there; O(log n).
    package mutating func insert(
        _ key: RankKey,
        _ pool: inout NodePool,
        _ posts: borrowing PostTable
    ) {
        if root == .none {
            root = pool.makeNode()
        }
        let sibling = Self.insert(key, root, height, &pool, posts)
        count += 1
        guard sibling != .none else { return }
        addRoot(over: sibling, &pool)
    }

    /// Puts a new root over the old one and a node whose keys come behind its; O(1).
    mutating func addRoot(over sibling: NodeID, _ pool: inout NodePool) {
        let top = pool.makeNode()
        Self.fill(top, 0, root, height, &pool)
        Self.fill(top, 1, sibling, height, &pool)
        pool.setCount(top, 2)
        root = top
        height += 1
    }

    /// Inserts below a node; returns the node split off behind it, if one was.
    private static func insert(
        _ key: RankKey,
        _ node: NodeID,
        _ height: Int,
        _ pool: inout NodePool,
        _ posts: borrowing PostTable
    ) -> NodeID {
        guard height > 0 else { return insertInLeaf(key, node, &pool, posts) }
        let index = childIndex(node, key, pool, posts)
        let sibling = insert(key, pool.child(node, index), height - 1, &pool, posts)
        guard sibling != .none else {
            adjust(node, index, by: 1, &pool)
            return .none
        }
        fill(node, index, pool.child(node, index), height - 1, &pool)
        var target = node
        var place = index + 1
        var split = NodeID.none
        let count = pool.count(node)
        if count == NodePool.innerCapacity {
            split = pool.makeNode()
            let kept = keptCount(splitting: count, insertingAt: place, atFront: false, atEnd: true)
            pool.moveChildren(node, kept, count - kept, to: split, 0)
            pool.setCount(node, kept)
            pool.setCount(split, count - kept)
            if place > kept || (place == kept && count == kept) {
                target = split
                place -= kept
            }
        }
        let targetCount = pool.count(target)
        pool.moveChildren(target, place, targetCount - place, to: target, place + 1)
        fill(target, place, sibling, height - 1, &pool)
        pool.setCount(target, targetCount + 1)
        return split
    }

    private static func insertInLeaf(
        _ key: RankKey,
        _ node: NodeID,
        _ pool: inout NodePool,
        _ posts: borrowing PostTable
    ) -> NodeID {
        var target = node
        var place = pool.lowerBound(node, key, posts)
        var split = NodeID.none
        let count = pool.count(node)
        if count == NodePool.leafCapacity {
            split = pool.makeNode()
            let kept = keptCount(
                splitting: count,
                insertingAt: place,
                atFront: pool.previous(node) == .none,
                atEnd: pool.next(node) == .none
            )
            pool.moveKeys(node, kept, count - kept, to: split, 0)
            pool.setCount(node, kept)
            pool.setCount(split, count - kept)
            linkLeaf(split, after: node, &pool)
            if place > kept || (place == kept && count == kept) {
                target = split
                place -= kept
            }
        }
        let targetCount = pool.count(target)
        pool.moveKeys(target, place, targetCount - place, to: target, place + 1)
        pool.setKey(target, place, key)
        pool.setCount(target, targetCount + 1)
        return split
    }

    /// The number of keys that a split leaves in place: half of them.
    ///
    /// A list that grows at an end stays packed: there a split leaves all keys, or none.
    private static func keptCount(
        splitting count: Int,
        insertingAt place: Int,
        atFront: Bool,
        atEnd: Bool
    ) -> Int {
        if place == count && atEnd { return count }
        if place == 0 && atFront { return 0 }
        return count / 2
    }

    private static func linkLeaf(_ leaf: NodeID, after node: NodeID, _ pool: inout NodePool) {
        let next = pool.next(node)
        pool.setNext(leaf, next)
        pool.setPrevious(leaf, node)
        pool.setNext(node, leaf)
        if next != .none {
            pool.setPrevious(next, leaf)
        }
    }

    /// Updates the first key and the key count of a child in its parent; O(1).
    static func adjust(_ parent: NodeID, _ index: Int, by change: Int, _ pool: inout NodePool) {
        let child = pool.child(parent, index)
        let keyCount = pool.childKeyCount(parent, index) + change
        pool.setChild(parent, index, child, firstKey: pool.key(child, 0), keyCount: keyCount)
    }

    /// Sets a child's first key and key count in its parent.
    static func fill(
        _ parent: NodeID,
        _ index: Int,
        _ child: NodeID,
        _ childHeight: Int,
        _ pool: inout NodePool
    ) {
        let keyCount = keyCount(child, childHeight, pool)
        pool.setChild(parent, index, child, firstKey: pool.key(child, 0), keyCount: keyCount)
    }

    /// The number of keys below a node; reads this node only.
    static func keyCount(_ node: NodeID, _ height: Int, _ pool: borrowing NodePool) -> Int {
        let count = pool.count(node)
        guard height > 0 else { return count }
        var keyCount = 0
        for index in 0..<count {
            keyCount += pool.childKeyCount(node, index)
        }
        return keyCount
    }
}
