/// A place of an index: before the key at `offset` of the leaf, or behind its last one.
package struct IndexPosition: Equatable {
    /// None where the index is empty.
    var leaf: NodeID
    /// The place within the leaf; one behind its last key at the index's end.
    var offset: Int
    /// How many keys come before.
    package var rank: Int
}

extension NodePool {
    /// The key at a position that has one.
    func key(_ position: IndexPosition) -> RankKey {
        key(position.leaf, position.offset)
    }
}

extension RankedIndex {
    /// The first position whose key does not come before `key`; O(log n).
    package func position(
        of key: RankKey,
        _ pool: borrowing NodePool,
        _ posts: borrowing PostTable
    ) -> IndexPosition {
        guard root != .none else { return IndexPosition(leaf: .none, offset: 0, rank: 0) }
        var node = root
        var rank = 0
        for _ in 0..<height {
            let index = Self.childIndex(node, key, pool, posts)
            for before in 0..<index {
                rank += pool.childKeyCount(node, before)
            }
            node = pool.child(node, index)
        }
        let offset = pool.lowerBound(node, key, posts)
        if offset == pool.count(node), pool.next(node) != .none {
            return IndexPosition(leaf: pool.next(node), offset: 0, rank: rank + offset)
        }
        return IndexPosition(leaf: node, offset: offset, rank: rank + offset)
    }

    /// The position of the key that `rank` keys come before, up to the count; O(log n).
    package func position(atRank rank: Int, _ pool: borrowing NodePool) -> IndexPosition {
        precondition(rank >= 0 && rank <= count, "No key has rank \(rank) of \(count).")
        guard root != .none else { return IndexPosition(leaf: .none, offset: 0, rank: 0) }
        var node = root
        var offset = rank
        for _ in 0..<height {
            var index = 0
            while index + 1 < pool.count(node), offset >= pool.childKeyCount(node, index) {
                offset -= pool.childKeyCount(node, index)
                index += 1
            }
            node = pool.child(node, index)
        }
        return IndexPosition(leaf: node, offset: offset, rank: rank)
    }

    /// The key at the position; nil behind the last.
    ///
    /// O(1).
    package func key(at position: IndexPosition, _ pool: borrowing NodePool) -> RankKey? {
        guard position.rank >= 0, position.rank < count else { return nil }
        return pool.key(position)
    }

    /// Steps to the next key's position; O(1).
    package func advance(_ position: inout IndexPosition, _ pool: borrowing NodePool) {
        position.offset += 1
        position.rank += 1
        if position.offset >= pool.count(position.leaf), pool.next(position.leaf) != .none {
            position.leaf = pool.next(position.leaf)
            position.offset = 0
        }
    }

    /// Steps to the key's position before; rank -1 is before the first.
    ///
    /// O(1).
    package func retreat(_ position: inout IndexPosition, _ pool: borrowing NodePool) {
        if position.offset == 0, position.rank > 0 {
            position.leaf = pool.previous(position.leaf)
            position.offset = pool.count(position.leaf)
        }
        position.offset -= 1
        position.rank -= 1
    }

    /// The child whose keys the key lies among, or goes behind.
    static func childIndex(
        _ node: NodeID,
        _ key: RankKey,
        _ pool: borrowing NodePool,
        _ posts: borrowing PostTable
    ) -> Int {
        let index = pool.lowerBound(node, key, posts)
        if index < pool.count(node), pool.key(node, index) == key { return index }
        return max(0, index - 1)
    }
}
