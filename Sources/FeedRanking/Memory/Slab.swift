/// A growable array of plain values with one owner: no reference count, no copy on write.
@safe
package struct Slab<Element: BitwiseCopyable>: ~Copyable {
    private var base: UnsafeMutablePointer<Element>
    private var capacity: Int
    package private(set) var count: Int

    /// An empty slab, which takes no memory.
    package init() {
        unsafe base = .allocate(capacity: 0)
        capacity = 0
        count = 0
    }

    deinit {
        unsafe base.deallocate()
    }

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
        if count == capacity {
            reserve(max(16, capacity * 2))
        }
        unsafe (base + count).initialize(to: element)
        count += 1
    }

    /// Makes the count at least `count`, with copies of `element` in the new places.
    package mutating func extend(to newCount: Int, with element: Element) {
        guard newCount > count else { return }
        if newCount > capacity {
            reserve(max(newCount, capacity * 2))
        }
        unsafe (base + count).initialize(repeating: element, count: newCount - count)
        count = newCount
    }

    /// Removes all elements and keeps the memory; O(1).
    package mutating func removeAll() {
        count = 0
    }

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
