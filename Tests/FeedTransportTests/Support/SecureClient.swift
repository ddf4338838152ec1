import FeedConcurrency
import FeedTLS
import FeedTransport

/// A client over TLS, with a loop of its own.
final class SecureClient: Sendable {
    private enum Event: Sendable {
        case opened
        case received([UInt8])
        case closed(CloseReason)
    }

    /// Holds the connection for its loop.
    private final class Holder: Sendable {
        private let connection = Lock<Transferred<TCPConnection>?>(nil)

        /// For the connection's loop only.
        var held: TCPConnection? { connection.withLock { $0 }?.value }

        func hold(_ connection: TCPConnection) {
            let transferred = Transferred(connection)
            self.connection.withLock { $0 = transferred }
        }
    }

    private let thread: EventLoopThread
    private let connection: Holder
    private let events = Recorder<Event>()
    private let unread = Lock<[UInt8]>([])

    /// Connects; throws why it could not.
    init(to address: SocketAddress, _ target: TLSTarget) async throws {
        connection = Holder()
        thread = try EventLoopThread(
            name: "test-client",
            configuration: .patient,
            budget: BufferBudget()
        ) { _ in }
        thread.mailbox.post { [events, connection] loop in
            let handler = ScriptedHandler { handler in
                handler.opened = { opened in
                    connection.hold(opened)
                    events.record(.opened)
                }
                handler.received = { _, bytes in
                    events.record(.received(bytes))
                    return ReadProgress(consumedByteCount: bytes.count)
                }
                handler.closed = { _, reason in events.record(.closed(reason)) }
            }
            do throws(TransportError) {
                try loop.connect(
                    to: address,
                    timeout: .seconds(20),
                    security: target,
                    handler: handler
                )
            } catch {
                events.record(.closed(.connectFailed(error)))
            }
        }
        if case .closed(let reason) = try await events.next() {
            thread.stop()
            guard case .connectFailed(let error) = reason else { throw TransportError.endOfFile }
            throw error
        }
    }

    deinit { thread.stop() }

    func write(_ bytes: [UInt8]) { onConnection { $0.write(bytes) } }

    func close() { onConnection { $0.reset() } }

    func closeAfterFlush() { onConnection { $0.closeAfterFlush() } }

    /// The next bytes, exactly so many.
    func receive(_ count: Int) async throws -> [UInt8] {
        while unread.withLock({ $0.count }) < count {
            switch try await events.next() {
            case .opened: break
            case .received(let bytes): unread.withLock { $0 += bytes }
            case .closed: throw TransportError.endOfFile
            }
        }
        return unread.withLock { bytes in
            defer { bytes.removeFirst(count) }
            return Array(bytes.prefix(count))
        }
    }

    /// How the connection has ended, waiting for it.
    func closeReason() async throws -> CloseReason {
        while true {
            if case .closed(let reason) = try await events.next() { return reason }
        }
    }

    private func onConnection(_ body: @escaping @Sendable (TCPConnection) -> Void) {
        let connection = connection
        thread.mailbox.post { _ in
            if let held = connection.held { body(held) }
        }
    }
}

extension TestServer {
    /// A client that has connected.
    func secureClient(
        _ context: TLSContext,
        host: String = "localhost"
    ) async throws -> SecureClient {
        try await SecureClient(to: address, TLSTarget(context: context, host: host))
    }
}
