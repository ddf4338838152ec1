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
