import CLibUV

/// The bytes of a ``WriteQueue``: those appended, those in flight, and the request that sends them.
///
/// Two buffers change places at each flight, so that bytes are copied once and do not move while
/// libuv reads them. An emptied one gives large memory back.
@safe
struct UVOutbox: ~Copyable {
    @unsafe private struct Buffer {
        var bytes: UnsafeMutableRawPointer?
        var byteCount = 0
        var capacity = 0
    }

    private var appended = unsafe Buffer()
    private var inFlight = unsafe Buffer()
    private var request: UnsafeMutablePointer<uv_write_t>?

    /// An outbox without memory of its own.
    init() {}

    deinit {
        unsafe appended.bytes?.deallocate()
        unsafe inFlight.bytes?.deallocate()
        unsafe request?.deallocate()
    }

    /// Copies bytes to the end of those appended.
    ///
    /// O(n), amortised.
    mutating func append(_ bytes: RawSpan) {
        let count = bytes.byteCount
        guard count > 0 else { return }
        let needed = unsafe appended.byteCount + count
        if unsafe needed > appended.capacity {
            unsafe grow(to: max(needed, appended.capacity * 2))
        }
        unsafe bytes.withUnsafeBytes { source in
            guard let from = source.baseAddress, let to = unsafe appended.bytes else { return }
            unsafe (to + appended.byteCount).copyMemory(from: from, byteCount: count)
        }
        unsafe appended.byteCount = needed
    }

    /// Puts everything appended in flight; nothing may be.
    mutating func startFlight() {
        precondition(unsafe inFlight.byteCount == 0, "A write is in flight already.")
        unsafe swap(&appended, &inFlight)
        if unsafe request == nil { unsafe request = .allocate(capacity: 1) }
    }

    /// Forgets what was in flight.
    mutating func endFlight() {
        unsafe inFlight.byteCount = 0
        guard unsafe inFlight.capacity > TransportLimits.retainedOutputByteCount else { return }
        unsafe inFlight.bytes?.deallocate()
        unsafe inFlight = Buffer()
    }

    /// Calls `body` with the request and the bytes in flight, which stay where they are until
    /// ``endFlight()``.
    func withFlight(
        _ body: (UnsafeMutablePointer<uv_write_t>, uv_buf_t) -> Int32
    ) -> Int32 {
        guard let request = unsafe request, let bytes = unsafe inFlight.bytes else {
            preconditionFailure("Nothing is in flight.")
        }
        let base = unsafe bytes.assumingMemoryBound(to: CChar.self)
        return unsafe body(request, uv_buf_t(base: base, len: inFlight.byteCount))
    }

    private mutating func grow(to capacity: Int) {
        let bytes = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
        if let old = unsafe appended.bytes {
            unsafe bytes.copyMemory(from: old, byteCount: appended.byteCount)
            unsafe old.deallocate()
        }
        unsafe appended.bytes = bytes
        unsafe appended.capacity = capacity
    }
}
