extension RankedIndex {
    /// Traps where an invariant of the type does not hold; O(n).
    package func checkInvariants(_ pool: borrowing NodePool, _ posts: borrowing PostTable) {
        guard root != .none else {
            precondition(count == 0 && height == 0, "An index without nodes counts keys.")
            return
        }
        var lastLeaf = NodeID.none
        let found = tree.check(&lastLeaf, pool)
        precondition(found == count, "The index counts \(count) keys and holds \(found).")
        precondition(pool.next(lastLeaf) == .none, "The last leaf has a next leaf.")

        var position = position(atRank: 0, pool)
        var last: RankKey?
        while let key = key(at: position, pool) {
            if let last { precondition(posts.precedes(last, key), "Keys do not ascend.") }
            precondition(posts.contains(key.slot), "A key has no post.")
            last = key
            advance(&position, pool)
        }
        precondition(position.rank == count, "The chain of leaves is shorter than the index.")
    }
}

extension Subtree {
    /// Checks the nodes and their leaves behind the last one; returns the number of keys.
    fileprivate func check(_ lastLeaf: inout NodeID, _ pool: borrowing NodePool) -> Int {
        let count = pool.count(node)
        precondition(count > 0, "A node is empty.")
        guard height > 0 else {
            precondition(pool.previous(node) == lastLeaf, "The chain of leaves is broken.")
            if lastLeaf != .none {
                precondition(pool.next(lastLeaf) == node, "The chain of leaves is broken.")
            }
            lastLeaf = node
            return count
        }
        var keyCount = 0
        for index in 0..<count {
            let child = child(index, pool)
            let below = child.check(&lastLeaf, pool)
            precondition(below == pool.childKeyCount(node, index), "A child's count is wrong.")
            precondition(pool.key(child.node, 0) == pool.key(node, index), "A first key is wrong.")
            keyCount += below
        }
        return keyCount
    }
}
