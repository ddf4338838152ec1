import FeedTestSupport
import FeedTransport
import Glibc
import Testing

@Suite(.timeLimit(.minutes(10))) struct EchoTests {
    @Test(arguments: 0..<6)
    func givesBackWhatItGotHoweverItWasCut(seed: UInt64) async throws {
        try await TestServer.Plan().run { server in
            let socket = try await server.client()
            let echoed = try await offload {
                var random = SeededGenerator(seed: seed)
                var sent: [UInt8] = []
                var received: [UInt8] = []
                for _ in 0..<200 {
                    let bytes = random.bytes(Int.random(in: 1...3_000, using: &random))
                    try socket.send(bytes)
                    sent += bytes
                    let count = Int.random(in: 0...sent.count - received.count, using: &random)
                    received += try socket.receive(count)
                }
                socket.shutDownSending()
                received += try socket.receiveUntilEndOfFile()
                return sent == received
            }
            #expect(echoed, "seed \(seed)")
        }
    }

    @Test func leavesAnIncompleteTailForTheNextBytes() async throws {
        // Frames of one length byte and as many others; the answer is a frame's sum.
        try await TestServer.Plan { handler in
            handler.received = { connection, bytes in
                var consumed = 0
                while consumed < bytes.count, bytes.count > consumed + Int(bytes[consumed]) {
                    let end = consumed + 1 + Int(bytes[consumed])
                    connection.write([bytes[consumed + 1..<end].reduce(0, &+)])
                    consumed = end
                }
                return ReadProgress(consumedByteCount: consumed)
            }
        }.run { server in
            let socket = try await server.client()
            let sums = try await offload {
                for byte: UInt8 in [3, 1, 2, 3, 0, 2, 9] { try socket.send([byte]) }
                try socket.send([9, 1, 7, 200])
                try socket.send([UInt8](repeating: 1, count: 200) + [5, 1])
                socket.shutDownSending()
                return try socket.receiveUntilEndOfFile()
            }
            #expect(sums == [6, 0, 18, 7, 200])
        }
    }

    @Test func finishesAPeerThatClosedItsSideFirst() async throws {
        let reasons = Recorder<CloseReason>()
        try await TestServer.Plan { handler in
            handler.closed = { _, reason in reasons.record(reason) }
        }.run { server in
            let socket = try await server.client()
            let answer = try await offload {
                try socket.send([1, 2, 3])
                socket.shutDownSending()
                return try socket.receiveUntilEndOfFile()
            }
            #expect(answer == [1, 2, 3])
            #expect(try await reasons.next() == .peerClosed)
        }
    }

    @Test func notifiesOfTheEndAfterAllThatCameBeforeWasHandled() async throws {
        let events = Recorder<String>()
        // One byte an iteration: the end of file is there long before the last one.
        try await TestServer.Plan { handler in
            handler.received = { connection, bytes in
                events.record("byte \(bytes[0])")
                return ReadProgress(consumedByteCount: 1, wantsIteration: bytes.count > 1)
            }
            handler.ended = { connection in
                events.record("end")
                connection.closeAfterFlush()
            }
            handler.closed = { _, reason in events.record("\(reason)") }
        }.run { server in
            let socket = try await server.client()
            _ = try await offload {
                try socket.send([0, 1, 2, 3])
                socket.shutDownSending()
                return try socket.receiveUntilEndOfFile()
            }
            let wanted = ["byte 0", "byte 1", "byte 2", "byte 3", "end", "peerClosed"]
            for event in wanted { #expect(try await events.next() == event) }
        }
    }

    @Test func showsAgainWhatAHandlerPutOff() async throws {
        let events = Recorder<Int>()
        try await TestServer.Plan { handler in
            var calls = 0
            handler.received = { connection, bytes in
                calls += 1
                events.record(bytes.count)
                guard calls == 3 else {
                    connection.requestIteration()
                    return ReadProgress(consumedByteCount: 0)
                }
                connection.write(bytes)
                return ReadProgress(consumedByteCount: bytes.count)
            }
        }.run { server in
            let socket = try await server.client()
            let answer = try await offload {
                try socket.send([5, 6])
                return try socket.receive(2)
            }
            #expect(answer == [5, 6])
            #expect(events.events == [2, 2, 2])
        }
    }
}

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
        let thread = try EventLoopThread(configuration) { loop in
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
        let thread = try EventLoopThread(Self.configuration) { loop in
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

    func close() { _ = Glibc.close(descriptor) }
}

/// Names become addresses on a thread that delays no loop.
@Suite(.timeLimit(.minutes(10))) struct HostLookupTests {
    /// Looks a name up from a loop, and ends the loop with the answer.
    private func answer(
        to name: String,
        _ lookup: HostLookup = .system
    ) async throws
        -> HostLookup.Answer
    {
        let answers = Recorder<HostLookup.Answer>()
        let thread = try EventLoopThread { loop in
            do {
                try lookup.start(name, port: 80) { [mailbox = loop.mailbox] answer in
                    answers.record(answer)
                    mailbox.post { $0.stop() }
                }
            } catch {
                Issue.record(error)
                loop.stop()
            }
        }
        try await offload { thread.join() }
        return try await answers.next()
    }

    @Test func findsTheAddressesOfThisMachine() async throws {
        let addresses = try await answer(to: "localhost").get()
        #expect(!addresses.isEmpty)
        #expect(addresses.allSatisfy { $0.isLoopback && $0.port == 80 })
        #expect(Set(addresses).count == addresses.count)
    }

    @Test func namesTheHostThatHasNone() async throws {
        guard
            case .failure(.unknownHost(let name, let reason)) = try await answer(to: "feed.invalid")
        else {
            Issue.record("A reserved name has an address.")
            return
        }
        #expect(name == "feed.invalid")
        #expect(reason.hasSuffix("."))
    }

    @Test func aLoopThatStopsDoesNotWaitForALookup() async throws {
        let gate = Gate()
        let blocked = HostLookup { _, _ in
            gate.wait()
            return .success([])
        }
        let thread = try EventLoopThread { loop in
            try? blocked.start("any", port: 1) { [mailbox = loop.mailbox] _ in
                if mailbox.post({ _ in Issue.record("A stopped loop got an answer.") }) {
                    Issue.record("A stopped loop took an answer.")
                }
            }
            loop.stop()
        }
        try await offload { thread.join() }
        gate.open()
    }
}

@Suite struct SocketAddressTests {
    @Test(arguments: [
        "127.0.0.1:7433", "0.0.0.0:0", "255.255.255.255:65535", "[::1]:7433", "[::]:1",
        "[2001:db8::ff]:80", "[::fffe:7f00:1]:9",
    ])
    func readsWhatItWrites(text: String) throws {
        #expect(try SocketAddress(parsing: text).description == text)
    }

    @Test func takesLocalhostForTheLoopbackAddress() throws {
        #expect(try SocketAddress(parsing: "localhost:80") == .loopback(port: 80))
    }

    @Test("an IPv4-mapped address is the IPv4 address")
    func takesTheIPv4AddressOfAMappedOne() throws {
        let address = try SocketAddress(parsing: "[::ffff:127.0.0.1]:9")
        #expect(address == .loopback(port: 9))
        #expect(address.isLoopback)
        #expect(try SocketAddress(parsing: "[::ffff:7f00:1]:9") == .loopback(port: 9))
        let other = try SocketAddress(parsing: "[::FFFF:10.0.0.1]:9")
        #expect(other.description == "10.0.0.1:9")
        #expect(!other.isLoopback)
        #expect(SocketAddress.Host(high: 1, low: 0xffff_7f00_0001) != .v4(0x7f00_0001))
    }

    @Test(arguments: [
        ("7433", "the port is missing, as in 127.0.0.1:7433"),
        ("[::1]", "the port is missing, as in [::1]:7433"),
        ("127.0.0.1:", "the port must be a number from 0 to 65535"),
        ("127.0.0.1:65536", "the port must be a number from 0 to 65535"),
        ("127.0.0.1:+1", "the port must be a number from 0 to 65535"),
        ("::1:7433", "an IPv6 address stands in brackets, as in [::1]:7433"),
        ("example.org:80", "\"example.org\" is not an IPv4 address or localhost"),
        ("127.0.0.1\0x:80", "\"127.0.0.1\0x\" is not an IPv4 address or localhost"),
        (":80", "\"\" is not an IPv4 address or localhost"),
        ("[127.0.0.1]:80", "\"127.0.0.1\" is not an IPv6 address"),
        ("[localhost]:80", "\"localhost\" is not an IPv6 address"),
    ])
    func saysWhatIsWrong(text: String, reason: String) {
        #expect(throws: TransportError.invalidAddress(text, reason)) {
            try SocketAddress(parsing: text)
        }
    }

    @Test(arguments: [
        "feed.example.org:80", "Feed:1", "a-b_c.d:1", "example.org.:7433", "1a:1", "127.0.0.1:1",
        "[::1]:1",
    ])
    func readsEndpoints(text: String) throws {
        #expect(try Endpoint(parsing: text).description == text)
    }

    @Test func tellsNamesFromAddresses() throws {
        #expect(try Endpoint(parsing: "localhost:1") == .address(.loopback(port: 1)))
        #expect(
            try Endpoint(parsing: "10.0.0.1:1") == .address(SocketAddress(parsing: "10.0.0.1:1"))
        )
        #expect(try Endpoint(parsing: "local:1") == .name("local", port: 1))
    }

    @Test(arguments: [
        "300.0.0.1", "1.2.3", "7", "", ".", "a..b", "-a", "a b", "a\0b", "a/b",
        String(repeating: "a", count: 64), String(repeating: "a.", count: 127),
    ])
    func refusesWhatIsNoHostName(host: String) {
        let reason = "\"\(host)\" is not an IPv4 address or a host name"
        #expect(throws: TransportError.invalidAddress("\(host):80", reason)) {
            try Endpoint(parsing: "\(host):80")
        }
    }

    @Test(arguments: [
        ("127.0.0.1:1", true), ("127.255.0.9:1", true), ("128.0.0.1:1", false),
        ("0.0.0.0:1", false),
        ("[::1]:1", true), ("[::2]:1", false), ("[::ffff:127.0.0.1]:1", true),
        ("[::ffff:10.0.0.1]:1", false), ("[fe80::1]:1", false),
    ])
    func knowsWhatOnlyThisMachineReaches(text: String, isLoopback: Bool) throws {
        #expect(try SocketAddress(parsing: text).isLoopback == isLoopback)
    }
}
