internal import FeedNetwork
internal import NIOCore
internal import NIOSSL
internal import NIOTLS

#if canImport(Network)
internal import Darwin
internal import NIOTransportServices
internal import Network

private typealias Bootstrap = NIOTSConnectionBootstrap
#else
internal import Glibc
internal import NIOPosix

private typealias Bootstrap = ClientBootstrap
#endif

/// One TCP connection of a client on one loop, with TLS or without.
package final class NIOConnection: TransportConnection {
    private enum Life {
        /// The peer has not accepted, or the handshake of TLS is not done.
        case connecting
        case open
        /// What was written is sent, and then the peer's end is awaited.
        case closing(CloseReason)
        case closed
    }

    private let loop: NIOLoop
    private let peer: FeedNetwork.SocketAddress
    private let target: NIOTarget?
    private var handler: NIOLoop.Handler?
    private var life = Life.connecting
    private var channel: (any Channel)?
    /// The handler next to the socket: what closes from here passes TLS by.
    private var socket: ChannelHandlerContext?
    /// Of the connect, or of the peer's end.
    private var deadline: NIOTimer?
    private var unconsumed = ByteBuffer()
    private var isIterationDue = false
    private var hasInputEnded = false
    private var isEndDelivered = false
    /// Whether the connection is closed once everything is sent.
    private var awaitsWrites = false
    private var writes = WriteWatch()
    private var isWriting = false
    /// The events that were kept for later, as they came within a write.
    private var lateEventCount = 0

    package var pendingByteCount: Int { writes.pendingByteCount }

    init(
        _ loop: NIOLoop,
        to peer: FeedNetwork.SocketAddress,
        _ target: NIOTarget?,
        _ handler: NIOLoop.Handler
    ) {
        self.loop = loop
        self.peer = peer
        self.target = target
        self.handler = handler
    }

    package var isOpen: Bool { if case .open = life { true } else { false } }

    package func requestIteration() {
        guard isOpen, !isIterationDue else { return }
        isIterationDue = true
        loop.soon { [self] in
            isIterationDue = false
            show()
        }
    }

    package func write(_ bytes: RawSpan) {
        guard isOpen, let channel, bytes.byteCount > 0 else { return }
        let count = bytes.byteCount
        var buffer = channel.allocator.buffer(capacity: count)
        buffer.writeBytes(bytes)
        writes.pendingByteCount += count
        let promise = loop.eventLoop.makePromise(of: Void.self)
        promise.futureResult.assumeIsolated().whenComplete { [self] in didWrite(count, $0) }
        isWriting = true
        channel.writeAndFlush(buffer, promise: promise)
        isWriting = false
        if writes.pendingByteCount > 0 { watchWrites() }
    }

    package func closeAfterFlush() {
        switch life {
        case .connecting: abort(.local)
        case .closing, .closed: return
        case .open:
            let reason = hasInputEnded ? CloseReason.peerClosed : .local
            life = .closing(reason)
            unconsumed = ByteBuffer()
            // Where both sides have ended, SwiftNIO drops what is unsent.
            awaitsWrites = hasInputEnded && pendingByteCount > 0
            if !awaitsWrites { endOutput(reason) }
        }
    }

    /// Takes an event of the channel: behind the write that it came in, as a handler is not called within its
    /// own call.
    ///
    /// A write that fails makes SwiftNIO read all that the peer has sent, and then close.
    fileprivate func take(_ event: @escaping () -> Void) {
        guard isWriting || lateEventCount > 0 else { return event() }
        lateEventCount += 1
        loop.soon { [self] in
            lateEventCount -= 1
            event()
        }
    }

    private func endOutput(_ reason: CloseReason) {
        channel?.close(mode: .output).assumeIsolated().whenComplete { [self] result in
            guard case .success = result, !hasInputEnded else { return abort(reason) }
            guard case .closing = life else { return }
            deadline = try? loop.addTimer(after: NIOLimits.linger) { [self] in abort(reason) }
        }
    }

    package func reset() { abort(.local, withReset: true) }

    /// Closes now; the handler is notified soon.
    func abort(_ reason: CloseReason, withReset: Bool = false) {
        if case .closed = life { return }
        life = .closed
        deadline?.cancel()
        writes.timer?.cancel()
        unconsumed = ByteBuffer()
        if withReset, let channel = channel as? any SocketOptionProvider {
            _ = channel.setSoLinger(linger(l_onoff: 1, l_linger: 0))
        }
        // TLS would wait for the peer.
        socket?.close(mode: .all, promise: nil)
        socket = nil
        channel = nil
        loop.soon { [self] in
            let handler = handler
            self.handler = nil
            handler?.connectionClosed(self, reason: reason)
            loop.remove(self)
        }
    }
}

@available(*, unavailable)
extension NIOConnection: Sendable {}

/// How a connection opens.
extension NIOConnection {
    func connect(within timeout: Duration) throws(TransportError) {
        deadline = try loop.addTimer(after: timeout) { [self] in
            abort(.connectFailed(.timedOut))
        }
        let bound = NIOLoopBound(self, eventLoop: loop.eventLoop)
        let address: NIOCore.SocketAddress
        do {
            address = try NIOCore.SocketAddress(ipAddress: peer.hostText, port: Int(peer.port))
        } catch {
            preconditionFailure("\(peer) is an address: \(error)")
        }
        NIOLimits.options(Bootstrap(group: loop.eventLoop))
            .connectTimeout(TimeAmount(timeout))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try bound.value.install(on: channel) }
            }
            .connect(to: address)
            .assumeIsolated()
            .whenFailure { [self] in didFailConnecting($0) }
    }

    private func install(on channel: any Channel) throws {
        guard case .connecting = life else { throw ChannelError.alreadyClosed }
        let pipeline = channel.pipeline.syncOperations
        let events = ConnectionEvents(self)
        let tls = try target?.makeHandler(for: peer)
        if let tls { try pipeline.addHandler(tls) }
        try pipeline.addHandler(events)
        socket = try pipeline.context(handler: tls ?? events)
        self.channel = channel
    }

    private func didFailConnecting(_ error: any Error) {
        abort(.connectFailed(TransportError(error, "Connecting to \(peer)", peer)))
    }

    fileprivate func becameActive() { if target == nil { open() } }

    fileprivate func secured(by protocolName: String?) {
        guard protocolName == NIOLimits.protocolName else {
            return abort(.connectFailed(.tls(.noCommonProtocol)))
        }
        guard let certificate = (socket?.handler as? NIOSSLClientHandler)?.peerCertificate,
            target?.isNamed(by: certificate) == true
        else { return abort(.connectFailed(.tls(.certificateRefused("hostname mismatch")))) }
        open()
    }

    private func open() {
        guard case .connecting = life else { return }
        life = .open
        deadline?.cancel()
        deadline = nil
        handler?.connectionOpened(self)
    }
}

/// What the peer sends, and how it ends.
extension NIOConnection {
    fileprivate func received(_ bytes: ByteBuffer) {
        guard isOpen else { return }
        if unconsumed.readableBytes == 0 {
            unconsumed = bytes
        } else {
            unconsumed.writeImmutableBuffer(bytes)
        }
        if !isIterationDue { show() }
    }

    private func show() {
        guard isOpen, let handler else { return }
        var shown = ByteBuffer()
        swap(&shown, &unconsumed)
        let progress = handler.connection(self, received: shown.readableBytesSpan)
        guard isOpen else { return }
        shown.moveReaderIndex(forwardBy: progress.consumedByteCount)
        if shown.readableBytes > 0 {
            precondition(
                shown.readableBytes <= loop.limits.unconsumed,
                "A handler waits for more than the \(shown.readableBytes) bytes it left."
            )
            shown.discardReadBytes()
            unconsumed = shown
        }
        if progress.wantsIteration { requestIteration() }
        deliverInputEnd()
    }

    fileprivate func endedInput() {
        hasInputEnded = true
        deliverInputEnd()
    }

    /// Notifies the handler of the peer's end once it has seen all bytes before it.
    private func deliverInputEnd() {
        guard isOpen, hasInputEnded, !isIterationDue, !isEndDelivered else { return }
        isEndDelivered = true
        handler?.connectionEndedInput(self)
    }

    fileprivate func becameInactive() {
        switch life {
        case .connecting:
            abort(.connectFailed(target == nil ? .connectionReset : .tls(.endedInHandshake)))
        // TLS answers the peer's end by itself.
        case .open: abort(hasInputEnded || target != nil ? .peerClosed : .reset)
        case .closing(let reason): abort(reason)
        case .closed: break
        }
    }

    fileprivate func failed(_ error: any Error) {
        // An end without TLS's own is one all the same, as frames say where they end.
        if case NIOSSLError.uncleanShutdown = error { return endedInput() }
        let error = TransportError(error, "Reading from a connection", peer)
        switch life {
        case .connecting: abort(.connectFailed(error))
        case .open, .closing: abort(error == .connectionReset ? .reset : .failed(error))
        case .closed: break
        }
    }
}

/// What the peer takes.
extension NIOConnection {
    /// The bytes that wait for the peer, and for how long it has taken none.
    private struct WriteWatch {
        var pendingByteCount = 0
        var timer: NIOTimer?
        /// What the channel held a second ago.
        var lastByteCount = 0
        var stalledSecondCount = 0
    }

    private func didWrite(_ count: Int, _ result: Result<Void, any Error>) {
        writes.pendingByteCount -= count
        if writes.pendingByteCount == 0 {
            writes.timer?.cancel()
            writes.timer = nil
            if awaitsWrites, case .closing(let reason) = life { endOutput(reason) }
        }
        guard case .failure(let error) = result, isOpen else { return }
        let cause = TransportError(error, "Writing to a connection", peer)
        take { [self] in
            guard isOpen else { return }
            abort(cause == .connectionReset ? .reset : .failed(cause))
        }
    }

    private func watchWrites() {
        guard writes.timer == nil else { return }
        writes.lastByteCount = 0
        writes.stalledSecondCount = 0
        writes.timer = try? loop.addTimer(every: .seconds(1)) { [self] in
            let options = channel?.syncOptions
            let count = (try? options?.getOption(.bufferedWritableBytes)) ?? pendingByteCount
            writes.stalledSecondCount =
                count == writes.lastByteCount ? writes.stalledSecondCount + 1 : 0
            writes.lastByteCount = count
            guard writes.stalledSecondCount >= NIOLimits.writeProgressSeconds else { return }
            abort(.writeStalled, withReset: true)
        }
    }
}

/// Passes the events of a channel on; it comes after TLS.
private final class ConnectionEvents: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let connection: NIOConnection

    init(_ connection: NIOConnection) { self.connection = connection }

    func channelActive(context: ChannelHandlerContext) { connection.becameActive() }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        connection.take { [connection] in connection.received(bytes) }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case TLSUserEvent.handshakeCompleted(let name): connection.secured(by: name)
        case ChannelEvent.inputClosed: connection.take { [connection] in connection.endedInput() }
        default: break
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        connection.take { [connection] in connection.failed(error) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        connection.take { [connection] in connection.becameInactive() }
    }
}

enum NIOLimits {
    /// How long a closed connection waits for the peer's end.
    static let linger = Duration.seconds(1)
    /// How long the peer may take none of what waits for it.
    static let writeProgressSeconds = 10
    static let protocolName = "feed/1"

    /// The options that libuv's transport sets on a client's socket.
    fileprivate static func options(_ bootstrap: Bootstrap) -> Bootstrap {
        var bootstrap =
            bootstrap
            .channelOption(.allowRemoteHalfClosure, value: true)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.socketOption(.so_keepalive), value: 1)
        #if canImport(Network)
        let values = [
            TCP_KEEPALIVE: 30, TCP_KEEPINTVL: 5, TCP_KEEPCNT: 3, TCP_RXT_CONNDROPTIME: 30,
        ]
        // A service that refuses is an error at once, and not one to wait for.
        bootstrap = bootstrap.channelOption(NIOTSChannelOptions.waitForActivity, value: false)
        #else
        let values = [
            TCP_KEEPIDLE: 30, TCP_KEEPINTVL: 5, TCP_KEEPCNT: 3, TCP_USER_TIMEOUT: 30_000,
        ]
        #endif
        for (option, value) in values {
            bootstrap = bootstrap.channelOption(
                .tcpOption(NIOBSDSocket.Option(rawValue: option)),
                value: SocketOptionValue(value)
            )
        }
        return bootstrap
    }
}

extension TransportError {
    /// The cause that an error of SwiftNIO stands for.
    init(_ error: any Error, _ operation: String, _ peer: FeedNetwork.SocketAddress) {
        switch error {
        case let error as IOError: self.init(error.errnoCode, operation, peer)
        #if canImport(Network)
        case NWError.posix(let code): self.init(code.rawValue, operation, peer)
        #endif
        case ChannelError.connectTimeout: self = .timedOut
        case ChannelError.ioOnClosedChannel, ChannelError.alreadyClosed, ChannelError.eof,
            ChannelError.inputClosed, ChannelError.outputClosed:
            self = .connectionReset
        default: self = .tls(TLSError(error))
        }
    }

    private init(_ code: CInt, _ operation: String, _ peer: FeedNetwork.SocketAddress) {
        switch code {
        case EMFILE, ENFILE: self = .tooManyOpenFiles
        case EADDRNOTAVAIL: self = .addressNotAvailable(peer)
        case ECONNREFUSED: self = .connectionRefused
        case ECONNRESET, EPIPE, ECONNABORTED: self = .connectionReset
        case ETIMEDOUT: self = .timedOut
        default:
            self = .system(
                operation: operation,
                code: -code,
                text: unsafe String(cString: strerror(code))
            )
        }
    }
}
