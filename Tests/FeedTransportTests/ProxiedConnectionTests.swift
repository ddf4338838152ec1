import FeedTestSupport
import FeedTransport
import Testing

/// Connections of a proxy to a listener, with and without TLS.
@Suite(.timeLimit(.minutes(2))) struct ProxiedConnectionTests {
    /// The host of a connection, and whether it is behind a proxy.
    private struct Opened: Hashable {
        let host: String
        let isProxied: Bool
    }

    private let opened = Recorder<Opened>()
    private let faults = Recorder<ProxyHeader.Fault>()

    /// A server that takes 127.0.0.2 for a proxy, and echoes.
    private func plan(_ acceptor: TLSAcceptor? = nil) throws -> TestServer.Plan {
        var plan = TestServer.Plan(security: acceptor) { [opened] handler in
            handler.opened = { connection in
                let host = SocketAddress(host: connection.peer.host, port: 0).hostText
                opened.record(Opened(host: host, isProxied: connection.isProxied))
            }
        }
        let network = try HostNetwork(parsing: "127.0.0.2")
        plan.proxies = TrustedProxies([network]) { [faults] _, fault in faults.record(fault) }
        return plan
    }

    private static let line = Array("PROXY TCP4 192.0.2.7 198.51.100.1 56324 443\r\n".utf8)
    private static let proxy: UInt32 = 0x7f00_0002

    /// Whether the server closes a connection and has sent nothing.
    private static func isClosed(_ client: TestSocket) async throws -> Bool {
        try await offload { ((try? client.receiveUntilEndOfFile()) ?? []).isEmpty }
    }

    @Test(arguments: [1, 7, 1_000]) func aClientHasItsOwnAddress(pieces: Int) async throws {
        try await plan().run { server in
            let bytes = Self.line + [1, 2, 3]
            let echo = try await offload { [address = server.address] in
                let socket = try TestSocket(port: address.port, from: Self.proxy)
                for start in stride(from: 0, to: bytes.count, by: pieces) {
                    try socket.send(Array(bytes[start..<min(start + pieces, bytes.count)]))
                }
                return try socket.receive(3)
            }
            #expect(echo == [1, 2, 3])
            #expect(try await opened.next() == Opened(host: "192.0.2.7", isProxied: true))
        }
    }

    @Test func aClientBehindAProxyIsNotOfThisMachine() async throws {
        try await plan().run { server in
            let unknown = Array("PROXY UNKNOWN\r\n".utf8)
            let local = Array("PROXY TCP4 127.0.0.1 127.0.0.1 1 2\r\n".utf8)
            for (header, host) in [(unknown, "127.0.0.2"), (local, "127.0.0.1")] {
                let echo = try await offload { [address = server.address] in
                    let socket = try TestSocket(port: address.port, from: Self.proxy)
                    try socket.send(header + [1])
                    return try socket.receive(1)
                }
                #expect(echo == [1])
                #expect(try await opened.next() == Opened(host: host, isProxied: true))
            }
        }
    }

    @Test func othersSendNoHeader() async throws {
        try await plan().run { server in
            let client = try await server.client()
            let echo = try await offload {
                try client.send(Self.line)
                return try client.receive(Self.line.count)
            }
            #expect(echo == Self.line)
            #expect(try await opened.next() == Opened(host: "127.0.0.1", isProxied: false))
        }
    }

    @Test func aProxyWithoutAHeaderIsRefused() async throws {
        try await plan().run { server in
            let client = try await server.client(from: Self.proxy)
            try await offload { try client.send([0, 0, 0, 5, 8, 1, 18, 1, 0]) }
            #expect(try await faults.next() == .noHeader)
            #expect(try await Self.isClosed(client))
            #expect(opened.events.isEmpty)
            while await server.onLoop({ $0.mailbox.connectionCount }) > 0 {}
        }
    }

    /// A health check that connects and closes is no fault; one that stays silent is.
    @Test func aHeaderHasItsTime() async throws {
        var plan = try plan()
        plan.configuration.partialReadTimeout = .seconds(5)
        plan.configuration.clock = ManualClock()
        try await plan.run { server in
            let check = try await server.client(from: Self.proxy)
            while await server.onLoop({ $0.mailbox.connectionCount }) < 1 {}
            check.close()
            while await server.onLoop({ $0.mailbox.connectionCount }) > 0 {}
            let silent = try await server.client(from: Self.proxy)
            try await offload { try silent.send(Array(Self.line.prefix(20))) }
            while await server.onLoop({ $0.mailbox.connectionCount }) < 1 {}
            await server.advance(by: .seconds(6))
            #expect(try await faults.next() == .tooSlow)
            #expect(try await Self.isClosed(silent))
            #expect(faults.events == [.tooSlow])
        }
    }

    @Test func headersComeBeforeTLS() async throws {
        let files = try TLSTestFiles()
        try await plan(files.acceptor).run { server in
            let echo = try await offload { [address = server.address] in
                let socket = try TestSocket(port: address.port, from: Self.proxy)
                try socket.send(Self.line)
                let client = try RawTLSClient(socket, files.client)
                try client.shakeHandsAndSend([5])
                return try client.receive(1)
            }
            #expect(echo == [5])
            #expect(try await opened.next() == Opened(host: "192.0.2.7", isProxied: true))
        }
    }

    @Test func waitingProxiesEndWithTheLoop() async throws {
        try await plan().run { server in
            var clients: [TestSocket] = []
            for _ in 0..<5 {
                let client = try await server.client(from: Self.proxy)
                try await offload { try client.send([80, 82]) }
                clients.append(client)
            }
            while await server.onLoop({ $0.mailbox.connectionCount }) < 5 {}
            // A client that goes is closed, and its connection is counted no more.
            withExtendedLifetime(clients) {}
        }
        #expect(opened.events.isEmpty)
        #expect(faults.events.isEmpty)
    }
}

@Suite struct ProxyHeaderTests {
    static let signature: [UInt8] = [13, 10, 13, 10, 0, 13, 10, 81, 85, 73, 84, 10]

    static func block(_ command: UInt8, _ family: UInt8, _ rest: [UInt8]) -> [UInt8] {
        signature + [command, family, UInt8(rest.count >> 8), UInt8(rest.count & 255)] + rest
    }

    /// Reads a header as a socket gives it: as many bytes as it asks for, or fewer.
    ///
    /// - Returns: The source, and the bytes that were not taken.
    private static func read(
        _ bytes: [UInt8],
        atMost: () -> Int = { .max }
    ) throws(ProxyHeader.Fault) -> (source: ProxyHeader.Source?, rest: Int) {
        var header = ProxyHeader()
        var place = 0
        while header.missingByteCount > 0, place < bytes.count {
            let end = min(place + min(header.missingByteCount, max(1, atMost())), bytes.count)
            let source = try header.append(Array(bytes[place..<end]))
            place = end
            if let source { return (source, bytes.count - place) }
        }
        return (nil, bytes.count - place)
    }

    private static func host(_ text: String) throws -> SocketAddress.Host {
        try SocketAddress(parsing: text.contains(":") ? "[\(text)]:0" : "\(text):0").host
    }

    @Test(arguments: [
        ("PROXY TCP4 192.0.2.1 198.51.100.1 56324 443\r\n", "192.0.2.1", 56_324 as UInt16),
        ("PROXY TCP4 255.255.255.255 0.0.0.0 0 65535\r\n", "255.255.255.255", 0),
        ("PROXY TCP6 2001:db8::1 ::1 1 2\r\n", "2001:db8::1", 1),
        ("PROXY TCP6 ::ffff:192.0.2.1 ::1 65535 2\r\n", "192.0.2.1", 65_535),
    ]) func readsLines(line: String, host: String, port: UInt16) throws {
        let client = SocketAddress(host: try Self.host(host), port: port)
        let (source, rest) = try Self.read(Array(line.utf8) + [0, 0, 0, 5])
        #expect(source == .client(client))
        #expect(rest == 4)
    }

    @Test(arguments: [
        "PROXY UNKNOWN\r\n", "PROXY UNKNOWN ffff:f...f:ffff ffff:f...f:ffff 65535 65535\r\n",
    ]) func aLineWithoutAClientIsTheProxys(line: String) throws {
        let (source, rest) = try Self.read(Array(line.utf8) + [1])
        #expect(source == .proxy)
        #expect(rest == 1)
    }

    @Test(arguments: [
        "PROXY\r\n\r\n\r\n\r\n\r\n", "PROXY TCP4 192.0.2.1 198.51.100.1 56324\r\n",
        "PROXY TCP4 192.0.2.1  198.51.100.1 1 2\r\n", "PROXY TCP4 ::1 ::1 1 2\r\n",
        "PROXY TCP6 192.0.2.1 192.0.2.1 1 2\r\n", "PROXY TCP4 192.0.2.1 192.0.2.1 1 65536\r\n",
        "PROXY TCP4 192.0.2.1 192.0.2.1 +1 2\r\n", "PROXY TCP4 192.0.2.1 192.0.2.1 1 2 \r\n",
        "PROXY UDP4 192.0.2.1 192.0.2.1 1 2\r\n", "PROXY TCP4 192.0.2 192.0.2.1 1 2\r\n",
        "PROXY TCP4 192.0.2.1\u{0} 192.0.2.1 1 2\r\n", "PROXY TCP4 1\r2 3 4 5\r\n",
    ]) func refusesLines(line: String) {
        #expect(throws: ProxyHeader.Fault.self) { try Self.read(Array(line.utf8)) }
    }

    @Test(arguments: [
        Array("GET / HTTP/1.1\r\n".utf8), [0, 0, 0, 5, 8, 1, 18, 1, 0], [22, 3, 1, 2, 0, 1],
        Array("PROXIES ".utf8), [13, 10, 13, 10, 1],
    ]) func refusesWhatIsNoHeader(bytes: [UInt8]) {
        #expect(throws: ProxyHeader.Fault.noHeader) { try Self.read(bytes) }
    }

    @Test func refusesLongHeaders() throws {
        let line = Array("PROXY UNKNOWN ".utf8) + [UInt8](repeating: 65, count: 200)
        #expect(throws: ProxyHeader.Fault.tooLong(limit: 107)) { try Self.read(line) }
        let limit = ProxyHeader.maximumBlockByteCount
        let longest = [UInt8](repeating: 0, count: limit - 16)
        #expect(try Self.read(Self.block(0x20, 0, longest)).source == .proxy)
        #expect(throws: ProxyHeader.Fault.tooLong(limit: limit)) {
            try Self.read(Self.block(0x20, 0, longest + [0]))
        }
    }

    @Test(arguments: [
        (0x20 as UInt8, 0x00 as UInt8, 0, true), (0x20, 0x11, 12, true), (0x21, 0x00, 0, true),
        (0x21, 0x31, 216, true), (0x21, 0x32, 0, true), (0x21, 0x11, 11, false),
        (0x21, 0x21, 35, false), (0x21, 0x12, 12, false), (0x21, 0x22, 36, false),
        (0x22, 0x11, 12, false), (0x11, 0x11, 12, false), (0x31, 0x11, 12, false),
        (0x21, 0x41, 12, false),
    ]) func readsBlocksWithoutAClient(command: UInt8, family: UInt8, count: Int, isTaken: Bool) {
        let bytes = Self.block(command, family, [UInt8](repeating: 7, count: count)) + [1, 2]
        let read = Result { () throws(ProxyHeader.Fault) in try Self.read(bytes) }
        #expect((try? read.get().source) == (isTaken ? .proxy : nil))
        if isTaken { #expect((try? read.get().rest) == 2) }
    }

    /// Headers of random clients in random pieces, whole and damaged.
    @Test(arguments: TestEnvironment.seeds(1...20)) func readsRandomHeaders(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<2_000 {
            let isVersion6 = random.oneIn(2)
            let address = random.bytes(isVersion6 ? 16 : 4)
            let port = UInt16.random(in: 0 ... .max, using: &random)
            func number(_ bytes: some Sequence<UInt8>) -> UInt64 {
                bytes.reduce(0) { $0 << 8 | UInt64($1) }
            }
            let host =
                isVersion6
                ? SocketAddress.Host(
                    high: number(address.prefix(8)),
                    low: number(address.suffix(8))
                )
                : .v4(UInt32(number(address)))
            let client = SocketAddress(host: host, port: port)
            var bytes: [UInt8]
            if random.oneIn(2) {
                let text = client.hostText
                let family = text.contains(":") ? "TCP6" : "TCP4"
                bytes = Array("PROXY \(family) \(text) \(text) \(port) 1\r\n".utf8)
            } else {
                let ports = [UInt8(port >> 8), UInt8(port & 255), 0, 1]
                let extra = random.bytes(Int.random(in: 0..<300, using: &random))
                let rest = address + address + ports + extra
                bytes = Self.block(0x21, isVersion6 ? 0x21 : 0x11, rest)
            }
            let headerCount = bytes.count
            bytes += random.bytes(Int.random(in: 0..<20, using: &random))
            var pieces = random
            let read = try Self.read(bytes) { Int.random(in: 1...40, using: &pieces) }
            #expect(read.source == .client(client), "seed \(seed)")
            #expect(read.rest == bytes.count - headerCount, "seed \(seed)")
            for _ in 0..<3 {
                bytes[Int.random(in: 0..<headerCount, using: &random)] ^= random.bytes(1)[0]
            }
            // It is refused, waited for or read, and no more bytes are taken than the longest header has.
            let damaged = try? Self.read(bytes) { Int.random(in: 1...40, using: &pieces) }
            let taken = bytes.count - (damaged?.rest ?? bytes.count)
            #expect(taken <= ProxyHeader.maximumBlockByteCount, "seed \(seed)")
        }
    }

    @Test(arguments: [
        ("10.0.0.0/8", ["10.0.0.0", "10.255.255.255"], ["11.0.0.0", "9.255.255.255", "::1"]),
        ("127.0.0.1", ["127.0.0.1"], ["127.0.0.2"]), ("0.0.0.0/0", ["1.2.3.4"], ["::1"]),
        ("fd00::/8", ["fd12::1"], ["fe00::1", "10.0.0.1"]),
        ("2001:db8::/65", ["2001:db8::1"], ["2001:db8::8000:0:0:1", "2001:db9::1"]),
        ("::1", ["::1"], ["::2", "127.0.0.1"]), ("::ffff:10.0.0.1", ["10.0.0.1"], ["10.0.0.2"]),
    ]) func networksHaveTheirHosts(text: String, inside: [String], outside: [String]) throws {
        let network = try HostNetwork(parsing: text)
        for host in inside { #expect(network.contains(try Self.host(host)), "\(host)") }
        for host in outside { #expect(!network.contains(try Self.host(host)), "\(host)") }
    }

    @Test(arguments: [
        "", "/8", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "10.0.0.0/8/8", "10.0.0.1/8", "host/8",
        "fd00::/129", "fd00::1/64", "10.0.0", "[::1]/128",
    ]) func refusesWhatIsNoNetwork(text: String) {
        #expect(throws: TransportError.self) { try HostNetwork(parsing: text) }
    }
}
