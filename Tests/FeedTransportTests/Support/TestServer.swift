import FeedTestSupport
import FeedTransport
import Foundation
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

    func client(
        from source: UInt32? = nil,
        receiveBufferByteCount: Int32? = nil
    ) async throws -> TestSocket {
        let port = address.port
        return try await offload {
            try TestSocket(port: port, from: source, receiveBufferByteCount: receiveBufferByteCount)
        }
    }

    /// Runs `body` on the first loop and returns what it found.
    func onLoop<Value: Sendable>(_ body: @escaping @Sendable (EventLoop) -> Value) async -> Value {
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
    typealias Script = @Sendable (ScriptedHandler) -> Void

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

/// Holds a loop's thread, which is no thread of Swift's pool, until the test lets it go.
final class Gate: Sendable {
    private let isOpen = Atomic<Bool>(false)

    func open() { isOpen.store(true, ordering: .releasing) }

    func wait() { while !isOpen.load(ordering: .acquiring) {} }
}

extension TestServer {
    /// Holds the first loop at a gate, and returns once it stands there: what comes before the gate is
    /// opened is ready at once.
    func holdLoop() async throws -> Gate {
        let (gate, arrival) = (Gate(), Gate())
        threads[0].mailbox.post { _ in
            arrival.open()
            gate.wait()
        }
        try await offload { arrival.wait() }
        return gate
    }
}

/// The events on the loops of a test, in order, to be awaited one by one.
// The lock is one that the thread sanitizer knows.
final class Recorder<Event: Sendable>: @unchecked Sendable {
    private let stream: AsyncStream<Event>
    private let continuation: AsyncStream<Event>.Continuation
    private let lock = NSLock()
    private var all: [Event] = []

    init() { (stream, continuation) = AsyncStream.makeStream() }

    /// Adds an event; from any thread.
    func record(_ event: Event) {
        lock.withLock { all.append(event) }
        continuation.yield(event)
    }

    /// The next event that was not awaited yet.
    func next() async throws -> Event {
        var iterator = stream.makeAsyncIterator()
        guard let event = await iterator.next() else { throw CancellationError() }
        return event
    }

    var events: [Event] { lock.withLock { all } }
}

/// A handler that does what a test says; by default it echoes, and closes when its peer has.
final class ScriptedHandler: ConnectionHandler {
    var opened: (TCPConnection) -> Void = { _ in }
    var received: (TCPConnection, [UInt8]) -> ReadProgress = { connection, bytes in
        connection.write(bytes)
        return ReadProgress(consumedByteCount: bytes.count)
    }
    var ended: (TCPConnection) -> Void = { $0.closeAfterFlush() }
    var closed: (TCPConnection, CloseReason) -> Void = { _, _ in }

    init(_ script: (ScriptedHandler) -> Void = { _ in }) { script(self) }

    func connectionOpened(_ connection: TCPConnection) { opened(connection) }

    func connection(_ connection: TCPConnection, received bytes: RawSpan) -> ReadProgress {
        received(connection, unsafe bytes.withUnsafeBytes { unsafe Array($0) })
    }

    func connectionEndedInput(_ connection: TCPConnection) { ended(connection) }

    func connectionClosed(_ connection: TCPConnection, reason: CloseReason) {
        closed(connection, reason)
    }
}

extension TransportConfiguration {
    /// The defaults without the deadlines that a slow machine misses: for tests of anything else.
    static var patient: TransportConfiguration {
        var configuration = TransportConfiguration()
        configuration.idleTimeout = nil
        configuration.partialReadTimeout = nil
        configuration.writeProgressTimeout = nil
        configuration.unacknowledgedTimeout = .seconds(3_600)
        return configuration
    }
}

extension EventLoopThread {
    convenience init(
        _ configuration: TransportConfiguration = TransportConfiguration(),
        start: @escaping @Sendable (EventLoop) -> Void
    ) throws(TransportError) {
        let budget = BufferBudget()
        try self.init(name: "test", configuration: configuration, budget: budget, start: start)
    }
}
