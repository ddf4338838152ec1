/// Words with one owner, zeros at first, on huge pages as far as they fill them.
///
/// A random access to many megabytes misses the TLB. The walk through the page tables takes longer
/// than the word itself then, and a prefetch waits for it.
@safe
struct HugeWords: ~Copyable {
    private static let hugePageByteCount = 2 << 20

    private let base: UnsafeMutablePointer<UInt64>
    let count: Int

    /// So many zeros; O(count).
    ///
    /// A kernel may refuse huge pages; the words are on small ones then.
    init(count: Int) {
        self.count = count
        let byteCount = count * MemoryLayout<UInt64>.stride
        let hugeByteCount = byteCount & ~(Self.hugePageByteCount - 1)
        let block = UnsafeMutableRawPointer.allocate(
            byteCount: byteCount,
            alignment: hugeByteCount > 0 ? Self.hugePageByteCount : MemoryLayout<UInt64>.alignment
        )
        if hugeByteCount > 0 { unsafe Pages.useHuge(block, hugeByteCount) }
        unsafe base = block.bindMemory(to: UInt64.self, capacity: count)
        unsafe base.initialize(repeating: 0, count: count)
    }

    deinit { unsafe base.deallocate() }

    /// Traps beyond the count.
    subscript(index: Int) -> UInt64 {
        @inline(__always) get {
            precondition(UInt(bitPattern: index) < UInt(bitPattern: count), "Beyond the words.")
            return unsafe base[index]
        }
        @inline(__always) set {
            precondition(UInt(bitPattern: index) < UInt(bitPattern: count), "Beyond the words.")
            unsafe base[index] = newValue
        }
    }

    /// The address of the first word, for prefetching only.
    var address: UInt { unsafe UInt(bitPattern: base) }
}
