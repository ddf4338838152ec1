extension RankedIndex {
    /// Takes out a key; returns whether it was there.
    ///
    /// O(log n).
    @discardableResult
    package mutating func remove(
        _ key: RankKey,
        _ pool: inout NodePool,
        _ posts: borrowing PostTable
    ) -> Bool {
        guard root != .none, tree.remove(key, &pool, posts) else { return false }
        count -= 1
        while height > 0, pool.count(root) == 1 {
            let child = pool.child(root, 0)
            pool.freeNode(root)
            root = child
            height -= 1
        }
        if count == 0 { removeAll(&pool) }
        return true
    }

    /// Moves a key to its new place.
    ///
    /// O(log n), and the keys that it passes where it stays in its leaf.
    package mutating func move(
        _ old: RankKey,
        to new: RankKey,
        _ pool: inout NodePool,
        _ posts: borrowing PostTable
    ) {
        if moveInLeaf(old, to: new, &pool, posts) { return }
        let wasThere = remove(old, &pool, posts)
        precondition(wasThere, "An index has lost a post.")
        insert(new, &pool, posts)
    }

    /// Moves a key between the first and the last key of its leaf, and shifts those that it passes.
    ///
    /// A vote moves a post by few places. No inner node changes, because they have the first key of a leaf.
    ///
    /// - Returns: Whether it was moved; nothing has changed where it was not.
    private func moveInLeaf(
        _ old: RankKey,
        to new: RankKey,
        _ pool: inout NodePool,
        _ posts: borrowing PostTable
    ) -> Bool {
        guard root != .none else { return false }
        var tree = tree
        while tree.height > 0 { tree = tree.child(tree.childIndex(of: old, pool, posts), pool) }
        let leaf = tree.node
        var place = pool.lowerBound(leaf, old, posts)
        let last = pool.count(leaf) - 1
        guard place > 0, place < last, pool.key(leaf, place) == old,
            posts.precedes(pool.key(leaf, 0), new), posts.precedes(new, pool.key(leaf, last))
        else { return false }
        while posts.precedes(new, pool.key(leaf, place - 1)) {
            pool.setKey(leaf, place, pool.key(leaf, place - 1))
            place -= 1
        }
        while posts.precedes(pool.key(leaf, place + 1), new) {
            pool.setKey(leaf, place, pool.key(leaf, place + 1))
            place += 1
        }
        pool.setKey(leaf, place, new)
        return true
    }
}

extension Subtree {
    /// Takes out a key, and evens out the nodes that become small; returns whether it was there.
    fileprivate func remove(
        _ key: RankKey,
        _ pool: inout NodePool,
        _ posts: borrowing PostTable
    ) -> Bool {
        guard height > 0 else {
            let place = pool.lowerBound(node, key, posts)
            let count = pool.count(node)
            guard place < count, pool.key(node, place) == key else { return false }
            pool.moveKeys(node, place + 1..<count, to: node, at: place)
            pool.setCount(node, count - 1)
            return true
        }
        let index = childIndex(of: key, pool, posts)
        let child = child(index, pool)
        guard child.remove(key, &pool, posts) else { return false }
        let count = pool.count(child.node)
        if count > 0 { adjust(index, by: -1, &pool) }
        if count < RankedIndex.minimumNodeCount { refill(index, &pool) }
        return true
    }

    /// Merges a small child with a neighbour, or evens the two out where one node is too small.
    private func refill(_ index: Int, _ pool: inout NodePool) {
        let childCount = pool.count(node)
        guard childCount > 1 else {
            if pool.count(pool.child(node, 0)) == 0 { drop(0, &pool) }
            return
        }
        let leftIndex = index + 1 < childCount ? index : index - 1
        let left = child(leftIndex, pool)
        let right = child(leftIndex + 1, pool)
        let leftCount = pool.count(left.node)
        let rightCount = pool.count(right.node)
        let total = leftCount + rightCount
        let capacity = left.height == 0 ? NodePool.leafCapacity : NodePool.innerCapacity
        if total <= capacity {
            right.move(0..<rightCount, to: left, at: leftCount, &pool)
            pool.setCount(left.node, total)
            drop(leftIndex + 1, &pool)
            setChild(leftIndex, left, &pool)
            return
        }
        let target = total / 2
        if leftCount < target {
            let moved = target - leftCount
            right.move(0..<moved, to: left, at: leftCount, &pool)
            right.move(moved..<rightCount, to: right, at: 0, &pool)
        } else {
            right.move(0..<rightCount, to: right, at: leftCount - target, &pool)
            left.move(target..<leftCount, to: right, at: 0, &pool)
        }
        pool.setCount(left.node, target)
        pool.setCount(right.node, total - target)
        setChild(leftIndex, left, &pool)
        setChild(leftIndex + 1, right, &pool)
    }

    /// Frees a child and closes its place; a leaf leaves the chain.
    private func drop(_ index: Int, _ pool: inout NodePool) {
        let child = pool.child(node, index)
        if height == 1 {
            let (previous, next) = (pool.previous(child), pool.next(child))
            if previous != .none { pool.setNext(previous, next) }
            if next != .none { pool.setPrevious(next, previous) }
        }
        pool.freeNode(child)
        let count = pool.count(node)
        pool.moveChildren(node, index + 1..<count, to: node, at: index)
        pool.setCount(node, count - 1)
    }

    /// Copies a run of keys or children to a node of the same height.
    private func move(_ run: Range<Int>, to target: Subtree, at place: Int, _ pool: inout NodePool)
    {
        if height == 0 {
            pool.moveKeys(node, run, to: target.node, at: place)
        } else {
            pool.moveChildren(node, run, to: target.node, at: place)
        }
    }
}
