import CLibUV

/// The bytes of a ``WriteQueue``: appended bytes, bytes in flight, and the request that sends them.
///
/// Two buffers swap at each write, so that bytes are copied once and do not move while libuv reads
/// them. An emptied buffer keeps no memory: few connections have anything unsent.
@safe
struct UVSendBuffers: ~Copyable {
    @unsafe private struct Buffer {
        static let stepByteCount = 256 * 1_024

        var bytes: UnsafeMutableRawPointer?
        var byteCount = 0
        var capacity = 0

        mutating func append(_ added: RawSpan) {
            let count = added.byteCount
            guard count > 0 else { return }
            let needed = unsafe byteCount + count
            if unsafe needed > capacity {
                // Doubles while small, then grows in steps, because unused capacity counts, too.
                unsafe grow(to: max(needed, capacity + min(capacity, Buffer.stepByteCount)))
            }
            unsafe added.withUnsafeBytes { source in
                guard let from = source.baseAddress, let to = unsafe bytes else { return }
                unsafe (to + byteCount).copyMemory(from: from, byteCount: count)
            }
            unsafe byteCount = needed
        }

        mutating func free() {
            if let bytes = unsafe bytes { unsafe UVMemory.free(bytes, byteCount: capacity) }
            unsafe self = Buffer()
        }

        private mutating func grow(to wanted: Int) {
            let newCapacity = UVMemory.size(holding: wanted)
            let grown = unsafe UVMemory.allocate(byteCount: newCapacity)
            let count = unsafe byteCount
            if let old = unsafe bytes { unsafe grown.copyMemory(from: old, byteCount: count) }
            unsafe free()
            unsafe bytes = grown
            unsafe byteCount = count
            unsafe capacity = newCapacity
        }
    }

    private var appended = unsafe Buffer()
    private var inFlight = unsafe Buffer()
    private var request: UnsafeMutablePointer<uv_write_t>?

    deinit {
        var (first, second) = unsafe (appended, inFlight)
        unsafe first.free()
        unsafe second.free()
        unsafe request?.deallocate()
    }

    var capacityByteCount: Int { unsafe appended.capacity + inFlight.capacity }

    mutating func append(_ bytes: RawSpan) { unsafe appended.append(bytes) }

    /// Puts all appended bytes in flight; none may be in flight before.
    mutating func startWrite() {
        precondition(unsafe inFlight.byteCount == 0, "A write is in flight already.")
        unsafe swap(&appended, &inFlight)
        if unsafe request == nil { unsafe request = .allocate(capacity: 1) }
    }

    mutating func endWrite() { unsafe inFlight.free() }

    /// Calls `body` with the request and the bytes in flight, which stay where they are until
    /// ``endWrite()``.
    func withInFlight(_ body: (UnsafeMutablePointer<uv_write_t>, uv_buf_t) -> Int32) -> Int32 {
        guard let request = unsafe request, let bytes = unsafe inFlight.bytes else {
            preconditionFailure("Nothing is in flight.")
        }
        let base = unsafe bytes.assumingMemoryBound(to: CChar.self)
        return unsafe body(request, uv_buf_t(base: base, len: inFlight.byteCount))
    }
}
