import CLibUV
import Glibc

/// A loop of libuv and the one buffer that all its connections read into.
@safe
final class UVLoop {
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

    func run() { _ = unsafe uv_run(pointer, UV_RUN_DEFAULT) }

    /// Time spent asleep in the kernel; 0 if it is not measured.
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

/// Settings of the whole process, made before it uses sockets.
package enum ProcessSetup {
    /// Opens `/dev/null` for each standard stream that was closed when the process started.
    ///
    /// A file or socket that is opened later would get its number, and lines of a log would be written
    /// to it. Call it before the process opens anything.
    package static func openStandardStreams() { clibuv_open_standard_streams() }

    /// Lets a write to a closed connection fail instead of ending the process.
    package static func ignoreBrokenPipes() { clibuv_ignore_broken_pipes() }

    /// Lets a signal wait until a loop watches it, or ``unblock(_:)`` is called.
    ///
    /// Call it before the process has other threads: they block what the thread blocks that starts them.
    package static func block(_ signal: Int32) { clibuv_block_signal(signal) }

    /// Lets the calling thread take a signal, also one that has waited.
    package static func unblock(_ signal: Int32) { clibuv_unblock_signal(signal) }

    /// Returns large allocations, of 128 KiB and more, to the system when they are freed.
    ///
    /// By default the allocator takes the first one that is freed as a sign to keep such memory:
    /// the answers of a peak would be held a second time, as free memory of the heap.
    package static func mapLargeAllocations() { clibuv_map_large_allocations(128 << 10, 4 << 20) }

    /// Returns the allocator's free memory to the system.
    ///
    /// It takes milliseconds for each hundred megabytes, so call it on any thread but a loop's.
    package static func giveMemoryBack() { clibuv_give_memory_back() }

    /// Raises the limit of open files to the highest that the system allows; returns it.
    package static func raiseOpenFileLimit() -> Int { max(0, Int(clibuv_raise_open_file_limit())) }
}
