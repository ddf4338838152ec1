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
        guard root != .none, Self.remove(key, root, height, &pool, posts) else { return false }
        count -= 1
        while height > 0, pool.count(root) == 1 {
            let child = pool.child(root, 0)
            pool.freeNode(root)
            root = child
            height -= 1
        }
        if count == 0 {
            removeAll(&pool)
        }
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
        var leaf = root
        for _ in 0..<height {
            leaf = pool.child(leaf, Self.childIndex(leaf, old, pool, posts))
        }
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

    private static func remove(
        _ key: RankKey,
        _ node: NodeID,
        _ height: Int,
        _ pool: inout NodePool,
        _ posts: borrowing PostTable
    ) -> Bool {
        guard height > 0 else {
            let place = pool.lowerBound(node, key, posts)
            let count = pool.count(node)
            guard place < count, pool.key(node, place) == key else { return false }
            pool.moveKeys(node, place + 1, count - place - 1, to: node, place)
            pool.setCount(node, count - 1)
            return true
        }
        let index = childIndex(node, key, pool, posts)
        let child = pool.child(node, index)
        guard remove(key, child, height - 1, &pool, posts) else { return false }
        let count = pool.count(child)
        if count > 0 {
            adjust(node, index, by: -1, &pool)
        }
        if count < minimumNodeCount {
            refill(node, index, height - 1, &pool)
        }
        return true
    }

    /// Merges a small child with a neighbour, or evens the two out where one node is too small.
    private static func refill(
        _ parent: NodeID,
        _ index: Int,
        _ childHeight: Int,
        _ pool: inout NodePool
    ) {
        let childCount = pool.count(parent)
        guard childCount > 1 else {
            if pool.count(pool.child(parent, 0)) == 0 {
                drop(parent, 0, childHeight, &pool)
            }
            return
        }
        let leftIndex = index + 1 < childCount ? index : index - 1
        let left = pool.child(parent, leftIndex)
        let right = pool.child(parent, leftIndex + 1)
        let leftCount = pool.count(left)
        let rightCount = pool.count(right)
        let total = leftCount + rightCount
        let capacity = childHeight == 0 ? NodePool.leafCapacity : NodePool.innerCapacity
        if total <= capacity {
            move(right, 0, rightCount, to: left, leftCount, childHeight, &pool)
            pool.setCount(left, total)
            drop(parent, leftIndex + 1, childHeight, &pool)
            fill(parent, leftIndex, left, childHeight, &pool)
            return
        }
        let target = total / 2
        if leftCount < target {
            let moved = target - leftCount
            move(right, 0, moved, to: left, leftCount, childHeight, &pool)
            move(right, moved, rightCount - moved, to: right, 0, childHeight, &pool)
        } else {
            let moved = leftCount - target
            move(right, 0, rightCount, to: right, moved, childHeight, &pool)
            move(left, target, moved, to: right, 0, childHeight, &pool)
        }
        pool.setCount(left, target)
        pool.setCount(right, total - target)
        fill(parent, leftIndex, left, childHeight, &pool)
        fill(parent, leftIndex + 1, right, childHeight, &pool)
    }

    /// Frees a child and closes its place; a leaf leaves the chain.
    private static func drop(
        _ parent: NodeID,
        _ index: Int,
        _ childHeight: Int,
        _ pool: inout NodePool
    ) {
        let child = pool.child(parent, index)
        if childHeight == 0 {
            let previous = pool.previous(child)
            let next = pool.next(child)
            if previous != .none {
                pool.setNext(previous, next)
            }
            if next != .none {
                pool.setPrevious(next, previous)
            }
        }
        pool.freeNode(child)
        let count = pool.count(parent)
        pool.moveChildren(parent, index + 1, count - index - 1, to: parent, index)
        pool.setCount(parent, count - 1)
    }

    private static func move(
        _ source: NodeID,
        _ sourceIndex: Int,
        _ count: Int,
        to target: NodeID,
        _ targetIndex: Int,
        _ height: Int,
        _ pool: inout NodePool
    ) {
        if height == 0 {
            pool.moveKeys(source, sourceIndex, count, to: target, targetIndex)
        } else {
            pool.moveChildren(source, sourceIndex, count, to: target, targetIndex)
        }
    }
}
