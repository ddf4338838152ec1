internal import FeedConcurrency
package import FeedTransport

/// The operator's address: pages over HTTP/1.1, on a thread and an event loop of its own.
///
/// The loops of the service know nothing of it. A page that takes long to build delays other pages only.
package final class AdminServer: Sendable {
    /// The addresses of the doors, in their order, with the ports that the system gave.
    package let addresses: [SocketAddress]
    private let thread: EventLoopThread

    private init(addresses: [SocketAddress], thread: EventLoopThread) {
        self.addresses = addresses
        self.thread = thread
    }

    /// Listens at the doors' addresses; returns when connections are accepted.
    ///
    /// - Parameters:
    ///   - doors: Where the pages are read.
    ///   - pages: The pages.
    ///   - clock: The clock of timers and deadlines; nil is the system's.
    ///   - tick: Is called each second on the thread of the pages.
    /// - Returns: The running server.
    /// - Throws: If the system gives no thread, or an address is taken.
    package static func start(
        at doors: [AdminDoor],
        _ pages: AdminPages,
        clock: ManualClock? = nil,
        tick: @escaping @Sendable () -> Void
    ) throws(TransportError) -> AdminServer {
        let thread = try EventLoopThread(
            name: "feed-admin",
            configuration: HTTPLimits.configuration(clock: clock),
            budget: BufferBudget()
        ) { _ in }
        let result = Lock<Result<[SocketAddress], TransportError>>(.success([]))
        let isDone = Semaphore()
        thread.mailbox.post { loop in
            let outcome = Result { () throws(TransportError) in
                try loop.addTimer(every: History.step) { tick() }
                loop.context = HTTPConnections()
                return try doors.map { (door) throws(TransportError) in
                    try TCPListener(
                        at: door.address,
                        on: loop,
                        targets: [loop.mailbox],
                        admission: Self.admission,
                        security: door.security
                    ) { connection in
                        HTTPConnection(pages, at: door, beside: .of(connection.loop))
                    }.address
                }
            }
            result.withLock { $0 = outcome }
            isDone.signal()
        }
        isDone.wait()
        do {
            return AdminServer(addresses: try result.withLock { $0 }.get(), thread: thread)
        } catch {
            thread.stop()
            thread.join()
            throw error
        }
    }

    /// Closes all connections; returns when the thread has ended.
    package func stop() {
        thread.stop()
        thread.join()
    }

    private static var admission: Admission {
        Admission(
            maximumConnectionCount: HTTPLimits.socketCount,
            refusal: HTTPResponse.text(
                .unavailable,
                "There are \(HTTPLimits.socketCount) connections already."
            ).encoded(isLast: true)
        )
    }
}

/// An address at which the pages are read, and who may read them there.
package struct AdminDoor: Sendable {
    package let address: SocketAddress
    /// Secures the connections; without it the pages go as plain text.
    package let security: TLSAcceptor?
    /// Whether the sender of a request may read all pages; called on the thread of the pages.
    fileprivate let admits: @Sendable (HTTPRequest, TCPConnection) -> Bool

    /// A door; without `admits` everybody who reaches it may read.
    package init(
        _ address: SocketAddress,
        security: TLSAcceptor? = nil,
        admits: @escaping @Sendable (HTTPRequest, TCPConnection) -> Bool = { _, _ in true }
    ) {
        self.address = address
        self.security = security
        self.admits = admits
    }

    fileprivate func response(
        to request: HTTPRequest,
        on connection: TCPConnection,
        _ pages: AdminPages
    ) -> HTTPResponse {
        // A page of the web that has its own name resolved to 127.0.0.1 can then read nothing.
        guard security != nil || !address.isLoopback || request.namesLoopback else {
            return .text(.misdirected, "Expected a loopback host, got \"\(request.host)\".")
        }
        return pages.response(to: request, isAdmitted: admits(request, connection))
    }
}

/// Every limit of the operator's address in one place, each with its reason.
package enum HTTPLimits {
    /// The bytes of a request's head; browsers send one or two thousand.
    package static let headByteCount = 8 * 1_024

    /// The connections: some browsers, two Prometheus servers, a supervisor.
    ///
    /// One more closes the one that has waited longest for a request.
    package static let connectionCount = 16

    /// The sockets: beside the open connections as many whose TLS handshake is under way, and room for one
    /// more of each until the oldest has given way.
    ///
    /// The files that a start sets aside for the process itself have room for them.
    fileprivate static let socketCount = 2 * connectionCount + 2

    /// How long a whole head may take after its first byte.
    package static let headTimeout = Duration.seconds(5)

    /// How long a connection may be silent: longer than a scrape interval.
    package static let idleTimeout = Duration.seconds(75)

    /// How long a client may take none of a page that waits for it.
    package static let writeProgressTimeout = Duration.seconds(10)

    /// The unsent bytes of a connection after which no further request of it is answered.
    package static let unsentByteCount = 256 * 1_024

    /// The limits as the transport takes them; a nil `clock` is the system's.
    package static func configuration(clock: ManualClock? = nil) -> TransportConfiguration {
        var configuration = TransportConfiguration()
        configuration.receiveBufferByteCount = 16 * 1_024
        configuration.maximumUnconsumedByteCount = headByteCount
        configuration.highWatermarkByteCount = unsentByteCount
        configuration.lowWatermarkByteCount = unsentByteCount / 4
        configuration.idleTimeout = idleTimeout
        configuration.partialReadTimeout = headTimeout
        configuration.writeProgressTimeout = writeProgressTimeout
        configuration.clock = clock
        return configuration
    }
}

/// One connection of the operator's address: answers the requests in its bytes, one after another.
private final class HTTPConnection: ConnectionHandler {
    private let pages: AdminPages
    private let door: AdminDoor
    private let others: HTTPConnections
    private var isClosing = false

    /// A connection on which these pages are read, beside others.
    init(_ pages: AdminPages, at door: AdminDoor, beside others: HTTPConnections) {
        self.pages = pages
        self.door = door
        self.others = others
    }

    func connectionOpened(_ connection: TCPConnection) { others.add(connection) }

    func connection(_ connection: TCPConnection, received bytes: RawSpan) -> ReadProgress {
        var rest: [UInt8] = []
        rest.append(copying: bytes)
        while !isClosing, !rest.isEmpty {
            guard !connection.isAboveHighWatermark else {
                return ReadProgress(
                    consumedByteCount: bytes.byteCount - rest.count,
                    wantsIteration: true,
                    waitsForWrites: true
                )
            }
            switch HTTPRequest.parse(rest) {
            case .incomplete:
                return ReadProgress(consumedByteCount: bytes.byteCount - rest.count)
            case .request(let request, let byteCount):
                rest.removeFirst(byteCount)
                answer(request, on: connection)
            case .refused(let response):
                connection.write(response.encoded(isLast: true))
                close(connection)
            }
        }
        return ReadProgress(consumedByteCount: bytes.byteCount)
    }

    func connectionEndedInput(_ connection: TCPConnection) { close(connection) }

    func connectionClosed(_ connection: TCPConnection, reason: CloseReason) {
        others.remove(connection)
    }

    private func answer(_ request: HTTPRequest, on connection: TCPConnection) {
        others.touch(connection)
        let response = door.response(to: request, on: connection, pages)
        let hasBody = request.method != "HEAD"
        connection.write(response.encoded(isLast: request.isLast, hasBody: hasBody))
        if request.isLast { close(connection) }
    }

    private func close(_ connection: TCPConnection) {
        isClosing = true
        connection.closeAfterFlush()
    }
}

@available(*, unavailable)
extension HTTPConnection: Sendable {}

/// The open connections of the operator's address, the one that has waited longest for a request first.
///
/// One more than ``HTTPLimits/connectionCount`` closes the first: clients that keep connections without
/// a use for them shut nobody out. The lists are short, so each step is O(connections).
private final class HTTPConnections {
    private var waiting: [TCPConnection] = []

    /// The connections of a loop, which was given them at its start.
    static func of(_ loop: EventLoop) -> HTTPConnections {
        guard let connections = loop.context as? HTTPConnections else {
            preconditionFailure("The loop of the pages is given its connections at its start.")
        }
        return connections
    }

    func add(_ connection: TCPConnection) {
        if waiting.count >= HTTPLimits.connectionCount { waiting.removeFirst().reset() }
        waiting.append(connection)
    }

    func touch(_ connection: TCPConnection) {
        guard let index = waiting.firstIndex(where: { $0 === connection }) else { return }
        waiting.append(waiting.remove(at: index))
    }

    func remove(_ connection: TCPConnection) { waiting.removeAll { $0 === connection } }
}

@available(*, unavailable)
extension HTTPConnections: Sendable {}

extension HTTPRequest {
    /// Whether the header Host is `localhost`, 127.x.y.z or `[::1]`, with or without a port.
    ///
    /// HTTP/1.0 has no such header, and no browser speaks it.
    fileprivate var namesLoopback: Bool {
        if host.isEmpty { return true }
        if host.hasPrefix("[") {
            return host == "[::1]" || host.hasPrefix("[::1]:")
        }
        let name = host.prefix { $0 != ":" }.lowercased()
        if name == "localhost" { return true }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}
