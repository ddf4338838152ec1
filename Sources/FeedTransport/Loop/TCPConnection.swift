internal import FeedConcurrency
internal import FeedTLS

/// One TCP connection on one loop: reads for its handler, sends what the handler writes, and closes
/// when a deadline passes.
///
/// This is the driver: it calls libuv and the handler. The decisions are those of its values:
/// ``ConnectionLife``, ``ReadingState``, ``WriteQueue`` and ``ConnectionDeadlines``. libuv holds the
/// connection until it is closed, so that no other owner is needed.
package final class TCPConnection {
    /// Makes the handler of a connection, on the connection's loop.
    package typealias MakeHandler = @Sendable (TCPConnection) -> any ConnectionHandler

    // What each read and write of votes looks at comes first, in few cache lines: thousands of
    // connections are not in the processor's cache when their turn comes.

    /// The loop it belongs to.
    package let loop: EventLoop
    // Not settable from outside, not even by name: so the compiler sees all changes of it, and
    // proves what it would otherwise check at each read.
    var receiver: (any ConnectionHandler)? {
        didSet { receiverMemory = receiver.map(Self.memory) ?? .none }
    }
    /// The memory of the handler, which is requested without a look at the handler.
    private(set) var receiverMemory = ObjectMemory.none
    let stream: UVStream
    /// The TLS of a secured connection, once its handshake has begun.
    var security: TLSConnection?
    var life = ConnectionLife.connecting
    /// Bytes were read that its handler has not been shown.
    var hasArrival = false
    var reading = ReadingState()
    var writeQueue: WriteQueue
    /// The bytes that the budget counts for this connection.
    var accountedByteCount = 0
    var deadlines: ConnectionDeadlines

    var readBuffer = ReadBuffer()
    var sendBuffers = UVSendBuffers()
    /// The memory of the bytes that were unsent at the close; it is freed with the handle.
    var closingByteCount = 0
    /// The address of the peer.
    package let peer: SocketAddress
    /// Whether the peer is behind a proxy: then its address is no proof that it is on this machine.
    package let isProxied: Bool
    /// The slot of the peer's host in the budget.
    package let hostSlot: HostSlot
    /// The size of the send buffer lent to it, as the kernel counts; 0 where it has its own.
    var lentByteCount = 0
    /// The sweep in which a write in flight last ended.
    var lastWriteSweep = 0
    /// Whether the bytes of the socket are those of TLS.
    package internal(set) var isSecured = false
    /// The handshake of a secured connection that is not open yet.
    var handshake: Handshake?
    /// Its place in the loop's list.
    var place = 0
    /// Whether the peer may be silent for longer than the idle timeout, because it waits for an
    /// answer that takes long.
    package var mayBeSilent = false

    /// The receiver of the connection's events; nil once it is closed.
    package var handler: (any ConnectionHandler)? { receiver }

    /// The connection of an accepted socket; ``open(_:)`` starts it.
    init(_ loop: EventLoop, _ stream: UVStream, peer: SocketAddress, isProxied: Bool = false) {
        self.loop = loop
        self.stream = stream
        self.peer = peer
        self.isProxied = isProxied
        hostSlot = HostSlot(peer.host)
        writeQueue = WriteQueue(loop.configuration)
        deadlines = ConnectionDeadlines(at: loop.sweep)
        stream.attach(self)
        place = loop.insert(self)
    }

    /// The connection of a client whose stream is connecting.
    convenience init(
        _ loop: EventLoop,
        _ stream: UVStream,
        peer: SocketAddress,
        connecting handler: any ConnectionHandler,
        connectLimit: Int,
        security target: TLSTarget?
    ) {
        self.init(loop, stream, peer: peer)
        receiver = handler
        if let target {
            isSecured = true
            handshake = Handshake(.client(target))
        }
        deadlines = ConnectionDeadlines(at: loop.sweep, connectLimit: connectLimit)
    }

    /// Whether the handler may still be shown bytes and write some.
    package var isOpen: Bool { life.isOpen }

    /// Bytes that were written and that the kernel has not taken.
    package var pendingByteCount: Int { writeQueue.byteCount }

    /// Whether the handler should do no more work for this peer because too much is unsent.
    ///
    /// The handler leaves its bytes, and is shown them again when the peer has taken its answers.
    package var isAboveHighWatermark: Bool { writeQueue.isAboveHighWatermark }

    /// The bytes that reads and writes of votes look at, from the connection's beginning.
    package static var hotByteCount: Int { 256 }

    /// What a handler looks at when it receives bytes.
    private static func memory(of handler: any ConnectionHandler) -> ObjectMemory {
        .of(handler, byteCount: type(of: handler).hotByteCount)
    }

    /// Starts an accepted connection.
    func open(_ handler: any ConnectionHandler) {
        receiver = handler
        didOpen()
    }

    /// libuv's result of a connection attempt.
    func didConnect(_ status: Int32) {
        guard case .connecting = life else { return }
        guard status >= 0 else {
            abort(.connectFailed(transportError(status, .connect(peer))))
            return
        }
        if case .client(let target) = handshake?.side { return beginHandshake(with: target) }
        deadlines.opened(at: loop.sweep)
        didOpen()
    }

    private func didOpen() {
        life.open()
        receiver?.connectionOpened(self)
        resumeReading(.unopened)
    }
}

@available(*, unavailable)
extension TCPConnection: Sendable {}
