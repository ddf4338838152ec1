/// A growable array of plain values with one owner: no reference count, no copy on write.
@safe
package struct Slab<Element: BitwiseCopyable>: ~Copyable {
    private var base: UnsafeMutablePointer<Element>
    private var capacity: Int
    package private(set) var count: Int

    package init() {
        unsafe base = .allocate(capacity: 0)
        capacity = 0
        count = 0
    }

    deinit { unsafe base.deallocate() }

    /// Traps beyond the count.
    package subscript(index: Int) -> Element {
        @inline(__always) get {
            precondition(UInt(bitPattern: index) < UInt(bitPattern: count), "Beyond the slab.")
            return unsafe base[index]
        }
        @inline(__always) _modify {
            precondition(UInt(bitPattern: index) < UInt(bitPattern: count), "Beyond the slab.")
            yield unsafe &base[index]
        }
    }

    /// Adds a value at the end; O(1) over many calls.
    @inline(__always)
    package mutating func append(_ element: Element) {
        if count == capacity { reserve(max(16, capacity * 2)) }
        unsafe (base + count).initialize(to: element)
        count += 1
    }

    /// Makes the count at least `count`, with copies of `element` in the new places.
    package mutating func extend(to newCount: Int, with element: Element) {
        guard newCount > count else { return }
        if newCount > capacity { reserve(max(newCount, capacity * 2)) }
        unsafe (base + count).initialize(repeating: element, count: newCount - count)
        count = newCount
    }

    /// Removes all elements and keeps the memory; O(1).
    package mutating func removeAll() { count = 0 }

    /// Removes so many elements from the end and keeps the memory; O(1).
    mutating func removeLast(_ removed: Int) {
        precondition(removed >= 0 && removed <= count, "Beyond the slab.")
        count -= removed
    }

    /// The address of the first element, until the slab grows; for prefetching only.
    var address: UInt { unsafe UInt(bitPattern: base) }

    /// The elements as bytes, for the length of the call.
    func withBytes<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
        unsafe body(UnsafeRawBufferPointer(UnsafeBufferPointer(start: base, count: count)))
    }

    private mutating func reserve(_ newCapacity: Int) {
        let newBase = UnsafeMutablePointer<Element>.allocate(capacity: newCapacity)
        unsafe newBase.moveInitialize(from: base, count: count)
        unsafe base.deallocate()
        unsafe base = newBase
        capacity = newCapacity
    }
}

/// A fixed number of values with one owner that stay where they are, such as locks and atomics.
@safe
struct FixedSlab<Element: ~Copyable>: ~Copyable {
    private let base: UnsafeMutablePointer<Element>
    private let count: Int

    init(count: Int, _ make: () -> Element) {
        self.count = count
        unsafe base = .allocate(capacity: count)
        for index in 0..<count { unsafe (base + index).initialize(to: make()) }
    }

    deinit {
        unsafe base.deinitialize(count: count)
        unsafe base.deallocate()
    }

    /// Traps beyond the count.
    subscript(index: Int) -> Element {
        @inline(__always) _read {
            precondition(UInt(bitPattern: index) < UInt(bitPattern: count), "Beyond the slab.")
            yield unsafe base[index]
        }
    }
}

// Only an element that several threads may use gives access to what is in it.
extension FixedSlab: @unchecked Sendable where Element: ~Copyable & Sendable {}

/// A set of slots as one bit each.
package struct SlotSet: ~Copyable {
    private var words = Slab<UInt64>()

    package init() {}

    package mutating func reserve(_ slotCount: Int) {
        words.extend(to: (slotCount + 63) / 64, with: 0)
    }

    /// Whether a slot is in the set; false where there is no room for it.
    package func contains(_ slot: UInt32) -> Bool { Int(slot >> 6) < words.count && bit(slot) == 1 }

    /// 1 for a slot in the set, else 0: for sums that must not branch.
    ///
    /// Traps beyond the room made.
    @inline(__always)
    func bit(_ slot: UInt32) -> Int {
        Int(truncatingIfNeeded: words[Int(slot >> 6)] >> UInt64(slot & 63) & 1)
    }

    @inline(__always)
    package mutating func insert(_ slot: UInt32) { words[Int(slot >> 6)] |= 1 << UInt64(slot & 63) }

    /// The first slot of the set from `slot` on; nil where none follows; O(slots / 64).
    package func next(from slot: Int) -> UInt32? {
        var word = slot >> 6
        guard word < words.count else { return nil }
        var bits = words[word] & (~0 << UInt64(slot & 63))
        while bits == 0 {
            word += 1
            guard word < words.count else { return nil }
            bits = words[word]
        }
        return UInt32(word << 6 + bits.trailingZeroBitCount)
    }

    @inline(__always)
    package mutating func remove(_ slot: UInt32) {
        words[Int(slot >> 6)] &= ~(1 << UInt64(slot & 63))
    }

    /// Takes all slots in that another set has, which has room for as many; O(slots / 64).
    mutating func formUnion(_ other: borrowing SlotSet) {
        for index in 0..<min(words.count, other.words.count) { words[index] |= other.words[index] }
    }

    /// Puts all slots below a limit in, for which there is room; O(slots / 64).
    mutating func insertAll(below limit: Int) {
        for index in 0..<limit >> 6 { words[index] = ~0 }
        if limit & 63 > 0 { words[limit >> 6] |= 1 << UInt64(limit & 63) - 1 }
    }

    /// Takes all slots out; O(slots / 64).
    mutating func removeAll() {
        for index in 0..<words.count { words[index] = 0 }
    }
}
