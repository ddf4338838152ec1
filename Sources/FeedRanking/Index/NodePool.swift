#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// A node's place in its pool; 0 is none.
package struct NodeID: BitwiseCopyable, Equatable, Sendable {
    /// Counted from 1 in the order of the pool's cells.
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// No node: the end of a chain, or an empty index.
    package static let none = NodeID(rawValue: 0)
}

/// The nodes of all indexes of a stripe: cells of one size in chunks, linked by number.
///
/// A leaf has up to 63 keys of 24 bytes. An inner node has up to 47 children, each with its first
/// key and the number of keys below it. Each package function checks the node and the place.
@safe
package struct NodePool: ~Copyable {
    package static let leafCapacity = 63
    /// The children of an inner node, whose places take more bytes than a key.
    package static let innerCapacity = 47

    private static let cellByteCount = 1_536
    private static let chunkBits: UInt32 = 6
    private static let chunkByteCount = cellByteCount << Int(chunkBits)
    private static let keysOffset = 24
    private static let childrenOffset = keysOffset + innerCapacity * MemoryLayout<RankKey>.stride
    private static let countsOffset = childrenOffset + innerCapacity * 4

    /// The first bytes of a cell; a free cell links to the next free cell.
    private struct Header: BitwiseCopyable {
        var count: UInt32
        var previous: NodeID
        var next: NodeID
    }

    @safe
    private struct Chunk: BitwiseCopyable {
        var base: UnsafeMutableRawPointer
    }

    private var chunks = Slab<Chunk>()
    private var freeList = NodeID.none
    private var usedCellCount: UInt32 = 1
    package private(set) var nodeCount = 0

    package init() {}

    deinit {
        for index in 0..<chunks.count { unsafe chunks[index].base.deallocate() }
    }

    /// Takes an empty node without neighbours.
    package mutating func makeNode() -> NodeID {
        var node = freeList
        if node == .none {
            node = NodeID(rawValue: usedCellCount)
            usedCellCount += 1
            if Int(node.rawValue >> Self.chunkBits) == chunks.count {
                let base = UnsafeMutableRawPointer.allocate(
                    byteCount: Self.chunkByteCount,
                    alignment: 64
                )
                unsafe chunks.append(Chunk(base: base))
            }
        } else {
            freeList = next(node)
        }
        nodeCount += 1
        unsafe cell(node).storeBytes(
            of: Header(count: 0, previous: .none, next: .none),
            as: Header.self
        )
        return node
    }

    package mutating func freeNode(_ node: NodeID) {
        setCount(node, 0)
        setNext(node, freeList)
        freeList = node
        nodeCount -= 1
    }

    /// The number of keys or children of a node.
    @inline(__always)
    package func count(_ node: NodeID) -> Int { Int(unsafe header(node).pointee.count) }

    @inline(__always)
    package mutating func setCount(_ node: NodeID, _ count: Int) {
        precondition(UInt(bitPattern: count) <= UInt(Self.leafCapacity), "A node is overfull.")
        unsafe header(node).pointee.count = UInt32(truncatingIfNeeded: count)
    }

    /// The leaf before a leaf in the order of the list.
    @inline(__always)
    package func previous(_ node: NodeID) -> NodeID { unsafe header(node).pointee.previous }

    @inline(__always)
    package mutating func setPrevious(_ node: NodeID, _ previous: NodeID) {
        unsafe header(node).pointee.previous = previous
    }

    @inline(__always)
    package func next(_ node: NodeID) -> NodeID { unsafe header(node).pointee.next }

    @inline(__always)
    package mutating func setNext(_ node: NodeID, _ next: NodeID) {
        unsafe header(node).pointee.next = next
    }

    /// A leaf's key, or the first key below an inner node's child.
    @inline(__always)
    package func key(_ node: NodeID, _ index: Int) -> RankKey { unsafe keys(node)[checked(index)] }

    /// Replaces a key; the caller keeps the order.
    @inline(__always)
    package mutating func setKey(_ node: NodeID, _ index: Int, _ key: RankKey) {
        unsafe keys(node)[checked(index)] = key
    }

    package func child(_ node: NodeID, _ index: Int) -> NodeID {
        unsafe children(node)[checkedInner(index)]
    }

    /// How many keys lie below an inner node's child.
    package func childKeyCount(_ node: NodeID, _ index: Int) -> Int {
        Int(unsafe counts(node)[checkedInner(index)])
    }

    /// Fills one place of an inner node with a child that has keys.
    mutating func setChild(_ node: NodeID, _ index: Int, _ child: NodeID, keyCount: Int) {
        unsafe keys(node)[checkedInner(index)] = key(child, 0)
        unsafe children(node)[index] = child
        unsafe counts(node)[index] = UInt32(keyCount)
    }

    /// Copies a run of keys, of leaves, between or within nodes; places may overlap.
    mutating func moveKeys(_ node: NodeID, _ run: Range<Int>, to target: NodeID, at place: Int) {
        let (first, count) = (run.lowerBound, run.count)
        Self.check(first, count, Self.leafCapacity)
        Self.check(place, count, Self.leafCapacity)
        unsafe move(keys(node) + first, count, to: keys(target) + place)
    }

    /// Copies a run of children with their keys and counts; places may overlap.
    mutating func moveChildren(_ node: NodeID, _ run: Range<Int>, to target: NodeID, at place: Int)
    {
        let (first, count) = (run.lowerBound, run.count)
        Self.check(first, count, Self.innerCapacity)
        Self.check(place, count, Self.innerCapacity)
        unsafe move(keys(node) + first, count, to: keys(target) + place)
        unsafe move(children(node) + first, count, to: children(target) + place)
        unsafe move(counts(node) + first, count, to: counts(target) + place)
    }

    /// How many keys of a node come before `key`; O(log n) comparisons.
    @inline(__always)
    func lowerBound(_ node: NodeID, _ key: RankKey, _ posts: borrowing PostTable) -> Int {
        let keys = unsafe keys(node)
        var low = 0
        var count = min(self.count(node), Self.leafCapacity)
        while count > 0 {
            let half = count >> 1
            if posts.precedes(unsafe keys[low + half], key) {
                low += half + 1
                count -= half + 1
            } else {
                count = half
            }
        }
        return low
    }

    private func move<T>(_ source: UnsafePointer<T>, _ count: Int, to: UnsafeMutablePointer<T>) {
        unsafe memmove(to, source, count * MemoryLayout<T>.stride)
    }

    private static func check(_ index: Int, _ count: Int, _ capacity: Int) {
        precondition(index >= 0 && count >= 0 && index + count <= capacity, "Beyond the node.")
    }

    @inline(__always)
    private func checked(_ index: Int) -> Int {
        precondition(UInt(bitPattern: index) < UInt(Self.leafCapacity), "Beyond the node.")
        return index
    }

    @inline(__always)
    private func checkedInner(_ index: Int) -> Int {
        precondition(UInt(bitPattern: index) < UInt(Self.innerCapacity), "Beyond the node.")
        return index
    }

    @inline(__always)
    private func cell(_ node: NodeID) -> UnsafeMutableRawPointer {
        let offset = Int(node.rawValue & (1 << Self.chunkBits - 1)) &* Self.cellByteCount
        return unsafe chunks[Int(node.rawValue >> Self.chunkBits)].base + offset
    }

    @inline(__always)
    private func header(_ node: NodeID) -> UnsafeMutablePointer<Header> {
        unsafe cell(node).assumingMemoryBound(to: Header.self)
    }

    @inline(__always)
    private func keys(_ node: NodeID) -> UnsafeMutablePointer<RankKey> {
        unsafe (cell(node) + Self.keysOffset).assumingMemoryBound(to: RankKey.self)
    }

    private func children(_ node: NodeID) -> UnsafeMutablePointer<NodeID> {
        unsafe (cell(node) + Self.childrenOffset).assumingMemoryBound(to: NodeID.self)
    }

    private func counts(_ node: NodeID) -> UnsafeMutablePointer<UInt32> {
        unsafe (cell(node) + Self.countsOffset).assumingMemoryBound(to: UInt32.self)
    }

    // Loops over the keys of a leaf for a rebuild; each takes the leaf's address once.

    /// Closes the gaps of a leaf's keys whose slots are in a set; returns how many keys stay.
    mutating func compact(_ leaf: NodeID, dropping dropped: borrowing SlotSet) -> Int {
        let keys = unsafe keys(leaf)
        var kept = 0
        for index in 0..<min(count(leaf), Self.leafCapacity) {
            let key = unsafe keys[index]
            unsafe keys[kept] = key
            // No branch, because the dropped keys cannot be predicted.
            kept &+= 1 &- dropped.bit(key.slot)
        }
        setCount(leaf, kept)
        return kept
    }

    /// The first place of a leaf, from `start` on, whose key is behind `key`.
    func place(
        of key: RankKey,
        in leaf: NodeID,
        from start: Int,
        _ posts: borrowing PostTable
    ) -> Int {
        let keys = unsafe keys(leaf)
        let count = min(count(leaf), Self.leafCapacity)
        var place = max(start, 0)
        while place < count, posts.precedes(unsafe keys[place], key) { place &+= 1 }
        return place
    }

    func key(_ position: IndexPosition) -> RankKey { key(position.leaf, position.offset) }
}
