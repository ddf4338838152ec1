import FeedProto
import FeedService
import FeedTestSupport
import FeedTransport
import Testing

/// Clients behind a proxy, as limits and roles see them.
@Suite(.timeLimit(.minutes(2))) struct ProxyTests {
    /// A client whose proxy is on this machine.
    private static func client(_ port: UInt16, _ address: String) throws -> WireClient {
        let client = try WireClient(port: port)
        try client.socket.send(Array("PROXY TCP4 \(address) 127.0.0.1 1 2\r\n".utf8))
        return client
    }

    @Test("T-PROXY-1: limits count a proxy's connections for the clients that it names")
    func limitsSeeTheClient() async throws {
        let network = try HostNetwork(parsing: "127.0.0.0/8")
        try await withTestKeys {
            $0.proxies = [network]
            $0.limits.identities.connectionCount = 2
        } _: { port, _ in
            var open: [WireClient] = []
            for host in ["192.0.2.1", "192.0.2.2", "127.0.0.1"] {
                for _ in 0..<2 {
                    let client = try Self.client(port, host)
                    #expect(try client.call(.ping(PingRequest())).status == nil)
                    open.append(client)
                }
                let third = try Self.client(port, host)
                #expect(try third.receive()?.status?.reason == .tooManyConnections)
            }
        }
    }

    @Test(
        "T-PROXY-2: nobody behind a proxy of this machine is of this machine",
        arguments: ["TCP4 127.0.0.1 127.0.0.1 1 2", "TCP4 192.0.2.1 127.0.0.1 1 2", "UNKNOWN"]
    )
    func nobodyIsLocal(header: String) async throws {
        let create = Request.createFeed(CreateFeedRequest(feed: Feed(name: "new")))
        let network = try HostNetwork(parsing: "127.0.0.2")
        try await withService {
            $0.proxies = [network]
        } _: { port in
            let client = try WireClient(port: port, from: 0x7f00_0002)
            try client.socket.send(Array("PROXY \(header)\r\n".utf8))
            #expect(try client.call(create).status?.code == .permissionDenied)
            // A caller of this machine without a proxy may.
            #expect(try WireClient(port: port).call(create).status == nil)
        }
    }

    @Test("T-PROXY-3: a proxy that sends no header is refused, and a line says so")
    func aProxyWithoutAHeaderIsRefused() async throws {
        let lines = LoggedLines()
        let network = try HostNetwork(parsing: "127.0.0.2")
        try await withService(logger: lines.logger) {
            $0.proxies = [network]
        } _: { port in
            let client = try WireClient(port: port, from: 0x7f00_0002)
            try client.send(.ping(PingRequest()))
            #expect((try? client.receive()) == nil)
        }
        let line = "the proxy 127.0.0.2: it sent no header of the PROXY protocol."
        #expect(lines.all.contains { $0.contains(line) })
    }
}
