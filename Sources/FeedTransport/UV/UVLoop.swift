import CLibUV

/// A loop of libuv and the one buffer that all its connections read into.
@safe
final class UVLoop {
    /// The bytes that a connection reads into.
    @unsafe struct ReceiveBuffer {
        let bytes: UnsafeMutableRawPointer
        let byteCount: Int
    }

    let pointer: UnsafeMutablePointer<uv_loop_t>
    private var isOpen = true
    private var idleNanosecondsAtClose: UInt64 = 0
    private let receiveBuffer: UnsafeMutablePointer<ReceiveBuffer>

    /// A loop that may sum its idle time; it must be closed before it is released.
    init(receiveBufferByteCount: Int, measuresIdleTime: Bool) throws(TransportError) {
        precondition(
            unsafe uv_handle_size(UV_TCP) == MemoryLayout<uv_tcp_t>.size,
            "The libuv that was loaded is not the one this was built with."
        )
        unsafe pointer = .allocate(capacity: 1)
        unsafe receiveBuffer = .allocate(capacity: 1)
        do {
            unsafe try uvResult(uv_loop_init(pointer), .other("Creating an event loop"))
        } catch {
            unsafe pointer.deallocate()
            unsafe receiveBuffer.deallocate()
            throw error
        }
        unsafe receiveBuffer.initialize(
            to: ReceiveBuffer(
                bytes: .allocate(byteCount: receiveBufferByteCount, alignment: 64),
                byteCount: receiveBufferByteCount
            )
        )
        unsafe pointer.pointee.data = UnsafeMutableRawPointer(receiveBuffer)
        guard measuresIdleTime else { return }
        // A libuv that cannot measure idle time reports that it was never idle.
        _ = unsafe clibuv_measure_idle_time(pointer)
    }

    /// Runs until no handle is left.
    func run() {
        _ = unsafe uv_run(pointer, UV_RUN_DEFAULT)
    }

    /// Time spent asleep in the kernel; 0 where it is not measured.
    var idleNanoseconds: UInt64 {
        isOpen ? unsafe uv_metrics_idle_time(pointer) : idleNanosecondsAtClose
    }

    /// Overwrites what was read last, so that no secret of it stays in memory.
    func overwriteReceiveBuffer() {
        let buffer = unsafe receiveBuffer.pointee
        unsafe buffer.bytes.initializeMemory(as: UInt8.self, repeating: 0, count: buffer.byteCount)
    }

    /// Closes every handle that is not a connection; they are gone after the next run.
    func closeHandles() {
        unsafe uv_walk(
            pointer,
            { handle, _ in
                guard let handle = unsafe handle else { return }
                guard unsafe uv_handle_get_type(handle) != UV_TCP else { return }
                guard let data = unsafe handle.pointee.data else { return }
                unsafe Unmanaged<UVHandle>.fromOpaque(data)._withUnsafeGuaranteedRef { $0.close() }
            },
            nil
        )
    }

    /// Frees the loop, which must have run out of handles.
    func close() {
        idleNanosecondsAtClose = idleNanoseconds
        isOpen = false
        let code = unsafe uv_loop_close(pointer)
        precondition(code == 0, "An event loop was closed while it had handles.")
        unsafe receiveBuffer.pointee.bytes.deallocate()
        unsafe receiveBuffer.deallocate()
        unsafe pointer.deallocate()
    }
}
