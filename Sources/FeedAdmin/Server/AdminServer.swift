internal import FeedConcurrency
package import FeedTransport

/// The operator's address: pages over HTTP/1.1, on a thread and an event loop of its own.
///
/// The loops of the service know nothing of it. A page that takes long to build delays other pages only.
package final class AdminServer: Sendable {
    /// The address, with the port that the system gave.
    package let address: SocketAddress
    private let thread: EventLoopThread

    private init(address: SocketAddress, thread: EventLoopThread) {
        self.address = address
        self.thread = thread
    }

    /// Listens at an address; returns when connections are accepted.
    ///
    /// - Parameters:
    ///   - address: The address.
    ///   - pages: The pages.
    ///   - clock: The clock of timers and deadlines; nil is the system's.
    ///   - tick: Is called each second on the thread of the pages.
    /// - Returns: The running server.
    /// - Throws: Where the system gives no thread or the address is taken.
    package static func start(
        at address: SocketAddress,
        _ pages: AdminPages,
        clock: ManualClock? = nil,
        tick: @escaping @Sendable () -> Void
    ) throws(TransportError) -> AdminServer {
        let thread = try EventLoopThread(
            name: "feed-admin",
            configuration: HTTPLimits.configuration(clock: clock),
            budget: BufferBudget()
        ) { _ in }
        let result = Lock<Result<SocketAddress, TransportError>>(.success(address))
        let isDone = Semaphore()
        thread.mailbox.post { loop in
            let outcome = Result { () throws(TransportError) in
                try loop.addTimer(every: History.step) { tick() }
                return try TCPListener(
                    at: address,
                    on: loop,
                    targets: [loop.mailbox],
                    admission: Self.admission
                ) { _ in HTTPConnection(pages) }.address
            }
            result.withLock { $0 = outcome }
            isDone.signal()
        }
        isDone.wait()
        do {
            return AdminServer(address: try result.withLock { $0 }.get(), thread: thread)
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
            maximumConnectionCount: HTTPLimits.connectionCount,
            refusal: HTTPResponse.text(
                .unavailable,
                "There are \(HTTPLimits.connectionCount) connections already."
            ).encoded(isLast: true)
        )
    }
}
