import FeedConcurrency
import FeedTLS
import FeedTestSupport
import FeedTransport
import Testing

@Suite(.timeLimit(.minutes(10))) struct HandshakeFloodTests {
    private let files: TLSTestFiles

    init() throws { files = try TLSTestFiles() }

    @Test func halfHandshakesGiveWayToOthers() async throws {
        let limit = TransportLimits.maximumHandshakeCount
        try #require(ProcessSetup.raiseOpenFileLimit() > 3 * limit)
        try await files.plan().run { server in
            // The greedy host is 127.0.0.2; the client comes from 127.0.0.1.
            let flood = try await offload { [address = server.address] in
                try (0..<limit + 50).map { _ in
                    try TestSocket(port: address.port, from: 0x7f00_0002)
                }
            }
            let failures = try await files.waitForFailures(50)
            #expect(failures.allSatisfy { $0 == .tls(.gaveWay) })
            let client = try await server.secureClient(files.client)
            client.write([1])
            #expect(try await client.receive(1) == [1])
            #expect(await server.onLoop { $0.connectionCount } <= limit + 1)
            _ = flood
        }
    }

    @Test("half of all connections is left to others by handshakes that do not end")
    func halfHandshakesBelowTheLimitOfConnections() async throws {
        var plan = files.plan()
        plan.admission = Admission(maximumConnectionCount: 40)
        try await plan.run { server in
            // With the client 39 connections are open at most, so none of them is refused.
            let flood = try await offload { [address = server.address] in
                try (0..<38).map { _ in try TestSocket(port: address.port, from: 0x7f00_0002) }
            }
            #expect(try await files.waitForFailures(18).allSatisfy { $0 == .tls(.gaveWay) })
            let client = try await server.secureClient(files.client)
            client.write([1])
            #expect(try await client.receive(1) == [1])
            _ = flood
        }
    }

    @Test(arguments: [(10_000, 2, 1_024), (10_000, 10, 500), (1_000, 2, 250), (1, 4, 1)])
    func handshakesHaveHalfOfTheConnections(_ connections: Int, _ loops: Int, _ limit: Int) {
        let admission = Admission(maximumConnectionCount: connections)
        #expect(admission.handshakeLimit(loopCount: loops) == limit)
    }

    /// All hellos wait when the loop turns to them, that of the other host behind a hundred.
    @Test func hostsHaveEqualSharesOfTheTimeForHandshakes() async throws {
        let order = Recorder<SocketAddress.Host>()
        let acceptor = TLSAcceptor(try files.server("server")) { host, _ in order.record(host) }
        let plan = TestServer.Plan(security: acceptor)
        try await plan.run { server in
            let hosts = [UInt32](repeating: 0x7f00_0002, count: 100) + [0x7f00_0001]
            let sockets = try await offload { [address = server.address] in
                try hosts.map { try TestSocket(port: address.port, from: $0) }
            }
            while await server.onLoop({ $0.connectionCount }) < hosts.count {}
            let isBlocked = Semaphore()
            let isSent = Semaphore()
            server.threads[0].mailbox.post { _ in
                isBlocked.signal()
                isSent.wait()
            }
            // A ClientHello with nothing in it: each fails at its turn.
            let hello: [UInt8] = [22, 3, 1, 0, 4, 1, 0, 0, 0]
            try await offload {
                isBlocked.wait()
                for socket in sockets { try socket.send(hello) }
                isSent.signal()
            }
            var served: [SocketAddress.Host] = []
            while served.last != .v4(0x7f00_0001) { served.append(try await order.next()) }
            #expect(served.count <= 2)
        }
    }

    @Test func manyHandshakesAtOnceAllEnd() async throws {
        try await files.plan().run { server in
            let clients = try await withThrowingTaskGroup(of: SecureClient.self) { group in
                for _ in 0..<50 {
                    group.addTask { [files] in try await server.secureClient(files.client) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            for client in clients { client.write([5]) }
            for client in clients { #expect(try await client.receive(1) == [5]) }
            #expect(files.acceptor.securedCount == 50)
        }
    }

    @Test func handshakesOfWhichTheClientHasGoneAreForgotten() async throws {
        try await files.plan().run { server in
            let hello = try files.clientHello()
            try await offload { [address = server.address] in
                for _ in 0..<200 {
                    let socket = try TestSocket(port: address.port)
                    try socket.send(hello)
                    socket.close()
                }
            }
            // It is accepted after the others.
            let client = try await server.secureClient(files.client)
            client.write([1])
            #expect(try await client.receive(1) == [1])
            while await server.onLoop({ $0.connectionCount }) > 1 {}
            #expect(server.budget.connectionByteCount == 0)
            #expect(files.acceptor.securedCount == 1)
        }
    }

    @Test(arguments: [1, 100]) func handshakesThatWaitToBeWorkedOnEndWithTheLoop(
        count: Int
    ) async throws {
        try await files.plan().run { server in
            let hello = try files.clientHello()
            let sockets = try await offload { [address = server.address] in
                try (0..<count).map { _ in
                    let socket = try TestSocket(port: address.port)
                    try socket.send(hello)
                    return socket
                }
            }
            // The first answer shows that the loop works on them.
            _ = try await offload { try sockets[0].receiveSome(atMost: 1) }
        }
        #expect(files.acceptor.securedCount == 0)
    }

    @Test func handshakesUnderWayEndWithTheLoop() async throws {
        try await files.plan().run { server in
            let sockets = try await offload { [address = server.address] in
                try (0..<10).map { _ in try TestSocket(port: address.port) }
            }
            let hello = try files.clientHello()
            try await offload { for socket in sockets { try socket.send(Array(hello.prefix(50))) } }
            _ = await server.onLoop { $0.connectionCount }
        }
    }
}

@Suite struct HandshakeTableTests {
    private final class Peer {
        var isSilent = true
    }

    private func host(_ number: UInt32) -> HostSlot { HostSlot(.v4(number)) }

    @Test func hasRoomUpToItsLimit() {
        var table = HandshakeTable<Peer>()
        for _ in 0..<3 {
            #expect(table.connectionToGiveWay(limit: 3, isSilent: \.isSilent) == nil)
            table.add(Peer(), from: host(1))
        }
        #expect(table.connectionToGiveWay(limit: 3, isSilent: \.isSilent) != nil)
    }

    @Test func theGreediestHostGivesWay() {
        var table = HandshakeTable<Peer>()
        let peers = (0..<4).map { _ in Peer() }
        // Two hosts may meet in one slot; these do not, or the test has one host.
        let hosts = [host(1), host(2), host(2), host(3)]
        for (peer, host) in zip(peers, hosts) { table.add(peer, from: host) }
        let chosen = table.connectionToGiveWay(limit: 4, isSilent: \.isSilent)
        #expect(chosen === (Set(hosts).count == 3 ? peers[1] : chosen))
    }

    @Test func theOldestSilentOneOfAHostGivesWay() throws {
        var table = HandshakeTable<Peer>()
        let peers = (0..<3).map { _ in Peer() }
        for peer in peers { table.add(peer, from: host(1)) }
        peers[0].isSilent = false
        #expect(table.connectionToGiveWay(limit: 3, isSilent: \.isSilent) === peers[1])
        table.remove(peers[1])
        #expect(table.count == 2)
        #expect(table.connectionToGiveWay(limit: 3, isSilent: \.isSilent) == nil)
        table.add(peers[1], from: host(1))
        for peer in peers { peer.isSilent = false }
        #expect(table.connectionToGiveWay(limit: 3, isSilent: \.isSilent) === peers[0])
    }
}
