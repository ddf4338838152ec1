/// One order of one feed's posts in a stripe: a counted B+tree of packed keys.
///
/// Ascending keys are the order of the list. The value itself is trivial. Its nodes live in the
/// stripe's `NodePool`, so thousands of small feeds are cheap.
///
/// Invariants (`checkInvariants`): keys ascend; all leaves have one depth and are chained in order;
/// each place of an inner node has its child's first key and key count; no node is empty.
///
/// See Bayer and Unterauer, "Prefix B-trees" (1977), for the shape, and redis's `zslUpdateScore`
/// for the change in place.
package struct RankedIndex: BitwiseCopyable {
    /// A node with fewer keys than this is merged with a neighbour or filled from it.
    static let minimumNodeCount = 16

    /// The node above all keys; none while the index is empty.
    var root = NodeID.none
    /// The levels of inner nodes above the leaves.
    var height = 0
    package internal(set) var count = 0
    /// Whether a reader has asked for this order, so that it is kept.
    package var isBuilt = false
    /// The end of the list's head; the keys behind it are the list's tail.
    var headBoundary = HeadBoundary.lowest

    /// An empty index, which counts as not built.
    package init() {}

    /// The boundary of a list's head: a key.
    struct HeadBoundary: BitwiseCopyable, Equatable {
        var primary: UInt64
        var secondary: UInt64
        var slot: UInt32

        /// The boundary behind all keys.
        static let lowest = HeadBoundary(primary: .max, secondary: .max, slot: .max)

        /// Whether a key lies at the boundary or before it, or could by its whole title.
        @inline(__always)
        func covers(_ key: RankKey) -> Bool {
            if key.primary != primary { return key.primary < primary }
            if key.secondary != secondary { return key.secondary < secondary }
            return RankKey.titleDecides(secondary) || key.slot <= slot
        }
    }

    /// Moves the head boundary to the key of a rank; moves it down only where `mayLower`.
    ///
    /// `mayLower` must be false while a post waits in the stale tail. O(log n).
    ///
    /// - Returns: Whether it has moved down.
    @discardableResult
    package mutating func moveHeadBoundary(
        to rank: Int,
        _ pool: borrowing NodePool,
        mayLower: Bool
    ) -> Bool {
        var boundary = HeadBoundary.lowest
        if rank < count {
            let key = pool.key(position(atRank: rank, pool))
            boundary = HeadBoundary(primary: key.primary, secondary: key.secondary, slot: key.slot)
        }
        let (primary, secondary) = (boundary.primary, boundary.secondary)
        let key = RankKey(primary: primary, secondary: secondary, slot: boundary.slot)
        let isLower = !headBoundary.covers(key)
        guard mayLower || !isLower else { return false }
        headBoundary = boundary
        return isLower
    }

    /// Empties the index without freeing its nodes, which a copy of the index has; O(1).
    mutating func forgetKeys() {
        root = .none
        height = 0
        count = 0
    }

    /// Frees all nodes; O(n).
    package mutating func removeAll(_ pool: inout NodePool) {
        if root != .none { tree.free(&pool) }
        forgetKeys()
    }

    /// The root as the top of a subtree.
    var tree: Subtree { Subtree(node: root, height: height) }
}

/// A node of an index, and the levels of inner nodes from it to the leaves.
struct Subtree: BitwiseCopyable {
    var node: NodeID
    var height: Int

    /// A child of an inner node.
    @inline(__always)
    func child(_ index: Int, _ pool: borrowing NodePool) -> Subtree {
        Subtree(node: pool.child(node, index), height: height - 1)
    }

    /// The child that has a key's place.
    @inline(__always)
    func childIndex(
        of key: RankKey,
        _ pool: borrowing NodePool,
        _ posts: borrowing PostTable
    ) -> Int {
        let index = pool.lowerBound(node, key, posts)
        if index < pool.count(node), pool.key(node, index) == key { return index }
        return max(0, index - 1)
    }

    /// The number of keys; reads the node only.
    func keyCount(_ pool: borrowing NodePool) -> Int {
        let count = pool.count(node)
        guard height > 0 else { return count }
        var keyCount = 0
        for index in 0..<count { keyCount += pool.childKeyCount(node, index) }
        return keyCount
    }

    /// Fills a place with a child, its first key and its number of keys.
    func setChild(_ index: Int, _ child: Subtree, _ pool: inout NodePool) {
        pool.setChild(node, index, child.node, keyCount: child.keyCount(pool))
    }

    /// Updates the first key and the key count of a child; O(1).
    func adjust(_ index: Int, by change: Int, _ pool: inout NodePool) {
        let keyCount = pool.childKeyCount(node, index) + change
        pool.setChild(node, index, pool.child(node, index), keyCount: keyCount)
    }

    /// Frees the node and all nodes below it, or only those above the leaves.
    func free(keepingLeaves: Bool = false, _ pool: inout NodePool) {
        if height > (keepingLeaves ? 1 : 0) {
            for index in 0..<pool.count(node) {
                child(index, pool).free(keepingLeaves: keepingLeaves, &pool)
            }
        }
        if height > 0 || !keepingLeaves { pool.freeNode(node) }
    }
}

/// A place of an index: before the key at `offset` of the leaf, or behind its last one.
package struct IndexPosition: Equatable {
    /// None where the index is empty.
    var leaf: NodeID
    /// The place within the leaf; one behind its last key at the index's end.
    var offset: Int
    /// The number of keys before it.
    package var rank: Int
}

extension NodePool {
    /// The key at a position that has one.
    func key(_ position: IndexPosition) -> RankKey { key(position.leaf, position.offset) }
}

extension RankedIndex {
    /// The first position whose key does not come before `key`; O(log n).
    package func position(
        of key: RankKey,
        _ pool: borrowing NodePool,
        _ posts: borrowing PostTable
    ) -> IndexPosition {
        guard root != .none else { return IndexPosition(leaf: .none, offset: 0, rank: 0) }
        var (tree, rank) = (tree, 0)
        while tree.height > 0 {
            let index = tree.childIndex(of: key, pool, posts)
            for before in 0..<index { rank += pool.childKeyCount(tree.node, before) }
            tree = tree.child(index, pool)
        }
        let node = tree.node
        let offset = pool.lowerBound(node, key, posts)
        if offset == pool.count(node), pool.next(node) != .none {
            return IndexPosition(leaf: pool.next(node), offset: 0, rank: rank + offset)
        }
        return IndexPosition(leaf: node, offset: offset, rank: rank + offset)
    }

    /// The position behind the first `rank` keys, up to the count; O(log n).
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
}
