import CLibUV

/// The bytes of a ``WriteQueue``: those held back, those appended, those in flight, and the request
/// that sends them.
///
/// Two buffers change places at each flight, so that bytes are copied once and do not move while
/// libuv reads them. An emptied one gives large memory back.
@safe
struct UVOutbox: ~Copyable {
    @unsafe private struct Buffer {
        var bytes: UnsafeMutableRawPointer?
        var byteCount = 0
        var capacity = 0

        /// Copies bytes to the end.
        mutating func append(_ added: RawSpan) {
            let count = added.byteCount
            guard count > 0 else { return }
            let needed = unsafe byteCount + count
            if unsafe needed > capacity {
                unsafe grow(to: max(needed, capacity * 2))
            }
            unsafe added.withUnsafeBytes { source in
                guard let from = source.baseAddress, let to = unsafe bytes else { return }
                unsafe (to + byteCount).copyMemory(from: from, byteCount: count)
            }
            unsafe byteCount = needed
        }

        /// Forgets the bytes, and gives large memory back.
        mutating func removeAll() {
            unsafe byteCount = 0
            guard unsafe capacity > TransportLimits.retainedOutputByteCount else { return }
            unsafe bytes?.deallocate()
            unsafe self = Buffer()
        }

        private mutating func grow(to newCapacity: Int) {
            let grown = UnsafeMutableRawPointer.allocate(byteCount: newCapacity, alignment: 16)
            if let old = unsafe bytes {
                unsafe grown.copyMemory(from: old, byteCount: byteCount)
                unsafe old.deallocate()
            }
            unsafe bytes = grown
            unsafe capacity = newCapacity
        }
    }

    private var held = unsafe Buffer()
    /// How many of the held bytes were released already.
    private var releasedByteCount = 0
    private var appended = unsafe Buffer()
    private var inFlight = unsafe Buffer()
    private var request: UnsafeMutablePointer<uv_write_t>?

    /// An outbox without memory of its own.
    init() {}

    deinit {
        unsafe held.bytes?.deallocate()
        unsafe appended.bytes?.deallocate()
        unsafe inFlight.bytes?.deallocate()
        unsafe request?.deallocate()
    }

    /// Copies bytes to the end of those held back; O(n), amortised.
    mutating func hold(_ bytes: RawSpan) {
        unsafe held.append(bytes)
    }

    /// Takes the first of the held bytes out: `send` says how many of them it has sent, and the
    /// rest is appended.
    ///
    /// - Returns: How many bytes were appended.
    mutating func release<Failure: Error>(
        _ byteCount: Int,
        _ send: (RawSpan) throws(Failure) -> Int
    ) throws(Failure) -> Int {
        precondition(
            unsafe byteCount > 0 && releasedByteCount + byteCount <= held.byteCount,
            "More is released than was held."
        )
        guard let base = unsafe held.bytes else { return 0 }
        let bytes = unsafe UnsafeRawBufferPointer(start: base + releasedByteCount, count: byteCount)
        let sent = unsafe try send(bytes.bytes)
        unsafe appended.append(bytes.bytes.extracting(droppingFirst: sent))
        releasedByteCount += byteCount
        if unsafe releasedByteCount == held.byteCount {
            releasedByteCount = 0
            unsafe held.removeAll()
        }
        return byteCount - sent
    }

    /// Copies bytes to the end of those appended; O(n), amortised.
    mutating func append(_ bytes: RawSpan) {
        unsafe appended.append(bytes)
    }

    /// Puts everything appended in flight; nothing may be.
    mutating func startFlight() {
        precondition(unsafe inFlight.byteCount == 0, "A write is in flight already.")
        unsafe swap(&appended, &inFlight)
        if unsafe request == nil { unsafe request = .allocate(capacity: 1) }
    }

    /// Forgets what was in flight.
    mutating func endFlight() {
        unsafe inFlight.removeAll()
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
}
