/// Bytes to be sent: the buffer grows by doubling, and returns memory that it rarely needs.
@safe struct OutputBuffer: ~Copyable {
    /// The memory that is kept when the buffer is emptied.
    static var retainedByteCount: Int { 256 << 10 }

    private var base: UnsafeMutableRawPointer
    private var capacity: Int
    private(set) var byteCount = 0

    init() {
        capacity = 4096
        unsafe base = .allocate(byteCount: capacity, alignment: 16)
    }

    deinit {
        unsafe base.deallocate()
    }

    /// Room for `count` bytes behind the last one, valid until the buffer is changed.
    @inline(__always)
    mutating func reserve(_ count: Int) -> UnsafeMutableRawPointer {
        if count > capacity - byteCount { grow(toFit: byteCount + count) }
        return unsafe base + byteCount
    }

    /// Adds the bytes that were written to the room reserved last.
    @inline(__always)
    mutating func commit(_ count: Int) {
        precondition(count <= capacity - byteCount, "Bytes are written to reserved room only.")
        byteCount += count
    }

    /// Adds bytes of zero.
    mutating func appendZeros(_ count: Int) {
        unsafe reserve(count).initializeMemory(as: UInt8.self, repeating: 0, count: count)
        commit(count)
    }

    /// Writes a number over bytes that are there.
    mutating func store(_ number: some FixedWidthInteger & BitwiseCopyable, at offset: Int) {
        let count = MemoryLayout.size(ofValue: number)
        precondition(offset >= 0 && offset <= byteCount - count, "Bytes that are there change.")
        unsafe base.storeBytes(of: number, toByteOffset: offset, as: type(of: number))
    }

    /// Lends out all bytes.
    func withBytes<Result: ~Copyable, Failure: Error>(
        _ body: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe body(RawSpan(_unsafeStart: base, byteCount: byteCount))
    }

    /// Lends out all bytes; not generic, so that a call needs no thunk.
    func lendBytes(to body: (RawSpan) -> Void) {
        unsafe body(RawSpan(_unsafeStart: base, byteCount: byteCount))
    }

    /// Drops all bytes.
    mutating func removeAll() {
        byteCount = 0
        guard capacity > Self.retainedByteCount else { return }
        unsafe base.deallocate()
        capacity = Self.retainedByteCount
        unsafe base = .allocate(byteCount: capacity, alignment: 16)
    }

    /// Drops all bytes and overwrites their memory.
    mutating func overwrite() {
        unsafe base.initializeMemory(as: UInt8.self, repeating: 0, count: capacity)
        removeAll()
    }

    @inline(never)
    private mutating func grow(toFit needed: Int) {
        let newCapacity = max(needed, 2 * capacity)
        let newBase = UnsafeMutableRawPointer.allocate(byteCount: newCapacity, alignment: 16)
        unsafe newBase.copyMemory(from: base, byteCount: byteCount)
        unsafe base.deallocate()
        unsafe base = unsafe newBase
        capacity = newCapacity
    }
}
