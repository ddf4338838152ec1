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
