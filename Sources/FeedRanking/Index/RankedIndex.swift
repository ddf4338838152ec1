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
    fileprivate static let minimumNodeCount = 16
    /// How full a rebuild packs a node: room for a few inserts before it splits.
    static let packedLeafCount = 58
    fileprivate static let packedInnerCount = 38

    /// The node above all keys; none while the index is empty.
    private var root = NodeID.none
    /// The levels of inner nodes above the leaves.
    private var height = 0
    package internal(set) var count = 0
    /// Whether a reader has asked for this order, so that it is kept.
    package var isBuilt = false
    /// The end of the list's head; the keys behind it are the list's tail.
    var headBoundary = HeadBoundary.lowest

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

    /// Moves the head boundary to the key of a rank, down only where `mayLower`; whether it has moved down.
    ///
    /// `mayLower` must be false while a post waits in the stale tail. O(log n).
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

    private var tree: Subtree { Subtree(node: root, height: height) }

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

    /// The key at the position; nil behind the last; O(1).
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

    /// Steps to the key's position before; rank -1 is before the first; O(1).
    package func retreat(_ position: inout IndexPosition, _ pool: borrowing NodePool) {
        if position.offset == 0, position.rank > 0 {
            position.leaf = pool.previous(position.leaf)
            position.offset = pool.count(position.leaf)
        }
        position.offset -= 1
        position.rank -= 1
    }

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
    private mutating func addRoot(over sibling: NodeID, _ pool: inout NodePool) {
        let top = Subtree(node: pool.makeNode(), height: height + 1)
        top.setChild(0, tree, &pool)
        top.setChild(1, Subtree(node: sibling, height: height), &pool)
        pool.setCount(top.node, 2)
        root = top.node
        height += 1
    }

    /// Takes out a key; returns whether it was there; O(log n).
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

    /// Moves a key to its new place; O(log n), and the keys that it passes where it stays in its leaf.
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

    /// Moves a key between the first and the last key of its leaf, and shifts those that it passes; where it
    /// returns false, nothing has changed.
    ///
    /// A vote moves a post by few places. No inner node changes, because they have the first key of a leaf.
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

    // Moves an index from one tree into another leaf by leaf: from the front of one to the back of the
    // other.

    /// Takes off the first leaf, whose keys leave the index; none where it is empty; O(log n).
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

    /// The last key; nil where there is none; O(log n).
    func lastKey(_ pool: borrowing NodePool) -> RankKey? {
        guard count > 0 else { return nil }
        return pool.key(position(atRank: count - 1, pool))
    }

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

/// A place of an index: before the key at `offset` of the leaf, or behind its last one.
package struct IndexPosition: Equatable {
    /// None where the index is empty.
    var leaf: NodeID
    /// The place within the leaf; one behind its last key at the index's end.
    var offset: Int
    /// The number of keys before it.
    package var rank: Int
}

/// A node of an index, and the levels of inner nodes from it to the leaves.
private struct Subtree: BitwiseCopyable {
    var node: NodeID
    var height: Int

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

    /// Inserts a key; returns the node split off behind this one, if one was.
    func insert(
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

    /// Takes out a key, and evens out the nodes that become small; returns whether it was there.
    func remove(
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

    /// Takes off the first leaf of an inner node, which may be left without children.
    func takeFirstLeaf(_ pool: inout NodePool) -> NodeID {
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
    func appendLeaf(_ leaf: NodeID, _ pool: inout NodePool) -> NodeID {
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

    /// Checks the nodes and their leaves behind the last one; returns the number of keys.
    func check(_ lastLeaf: inout NodeID, _ pool: borrowing NodePool) -> Int {
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
