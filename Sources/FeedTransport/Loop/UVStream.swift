import CLibUV
import Glibc

/// A TCP handle of libuv.
///
/// libuv holds one reference to the connection from ``attach(_:)`` until the close callback, which
/// frees the handle; nothing may be called after ``close()``.
@safe
struct UVStream {
    private let tcp: UnsafeMutablePointer<uv_tcp_t>

    /// A handle without a socket.
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

    /// Takes over an accepted socket.
    func open(_ descriptor: Int32) throws(TransportError) {
        unsafe try uvResult(uv_tcp_open(tcp, descriptor), .other("Opening a socket"))
    }

    /// Starts to connect; ``TCPConnection/didConnect(_:)`` reports the result.
    func connect(
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
    /// A secured connection has a callback of its own, so that others do not ask whether they are.
    func startReading(isSecured: Bool) {
        let didRead: uv_read_cb =
            isSecured
            ? { stream, count, _ in
                guard let stream = unsafe stream else { return }
                unsafe UVStream.didRead(stream, count) { $0.didReceive($1) }
            }
            : { stream, count, _ in
                guard let stream = unsafe stream else { return }
                unsafe UVStream.didRead(stream, count) { $0.didRead($1) }
            }
        let code = unsafe uv_read_start(
            stream,
            { handle, _, buffer in
                guard let handle = unsafe handle, let buffer = unsafe buffer else { return }
                unsafe UVStream.lend(to: handle, buffer)
            },
            didRead
        )
        precondition(code == 0, "Reading was started on a connection that is not open.")
    }

    /// Stops reading; arriving bytes stay in the kernel.
    func stopReading() {
        unsafe uv_read_stop(stream)
    }

    /// Writes what the kernel takes now; nil if it takes nothing.
    ///
    /// The stream is connected, and no other write is under way.
    func tryWrite(_ bytes: RawSpan) throws(TransportError) -> Int? {
        let code = unsafe bytes.withUnsafeBytes { raw in
            unsafe clibuv_try_send(tcp, raw.baseAddress, raw.count)
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
        var descriptor: Int32 = -1
        let unwritten = unsafe uv_stream_get_write_queue_size(stream)
        guard unsafe uv_fileno(handle, &descriptor) == 0 else { return unwritten }
        return unwritten + max(0, Int(clibuv_unacknowledged_byte_count(descriptor)))
    }

    /// Sets the size of the socket's send buffer; the kernel takes twice as much.
    func setSendBuffer(byteCount: Int) {
        var descriptor: Int32 = -1
        guard unsafe uv_fileno(handle, &descriptor) == 0 else { return }
        // Where the system refuses, the buffer stays as it was.
        _ = clibuv_set_option(descriptor, SOL_SOCKET, SO_SNDBUF, Int32(clamping: byteCount))
    }

    /// Ends the sending side: the peer sees that nothing more comes.
    // Not uv_shutdown: the queue is empty, and its request would outlive a reset.
    func shutDownSending() {
        var descriptor: Int32 = -1
        guard unsafe uv_fileno(handle, &descriptor) == 0 else { return }
        // A peer that is gone cannot be notified; its end of file or reset follows.
        _ = clibuv_shutdown_sending(descriptor)
    }

    /// Closes the socket now; ``TCPConnection/didClose()`` follows at the end of the iteration.
    func close() {
        unsafe uv_close(handle) { unsafe UVStream.didClose($0) }
    }

    /// Closes the socket with a reset to the peer.
    func closeWithReset() {
        guard unsafe uv_tcp_close_reset(tcp, { unsafe UVStream.didClose($0) }) != 0 else { return }
        close()
    }
}

extension UVStream {
    private static func withConnection(
        of stream: UnsafeMutablePointer<uv_stream_t>?,
        _ body: (TCPConnection) -> Void
    ) {
        guard let data = unsafe stream?.pointee.data else { return }
        unsafe Unmanaged<TCPConnection>.fromOpaque(data)._withUnsafeGuaranteedRef(body)
    }

    @inline(__always)
    private static func slot(
        of loop: UnsafeMutablePointer<uv_loop_t>
    ) -> UnsafeMutablePointer<UVLoop.ReceiveSlot>? {
        unsafe loop.pointee.data?.assumingMemoryBound(to: UVLoop.ReceiveSlot.self)
    }

    private static func lend(
        to handle: UnsafeMutablePointer<uv_handle_t>,
        _ buffer: UnsafeMutablePointer<uv_buf_t>
    ) {
        guard let slot = unsafe slot(of: handle.pointee.loop) else { return }
        let filledBy = unsafe slot.pointee.filledBy
        unsafe slot.pointee.filledBy = nil
        let byteCount =
            unsafe filledBy == UnsafeMutableRawPointer(handle) ? 0 : slot.pointee.byteCount
        let base = unsafe slot.pointee.bytes.assumingMemoryBound(to: CChar.self)
        unsafe buffer.pointee = uv_buf_t(base: base, len: byteCount)
    }

    @inline(__always)
    private static func didRead(
        _ stream: UnsafeMutablePointer<uv_stream_t>,
        _ count: Int,
        _ show: (TCPConnection, RawSpan) -> Void
    ) {
        // 0 is a spurious wake-up; ENOBUFS means that `lend` gave no buffer, and the bytes stay.
        guard count != 0, count != Int(UV_ENOBUFS.rawValue) else { return }
        guard count > 0, let slot = unsafe slot(of: stream.pointee.loop) else {
            unsafe withConnection(of: stream) {
                $0.didFailReading(Int32(truncatingIfNeeded: count))
            }
            return
        }
        if unsafe count == slot.pointee.byteCount {
            unsafe slot.pointee.filledBy = UnsafeMutableRawPointer(stream)
        }
        let bytes = unsafe UnsafeRawBufferPointer(start: slot.pointee.bytes, count: count)
        unsafe withConnection(of: stream) { unsafe show($0, bytes.bytes) }
    }

    private static func didClose(_ handle: UnsafeMutablePointer<uv_handle_t>?) {
        guard let handle = unsafe handle else { return }
        if let data = unsafe handle.pointee.data {
            unsafe Unmanaged<TCPConnection>.fromOpaque(data).takeRetainedValue().didClose()
        }
        unsafe UnsafeMutableRawPointer(handle).deallocate()
    }
}
