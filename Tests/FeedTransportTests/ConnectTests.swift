import FeedTestSupport
import FeedTransport
import Glibc
import Testing

@Suite(.timeLimit(.minutes(10))) struct ConnectTests {
    private static var configuration: TransportConfiguration {
        var configuration = TransportConfiguration()
        configuration.idleTimeout = nil
        return configuration
    }

    /// Connects from a loop of its own and returns the events of the handler.
    private func connect(
        to address: SocketAddress,
        timeout: Duration = .seconds(20),
        clock: ManualClock? = nil,
        _ script: @escaping TestServer.Script = { _ in }
    ) async throws -> [String] {
        let events = Recorder<String>()
        var configuration = Self.configuration
        configuration.clock = clock
        let thread = try EventLoopThread(
            name: "client",
            configuration: configuration,
            budget: BufferBudget()
        ) { loop in
            let handler = ScriptedHandler { handler in
                handler.opened = { _ in events.record("opened") }
                handler.closed = { connection, reason in
                    events.record("closed \(reason)")
                    connection.loop.stop()
                }
                script(handler)
            }
            do throws(TransportError) {
                try loop.connect(to: address, timeout: timeout, handler: handler)
            } catch {
                events.record("threw \(error)")
                loop.stop()
            }
        }
        // The attempt has begun before a loop sees its clock move.
        clock?.advance(by: timeout + Self.configuration.sweepInterval * 2)
        try await offload { thread.join() }
        return events.events
    }

    @Test func exchangesBytesWithAServer() async throws {
        let answers = Recorder<[UInt8]>()
        try await TestServer.Plan().run { server in
            let events = try await connect(to: server.address) { handler in
                handler.opened = { connection in
                    #expect(connection.peer == server.address)
                    connection.write([1, 2, 3])
                }
                handler.received = { connection, bytes in
                    answers.record(bytes)
                    connection.closeAfterFlush()
                    return ReadProgress(consumedByteCount: bytes.count)
                }
            }
            #expect(answers.events == [[1, 2, 3]])
            #expect(events == ["closed local"])
        }
    }

    @Test func notifiesOfARefusal() async throws {
        let port = try ReservedPort()
        defer { withExtendedLifetime(port) {} }
        let events = try await connect(to: .loopback(port: port.number))
        let refused = CloseReason.connectFailed(.connectionRefused)
        #expect(events == ["closed \(refused)"])
    }

    @Test func givesUpOnAPeerThatDoesNotAnswer() async throws {
        let silent = try SilentPeer()
        defer { silent.close() }
        let events = try await connect(
            to: silent.address,
            timeout: .seconds(5),
            clock: ManualClock()
        )
        let timedOut = CloseReason.connectFailed(.timedOut)
        #expect(events == ["closed \(timedOut)"])
    }

    @Test func notifiesOfAPeerThatResets() async throws {
        try await TestServer.Plan { handler in
            handler.received = { connection, _ in
                connection.reset()
                return ReadProgress(consumedByteCount: 0)
            }
        }.run { server in
            let events = try await connect(to: server.address) { handler in
                handler.opened = { $0.write([1]) }
            }
            #expect(events == ["closed \(CloseReason.reset)"])
        }
    }

    @Test func closesAnAttemptThatItsLoopStopsIn() async throws {
        let silent = try SilentPeer()
        defer { silent.close() }
        let address = silent.address
        let closed = Recorder<CloseReason>()
        let thread = try EventLoopThread(
            name: "stopping",
            configuration: Self.configuration,
            budget: BufferBudget()
        ) { loop in
            let handler = ScriptedHandler { handler in
                handler.closed = { _, reason in closed.record(reason) }
            }
            try? loop.connect(to: address, timeout: .seconds(60), handler: handler)
            loop.mailbox.post { $0.stop() }
        }
        try await offload { thread.join() }
        #expect(closed.events == [.local])
    }
}

/// A listening socket whose queue is full, so that the kernel answers no further connection.
private final class SilentPeer {
    let address: SocketAddress
    private var sockets: [TestSocket] = []
    private let descriptor: Int32

    init() throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var bound = sockaddr_in()
        bound.sin_family = sa_family_t(AF_INET)
        bound.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        _ = unsafe withUnsafeMutablePointer(to: &bound) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { raw in
                _ = unsafe bind(descriptor, raw, length)
                _ = listen(descriptor, 0)
                return unsafe getsockname(descriptor, raw, &length)
            }
        }
        address = .loopback(port: UInt16(bigEndian: bound.sin_port))
        // A queue of 0 holds one.
        sockets.append(try TestSocket(port: address.port))
    }

    func close() {
        _ = Glibc.close(descriptor)
    }
}
