import Synchronization

/// Accepts connections on one loop and transfers each to the loop that has fewest.
///
/// There is one acceptor instead of one listening socket per loop: the kernel distributes few
/// long-lived connections badly, and drops the queue of a socket that closes.
package final class TCPListener {
    /// The address that it listens at, with the port that the kernel chose.
    package let address: SocketAddress

    package let counters = ListenerCounters()

    private let loop: EventLoop
    private let targets: [LoopMailbox]
    private let admission: Admission
    private let security: TLSAcceptor?
    private let proxies: TrustedProxies?
    private let handshakeLimit: Int
    private let makeHandler: TCPConnection.MakeHandler
    private let descriptor: Int32
    private let handle: UVHandle
    private var spare = UVSocket.spare()
    private var lingeringRefusals = 0
    private var isOpen = true
    private var isClosing = false

    /// Listens at `address` on `loop`, for the loops of `targets`; `security` secures the connections, and
    /// those of `proxies` begin with a header.
    package init(
        at address: SocketAddress,
        on loop: EventLoop,
        targets: [LoopMailbox],
        admission: Admission = Admission(),
        security: TLSAcceptor? = nil,
        proxies: TrustedProxies? = nil,
        makeHandler: @escaping TCPConnection.MakeHandler
    ) throws(TransportError) {
        precondition(!targets.isEmpty, "A listener needs a loop to hand connections to.")
        try loop.requireRunning()
        self.loop = loop
        self.targets = targets
        self.admission = admission
        self.security = security
        self.proxies = proxies
        handshakeLimit = admission.handshakeLimit(loopCount: targets.count)
        self.makeHandler = { [counters] connection in
            // Only now: a connection that is counted is one of its loop's, also for other threads.
            counters.countAccepted()
            return makeHandler(connection)
        }
        (descriptor, self.address) = try UVSocket.listener(at: address, loop.configuration)
        do {
            handle = try UVHandle.poll(descriptor, loop.uv)
        } catch {
            UVSocket.close(descriptor)
            throw error
        }
        // Both hold the listener until the handle is closed.
        handle.body = { self.acceptWaiting(atMost: TransportLimits.acceptsPerIteration) }
        handle.closed = { self.didClose() }
        handle.startPolling()
    }

    /// Accepts nothing more; peers that connected before are still served.
    package func close() {
        loop.preconditionOnLoop()
        guard isOpen, !isClosing else { return }
        isClosing = true
        // The kernel queues one more than it was asked to.
        acceptWaiting(atMost: Int(TransportLimits.listenBacklog) + 1)
        handle.close()
    }

    private func didClose() {
        isOpen = false
        UVSocket.close(descriptor)
        if let spare { UVSocket.close(spare) }
        spare = nil
    }

    private func acceptWaiting(atMost count: Int) {
        for _ in 0..<count where isOpen {
            do {
                guard let socket = try UVSocket.accept(descriptor) else { return }
                place(socket)
            } catch .connectionReset {
                // That connection broke while it waited; the next one may be intact.
                continue
            } catch {
                rest()
                return
            }
        }
    }

    private func place(_ socket: AcceptedSocket) {
        let open = targets.reduce(0) { $0 + $1.connectionCount }
        guard open - refusalsOnTargets < admission.maximumConnectionCount else {
            refuse(socket)
            return
        }
        guard let target = targets.min(by: { $0.connectionCount < $1.connectionCount }) else {
            return
        }
        target.addConnection(1)
        let adopt: @Sendable (EventLoop) -> Void = {
            [proxies, security, handshakeLimit, makeHandler] loop in
            func adopt(_ socket: AcceptedSocket) {
                loop.adoptCounted(
                    socket,
                    securedBy: security,
                    handshakeLimit: handshakeLimit,
                    handler: makeHandler
                )
            }
            guard let proxies, proxies.contains(socket.peer.host) else { return adopt(socket) }
            loop.awaitProxyHeader(of: socket, report: proxies.report, adopt: adopt)
        }
        if target.isSame(as: loop.mailbox) { return adopt(loop) }
        let isTaken = target.post(adopt)
        guard !isTaken else { return }
        target.addConnection(-1)
        UVSocket.close(socket.descriptor)
    }

    private func refuse(_ socket: AcceptedSocket) {
        counters.countRefused()
        // A handshake for a refusal would cost more than the connection.
        guard security == nil, lingeringRefusals < admission.maximumLingeringRefusals else {
            UVSocket.close(socket.descriptor)
            return
        }
        loop.adopt(socket) { [self] _ in
            lingeringRefusals += 1
            return RefusalHandler(admission.refusal) { self.lingeringRefusals -= 1 }
        }
    }

    /// Refused connections that the targets count; they must not keep others out.
    private var refusalsOnTargets: Int {
        targets.contains { $0.isSame(as: loop.mailbox) } ? lingeringRefusals : 0
    }

    /// Closes the waiting connection with the help of the spare descriptor, and rests.
    ///
    /// Without a descriptor or memory for it, the connection would wake the loop again and again.
    private func rest() {
        counters.countRest()
        guard !isClosing else { return }
        if let spare {
            UVSocket.close(spare)
            if let socket = try? UVSocket.accept(descriptor) { UVSocket.close(socket.descriptor) }
        }
        spare = UVSocket.spare()
        handle.stopPolling()
        _ = try? loop.addTimer(after: TransportLimits.acceptPause) { [self] in
            guard isOpen else { return }
            if spare == nil { spare = UVSocket.spare() }
            handle.startPolling()
        }
    }
}

@available(*, unavailable)
extension TCPListener: Sendable {}

/// The counters of a listener, readable from any thread.
package final class ListenerCounters: Sendable {
    private let accepted = Atomic<Int>(0)
    private let refused = Atomic<Int>(0)
    private let rests = Atomic<Int>(0)

    /// Connections that a loop has taken over.
    package var acceptedCount: Int { accepted.load(ordering: .relaxed) }

    /// Connections over the maximum.
    package var refusedCount: Int { refused.load(ordering: .relaxed) }

    /// Times that the system had no descriptor or memory left for a connection.
    package var restCount: Int { rests.load(ordering: .relaxed) }

    fileprivate func countAccepted() { accepted.wrappingAdd(1, ordering: .relaxed) }
    fileprivate func countRefused() { refused.wrappingAdd(1, ordering: .relaxed) }
    fileprivate func countRest() { rests.wrappingAdd(1, ordering: .relaxed) }
}

/// The limit of a listener's connections, and the bytes that refused ones are sent.
package struct Admission: Sendable {
    /// Connections over all loops; further ones are refused.
    package var maximumConnectionCount: Int
    package var refusal: [UInt8]
    /// The most refused connections that may take their refusal at once; further ones get none.
    package var maximumLingeringRefusals: Int

    package init(
        maximumConnectionCount: Int = TransportLimits.maximumConnectionCount,
        refusal: [UInt8] = [],
        maximumLingeringRefusals: Int = TransportLimits.maximumLingeringRefusals
    ) {
        self.maximumConnectionCount = maximumConnectionCount
        self.refusal = refusal
        self.maximumLingeringRefusals = maximumLingeringRefusals
    }

    /// The TLS handshakes that may be under way on one of so many loops.
    ///
    /// All of them have half of the connections: peers that do not finish theirs keep nobody out.
    package func handshakeLimit(loopCount: Int) -> Int {
        max(1, min(TransportLimits.maximumHandshakeCount, maximumConnectionCount / 2 / loopCount))
    }
}

/// Sends the refusal to a connection over the maximum, and closes it.
private final class RefusalHandler: ConnectionHandler {
    private let refusal: [UInt8]
    private let closed: () -> Void

    init(_ refusal: [UInt8], closed: @escaping () -> Void) {
        self.refusal = refusal
        self.closed = closed
    }

    func connectionOpened(_ connection: TCPConnection) {
        connection.write(refusal)
        connection.closeAfterFlush()
    }

    func connection(_ connection: TCPConnection, received bytes: RawSpan) -> ReadProgress {
        ReadProgress(consumedByteCount: bytes.byteCount)
    }

    func connectionEndedInput(_ connection: TCPConnection) {}

    func connectionClosed(_ connection: TCPConnection, reason: CloseReason) { closed() }
}
