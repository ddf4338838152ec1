import CLibUV
internal import FeedConcurrency
import Glibc

/// A loop of libuv and the one buffer that all its connections read into.
@safe
final class UVLoop {
    @unsafe fileprivate struct ReceiveBuffer {
        let bytes: UnsafeMutableRawPointer
        let byteCount: Int
    }

    let pointer: UnsafeMutablePointer<uv_loop_t>
    private var isOpen = true
    private var idleNanosecondsAtClose: UInt64 = 0
    private let receiveBuffer: UnsafeMutablePointer<ReceiveBuffer>

    /// A loop that may sum its idle time; it must be closed before it is released.
    init(receiveBufferByteCount: Int, measuresIdleTime: Bool) throws(TransportError) {
        try TransportError.checkRoomForLoop()
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

/// A TCP handle of libuv.
///
/// libuv holds one reference to the connection from ``attach(_:)`` until the close callback, which
/// frees the handle; nothing may be called after ``close()``.
@safe
struct UVStream {
    private let tcp: UnsafeMutablePointer<uv_tcp_t>
    /// The socket, valid until ``close()``.
    ///
    /// It is here, too, so that a write need not read the handle.
    private var descriptor: Int32 = -1

    init(_ loop: UVLoop) throws(TransportError) {
        unsafe tcp = .allocate(capacity: 1)
        do {
            unsafe try uvResult(uv_tcp_init(loop.pointer, tcp), .other("Creating a TCP handle"))
        } catch {
            unsafe tcp.deallocate()
            throw error
        }
        unsafe tcp.pointee.data = nil
    }

    private var stream: UnsafeMutablePointer<uv_stream_t> {
        unsafe UnsafeMutableRawPointer(tcp).assumingMemoryBound(to: uv_stream_t.self)
    }

    private var handle: UnsafeMutablePointer<uv_handle_t> {
        unsafe UnsafeMutableRawPointer(tcp).assumingMemoryBound(to: uv_handle_t.self)
    }

    /// Sets the connection that the callbacks go to.
    func attach(_ connection: TCPConnection) {
        unsafe tcp.pointee.data = Unmanaged.passRetained(connection).toOpaque()
    }

    mutating func open(_ descriptor: Int32) throws(TransportError) {
        unsafe try uvResult(uv_tcp_open(tcp, descriptor), .other("Opening a socket"))
        self.descriptor = descriptor
    }

    /// Starts to connect; ``TCPConnection/didConnect(_:)`` reports the result.
    mutating func connect(
        to address: SocketAddress,
        _ configuration: TransportConfiguration
    ) throws(TransportError) {
        let socket = try UVSocket.client(for: address, configuration)
        do {
            try open(socket)
        } catch {
            UVSocket.close(socket)
            throw error
        }
        let request = UnsafeMutablePointer<uv_connect_t>.allocate(capacity: 1)
        let code = unsafe address.withSockaddr { storage in
            let raw = unsafe UnsafeRawPointer(storage).assumingMemoryBound(to: sockaddr.self)
            return unsafe uv_tcp_connect(request, tcp, raw) { request, status in
                guard let request = unsafe request else { return }
                defer { unsafe request.deallocate() }
                guard status != UV_ECANCELED.rawValue else { return }
                unsafe UVStream.withConnection(of: request.pointee.handle) { $0.didConnect(status) }
            }
        }
        do {
            try uvResult(code, .connect(address))
        } catch {
            unsafe request.deallocate()
            throw error
        }
    }

    /// Starts to deliver arriving bytes to the connection; it must not be reading.
    ///
    /// libuv is given no buffer and so does not read: it says that the socket is readable, and the bytes
    /// are received here. libuv would use `read`, which does more work: it also looks at the file of the
    /// socket, for those who watch files. One read an iteration also keeps a fast peer from holding up
    /// the others.
    ///
    /// A secured connection has a callback of its own, so that others do not ask whether they are.
    func startReading(isSecured: Bool) {
        let isReadable: uv_read_cb =
            isSecured
            ? { stream, _, _ in
                guard let stream = unsafe stream else { return }
                unsafe UVStream.receive(stream) { $0.didReceive($1) }
            }
            : { stream, _, _ in
                guard let stream = unsafe stream else { return }
                unsafe UVStream.receive(stream) { $0.didRead($1) }
            }
        let code = unsafe uv_read_start(
            stream,
            { _, _, buffer in unsafe buffer?.pointee = uv_buf_t() },
            isReadable
        )
        precondition(code == 0, "Reading was started on a connection that is not open.")
    }

    func stopReading() { unsafe uv_read_stop(stream) }

    /// Writes what the kernel takes now; nil if it takes nothing.
    ///
    /// The stream is connected, and no other write is under way.
    func tryWrite(_ bytes: RawSpan) throws(TransportError) -> Int? {
        let code = unsafe bytes.withUnsafeBytes { raw in
            unsafe clibuv_try_send(descriptor, raw.baseAddress, raw.count)
        }
        return try uvResult(code, .write)
    }

    /// Starts to write the bytes that `buffers` have in flight; ``TCPConnection/didWrite(_:)``
    /// reports the end.
    func write(_ buffers: borrowing UVSendBuffers) throws(TransportError) {
        let code = unsafe buffers.withInFlight { request, buffer in
            var buffer = unsafe buffer
            return unsafe uv_write(request, stream, &buffer, 1) { request, status in
                guard let request = unsafe request else { return }
                unsafe UVStream.withConnection(of: request.pointee.handle) { $0.didWrite(status) }
            }
        }
        try uvResult(code, .write)
    }

    /// The rest of the write in flight, and what the kernel holds of it.
    ///
    /// The kernel takes more only when much of its buffer is free again. What a slow peer takes
    /// before that shows only in the unacknowledged bytes.
    var untakenByteCount: Int {
        let unwritten = unsafe uv_stream_get_write_queue_size(stream)
        return unwritten + max(0, Int(clibuv_unacknowledged_byte_count(descriptor)))
    }

    /// Sets the size of the socket's send buffer; the kernel takes twice as much.
    func setSendBuffer(byteCount: Int) {
        // If the system refuses, the buffer stays as it was.
        _ = clibuv_set_option(descriptor, SOL_SOCKET, SO_SNDBUF, Int32(clamping: byteCount))
    }

    /// Ends the sending side: the peer sees that nothing more comes.
    // Not uv_shutdown: the queue is empty, and its request would outlive a reset.
    func shutDownSending() {
        // A peer that is gone cannot be notified; its end of file or reset follows.
        _ = clibuv_shutdown_sending(descriptor)
    }

    /// Closes the socket now; ``TCPConnection/didClose()`` follows at the end of the iteration.
    func close() { unsafe uv_close(handle) { unsafe UVStream.didClose($0) } }

    func closeWithReset() {
        guard unsafe uv_tcp_close_reset(tcp, { unsafe UVStream.didClose($0) }) != 0 else { return }
        close()
    }

    private static func withConnection(
        of stream: UnsafeMutablePointer<uv_stream_t>?,
        _ body: (TCPConnection) -> Void
    ) {
        guard let data = unsafe stream?.pointee.data else { return }
        unsafe Unmanaged<TCPConnection>.fromOpaque(data)._withUnsafeGuaranteedRef(body)
    }

    /// Reads from a readable socket once, into the loop's buffer.
    @inline(__always)
    private static func receive(
        _ stream: UnsafeMutablePointer<uv_stream_t>,
        _ show: (TCPConnection, RawSpan) -> Void
    ) {
        guard
            let buffer = unsafe stream.pointee.loop.pointee.data?
                .assumingMemoryBound(to: UVLoop.ReceiveBuffer.self)
        else { return }
        let (bytes, capacity) = unsafe (buffer.pointee.bytes, buffer.pointee.byteCount)
        unsafe withConnection(of: stream) { connection in
            // Read from the handle, so that the connection's memory comes while the kernel works.
            ObjectMemory.of(connection, byteCount: TCPConnection.hotByteCount).prefetch()
            var descriptor: Int32 = -1
            let handle = UnsafeMutableRawPointer(stream)
            _ = unsafe uv_fileno(handle.assumingMemoryBound(to: uv_handle_t.self), &descriptor)
            let count = unsafe clibuv_receive(descriptor, bytes, capacity)
            if count > 0 {
                let received = unsafe UnsafeRawBufferPointer(start: bytes, count: count)
                unsafe show(connection, received.bytes)
            } else if count != Int(UV_EAGAIN.rawValue) {
                connection.stream.stopReading()
                connection.didFailReading(count == 0 ? UV_EOF.rawValue : Int32(count))
            }
        }
    }

    private static func didClose(_ handle: UnsafeMutablePointer<uv_handle_t>?) {
        guard let handle = unsafe handle else { return }
        if let data = unsafe handle.pointee.data {
            unsafe Unmanaged<TCPConnection>.fromOpaque(data).takeRetainedValue().didClose()
        }
        unsafe UnsafeMutableRawPointer(handle).deallocate()
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
