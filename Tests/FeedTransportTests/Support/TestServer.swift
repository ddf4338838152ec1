import FeedTestSupport
import FeedTransport
import Synchronization

/// A server on port 0 with any number of loops, each on a thread of its own.
final class TestServer: Sendable {
    /// The loops; the first one has the listener.
    let threads: [EventLoopThread]
    let budget: BufferBudget
    let address: SocketAddress
    let counters: ListenerCounters
    private let clock: ManualClock?

    private init(
        _ threads: [EventLoopThread],
        _ plan: Plan,
        _ address: SocketAddress,
        _ counters: ListenerCounters
    ) {
        self.threads = threads
        budget = plan.budget
        clock = plan.configuration.clock
        self.address = address
        self.counters = counters
    }

    private static func start(_ plan: Plan) async throws -> TestServer {
        ProcessSetup.ignoreBrokenPipes()
        let threads = try (0..<plan.loops).map { index in
            try EventLoopThread(
                name: "test-\(index)",
                configuration: plan.configuration,
                budget: plan.budget
            ) { _ in }
        }
        let mailboxes = threads.map(\.mailbox)
        let listening = Recorder<Result<(SocketAddress, ListenerCounters), TransportError>>()
        threads[0].mailbox.post { loop in
            do throws(TransportError) {
                let listener = try TCPListener(
                    at: .loopback(port: 0),
                    on: loop,
                    targets: mailboxes,
                    admission: plan.admission,
                    security: plan.security,
                    proxies: plan.proxies
                ) { _ in ScriptedHandler(plan.script) }
                listening.record(.success((listener.address, listener.counters)))
            } catch {
                listening.record(.failure(error))
            }
        }
        let (address, counters) = try await listening.next().get()
        return TestServer(threads, plan, address, counters)
    }

    /// A client that does exactly what a test asks for.
    func client(
        from source: UInt32? = nil,
        receiveBufferByteCount: Int32? = nil
    ) async throws -> TestSocket {
        let port = address.port
        return try await offload {
            try TestSocket(
                port: port,
                from: source,
                receiveBufferByteCount: receiveBufferByteCount
            )
        }
    }

    /// Runs `body` on the first loop and returns what it found.
    func onLoop<Value: Sendable>(
        _ body: @escaping @Sendable (EventLoop) -> Value
    ) async -> Value {
        await withCheckedContinuation { continuation in
            threads[0].mailbox.post { continuation.resume(returning: body($0)) }
        }
    }

    /// Moves the clock that the plan's configuration has; what is due has fired when this returns.
    func advance(by duration: Duration) async {
        clock?.advance(by: duration)
        await onLoop { _ in }
    }

    private func stop() async {
        for thread in threads {
            thread.stop()
            await withCheckedContinuation { continuation in
                thread.whenFinished { continuation.resume() }
            }
            thread.join()
        }
    }
}

extension TestServer {
    /// Sets up the handler of each connection.
    typealias Script = @Sendable (ScriptedHandler) -> Void

    /// The settings of a server.
    struct Plan: Sendable {
        var loops = 1
        var configuration = TransportConfiguration.patient
        var budget = BufferBudget()
        var admission = Admission()
        var security: TLSAcceptor?
        var proxies: TrustedProxies?
        var script: Script = { _ in }

        /// Runs `body` with a server, then stops it and waits until every loop is closed.
        func run(_ body: (TestServer) async throws -> Void) async throws {
            let server = try await TestServer.start(self)
            do {
                try await body(server)
            } catch {
                await server.stop()
                throw error
            }
            await server.stop()
        }
    }
}
