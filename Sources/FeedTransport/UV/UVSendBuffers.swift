import CLibUV
import Glibc

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

/// Memory for buffers: large buffers are pages of their own, which return to the system when they
/// are freed.
///
/// Memory from the heap would not return: allocations behind it keep it.
enum UVMemory {
    /// The size from which memory is mapped; below it a map costs more than the copy into it.
    private static let mappedByteCount = 64 * 1_024

    /// How much to allocate for a number of bytes: mapped memory comes in whole pages.
    static func size(holding byteCount: Int) -> Int {
        guard byteCount >= mappedByteCount else { return byteCount }
        return (byteCount + 4_095) & ~4_095
    }

    static func allocate(byteCount: Int) -> UnsafeMutableRawPointer {
        guard byteCount >= mappedByteCount else {
            return .allocate(byteCount: byteCount, alignment: 16)
        }
        let mapped = unsafe mmap(
            nil,
            byteCount,
            PROT_READ | PROT_WRITE,
            MAP_PRIVATE | MAP_ANONYMOUS,
            -1,
            0
        )
        guard let mapped = unsafe mapped, unsafe mapped != MAP_FAILED else {
            fatalError("No memory is left for a buffer of \(byteCount) bytes.")
        }
        return unsafe mapped
    }

    /// Frees memory that ``allocate(byteCount:)`` returned for the same size.
    ///
    /// Nothing of it is left: the system takes mapped memory back, and the heap's is overwritten.
    static func free(_ memory: UnsafeMutableRawPointer, byteCount: Int) {
        guard byteCount >= mappedByteCount else {
            unsafe explicit_bzero(memory, byteCount)
            unsafe memory.deallocate()
            return
        }
        let code = unsafe munmap(memory, byteCount)
        precondition(code == 0, "Memory of \(byteCount) bytes was freed that was not mapped.")
    }
}
