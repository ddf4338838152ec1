/// The bytes of a log since the last commit batch, or bytes of a batch that are about to be moved
/// into its body.
@safe
struct LogBuffer: ~Copyable {
    private static let initialCapacity = 64 * 1_024
    /// The bytes that a log keeps of a grown buffer: several iterations' worth of imports.
    private static let keptByteCount = 1 << 22

    /// The first byte; `count` bytes are written, `capacity` may be.
    private(set) var base: UnsafeMutablePointer<UInt8>
    private(set) var capacity = LogBuffer.initialCapacity
    var count = 0

    init() {
        unsafe base = .allocate(capacity: Self.initialCapacity)
    }

    deinit {
        unsafe base.deallocate()
    }

    /// Makes room for so many bytes more; O(1) over many calls.
    @inline(never)
    mutating func grow(by byteCount: Int) {
        let newCapacity = max(capacity * 2, count + byteCount)
        let grown = UnsafeMutablePointer<UInt8>.allocate(capacity: newCapacity)
        unsafe grown.update(from: base, count: count)
        unsafe base.deallocate()
        unsafe base = grown
        capacity = newCapacity
    }

    /// Moves the bytes to the end of a body, behind their count; an empty buffer adds nothing.
    ///
    /// Memory that an import has made large is given back.
    mutating func move(to body: inout [UInt8]) {
        guard count > 0 else { return }
        precondition(count <= Int(UInt32.max), "The byte count of a log's part has 32 bits.")
        for shift in stride(from: 0, to: 32, by: 8) {
            body.append(UInt8(truncatingIfNeeded: count >> shift))
        }
        unsafe body.append(contentsOf: UnsafeBufferPointer(start: base, count: count))
        count = 0
        if capacity > Self.keptByteCount {
            unsafe base.deallocate()
            capacity = Self.initialCapacity
            unsafe base = .allocate(capacity: capacity)
        }
    }
}
