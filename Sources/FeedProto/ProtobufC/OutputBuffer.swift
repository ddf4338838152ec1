/// Bytes to be sent: grows by doubling, and gives back what it rarely needs.
@safe struct OutputBuffer: ~Copyable {
    /// What is kept when the buffer is emptied.
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

    /// Appends bytes that `fill` writes, of which there are exactly `count`.
    @inline(__always)
    mutating func append(count: Int, _ fill: (UnsafeMutableRawPointer) -> Void) {
        if count > capacity - byteCount { grow(toFit: byteCount + count) }
        unsafe fill(base + byteCount)
        byteCount += count
    }

    /// Lends out all bytes.
    func withBytes<Result: ~Copyable, Failure: Error>(
        _ body: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe body(RawSpan(_unsafeStart: base, byteCount: byteCount))
    }

    /// Forgets all bytes.
    mutating func removeAll() {
        byteCount = 0
        guard capacity > Self.retainedByteCount else { return }
        unsafe base.deallocate()
        capacity = Self.retainedByteCount
        unsafe base = .allocate(byteCount: capacity, alignment: 16)
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
