import FeedTLS
import FeedTestSupport
import FeedTransport
import Testing

@Suite(.timeLimit(.minutes(10))) struct TLSEchoTests {
    private let files: TLSTestFiles

    init() throws { files = try TLSTestFiles() }

    @Test(arguments: [1, 300, 70_000, 1_000_000]) func givesBackWhatItGot(count: Int) async throws {
        try await files.plan().run { server in
            var random = SeededGenerator(seed: UInt64(count))
            let sent = random.bytes(count)
            let client = try await server.secureClient(files.client)
            client.write(sent)
            #expect(try await client.receive(count) == sent)
            client.close()
            #expect(try await client.closeReason() == .local)
        }
    }

    @Test(arguments: [1, 1_000, 60_000])
    func answersWhatComesWithTheEndOfTheHandshake(count: Int) async throws {
        try await files.plan().run { server in
            let socket = try await server.client()
            let sent = [UInt8](repeating: 7, count: count)
            let received = try await offload { [files] in
                let client = try RawTLSClient(socket, files.client)
                try client.shakeHandsAndSend(sent)
                return try client.receive(count)
            }
            #expect(received == sent)
        }
    }

    @Test func showsShortReadsTogetherAsWithoutTLS() async throws {
        var plan = files.plan()
        plan.configuration.showsReadsTogether = true
        try await plan.run { server in
            let client = try await server.secureClient(files.client)
            for byte in 0..<20 as Range<UInt8> {
                client.write([byte])
                #expect(try await client.receive(1) == [byte])
            }
        }
    }

    @Test func tellsTheHandlerOfTheEndAndClosesBothSides() async throws {
        let reasons = Recorder<CloseReason>()
        try await files.plan { handler in
            handler.closed = { _, reason in reasons.record(reason) }
        }.run { server in
            let client = try await server.secureClient(files.client)
            client.write([1, 2, 3])
            client.closeAfterFlush()
            #expect(try await client.closeReason() == .local)
            #expect(try await reasons.next() == .peerClosed)
            #expect(files.acceptor.securedCount == 1)
            #expect(files.acceptor.failedCount == 0)
        }
    }

    @Test func makesTheHandlerOnlyForASecuredConnection() async throws {
        let opened = Recorder<Bool>()
        try await files.plan { handler in
            handler.opened = { opened.record($0.isSecured) }
        }.run { server in
            let silent = try await server.client()
            let client = try await server.secureClient(files.client)
            #expect(try await opened.next())
            #expect(opened.events.count == 1)
            #expect(server.counters.acceptedCount == 1)
            client.close()
            _ = silent
        }
    }

    @Test(arguments: [
        Array("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8),
        [UInt8](repeating: 0, count: 10_000),
        // The header of a handshake's record whose length is more than any.
        [0x16, 3, 1, 0xff, 0xff] + [UInt8](repeating: 1, count: 300),
    ]) func closesAConnectionThatSendsNoTLS(bytes: [UInt8]) async throws {
        try await files.plan().run { server in
            let socket = try await server.client()
            try await offload {
                try socket.send(bytes)
                // An alert at most, and then the end or a reset.
                while let some = try? socket.receiveSome(atMost: 100), !some.isEmpty {}
            }
            try await files.waitForFailures(1)
            let client = try await server.secureClient(files.client)
            client.write([7])
            #expect(try await client.receive(1) == [7])
        }
    }

    @Test func closesAConnectionThatEndsHalfway() async throws {
        try await files.plan().run { server in
            let socket = try await server.client()
            let hello = try files.clientHello()
            try await offload {
                try socket.send(Array(hello.prefix(hello.count / 2)))
                socket.shutDownSending()
                _ = try? socket.receiveUntilEndOfFile()
            }
            #expect(try await files.waitForFailures(1) == [.tls(.endedInHandshake)])
        }
    }

    @Test("a connection that ends without a byte, as a check of the port, is no failed handshake")
    func takesACheckOfThePortForNoFailure() async throws {
        try await files.plan().run { server in
            let check = try await server.client()
            try await offload {
                check.shutDownSending()
                _ = try? check.receiveUntilEndOfFile()
            }
            let socket = try await server.client()
            try await offload {
                try socket.send([0x16])
                socket.shutDownSending()
                _ = try? socket.receiveUntilEndOfFile()
            }
            #expect(try await files.waitForFailures(1) == [.tls(.endedInHandshake)])
            #expect(files.acceptor.failedCount == 1)
        }
    }

    @Test func closesAConnectionWhoseHandshakeTakesTooLong() async throws {
        var plan = files.plan()
        plan.configuration.clock = ManualClock()
        try await plan.run { server in
            let socket = try await server.client()
            let hello = try files.clientHello()
            // A byte now and then does not help.
            try await offload { try socket.send(Array(hello.prefix(100))) }
            // The time counts from when the connection is accepted.
            while await server.onLoop({ $0.connectionCount }) == 0 {}
            await server.advance(by: TransportLimits.handshakeTimeout / 2)
            try await offload { try socket.send(Array(hello.dropFirst(100).prefix(1))) }
            await server.advance(by: TransportLimits.handshakeTimeout / 2)
            #expect(files.failures.events.isEmpty)
            await server.advance(by: TransportLimits.sweepInterval * 2)
            let rest = try await offload { try? socket.receiveUntilEndOfFile() }
            #expect(rest?.isEmpty ?? true)
            #expect(try await files.waitForFailures(1) == [.timedOut])
        }
    }

    @Test func reloadsItsCertificateForNewConnectionsOnly() async throws {
        try files.certificates.addAuthority("next")
        try files.certificates.add(.init("next-server", authority: "next"))
        try await files.plan().run { server in
            let old = try await server.secureClient(files.client)
            files.acceptor.replace(with: try files.server("next-server"))
            await #expect(throws: TransportError.self) {
                _ = try await server.secureClient(files.client)
            }
            let new = try await server.secureClient(try files.client(authority: "next"))
            for client in [old, new] {
                client.write([1])
                #expect(try await client.receive(1) == [1])
            }
        }
    }

    @Test func refusesAClientWithTheWrongName() async throws {
        try await files.plan().run { server in
            await #expect(throws: TransportError.self) {
                _ = try await server.secureClient(files.client, host: "example.org")
            }
            let client = try await server.secureClient(files.client)
            client.close()
        }
    }
}
