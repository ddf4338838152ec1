import FeedConcurrency
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

/// The certificates, contexts and failures of a test with TLS.
final class TLSTestFiles: Sendable {
    let certificates: TestCertificates
    let acceptor: TLSAcceptor
    let client: TLSContext
    /// The reasons of handshakes that have failed.
    let failures = Recorder<TransportError>()

    init() throws {
        certificates = try TestCertificates()
        try certificates.add(.init("server"))
        acceptor = TLSAcceptor(try Self.server("server", certificates)) { [failures] _, reason in
            failures.record(reason)
        }
        client = try .client(TLSClientFiles(authorityPath: certificates.certificate("ca")))
    }

    func plan(_ script: @escaping TestServer.Script = { _ in }) -> TestServer.Plan {
        TestServer.Plan(security: acceptor, script: script)
    }

    func server(_ name: String) throws -> TLSContext { try Self.server(name, certificates) }

    func client(authority: String) throws -> TLSContext {
        try .client(TLSClientFiles(authorityPath: certificates.certificate(authority)))
    }

    /// The first bytes of a client's handshake.
    func clientHello() throws -> [UInt8] {
        let buffers = TLSBuffers(readByteCount: 1)
        _ = try TLSConnection(client: client, host: "localhost", buffers)
        var bytes: [UInt8] = []
        buffers.takeOutput { output in bytes = unsafe output.withUnsafeBytes { unsafe Array($0) } }
        return bytes
    }

    /// The reasons of the next failures, waiting for them.
    @discardableResult
    func waitForFailures(_ count: Int) async throws -> [TransportError] {
        var reasons: [TransportError] = []
        while reasons.count < count { reasons.append(try await failures.next()) }
        return reasons
    }

    private static func server(
        _ name: String,
        _ certificates: TestCertificates
    ) throws -> TLSContext {
        try .server(
            TLSServerFiles(
                certificate: TLSCertificateFiles(
                    certificatePath: certificates.certificate(name),
                    keyPath: certificates.key(name)
                )
            )
        )
    }
}

/// A client over TLS, with a loop of its own.
final class SecureClient: Sendable {
    private enum Event: Sendable {
        case opened
        case received([UInt8])
        case closed(CloseReason)
    }

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
        thread = try EventLoopThread(.patient) { _ in }
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
        while true { if case .closed(let reason) = try await events.next() { return reason } }
    }

    private func onConnection(_ body: @escaping @Sendable (TCPConnection) -> Void) {
        let connection = connection
        thread.mailbox.post { _ in
            if let held = connection.held { body(held) }
        }
    }
}

extension TestServer {
    func secureClient(
        _ context: TLSContext,
        host: String = "localhost"
    ) async throws -> SecureClient {
        try await SecureClient(to: address, TLSTarget(context: context, host: host))
    }
}

/// A client over TLS on a socket of its own, which decides what it sends together.
final class RawTLSClient {
    private let socket: TestSocket
    private let connection: TLSConnection
    private let buffers = TLSBuffers(readByteCount: 1 << 16)

    /// A client that has sent nothing yet.
    init(_ socket: TestSocket, _ context: TLSContext) throws {
        self.socket = socket
        connection = try TLSConnection(client: context, host: "localhost", buffers)
    }

    /// Shakes hands, and sends bytes together with the last message of that.
    func shakeHandsAndSend(_ plaintext: [UInt8]) throws {
        var progress = TLSConnection.Progress.handshake
        while progress == .handshake {
            try socket.send(takeOutput())
            let ciphertext = try receiveSome()
            progress = try unsafe connection.receive(ciphertext.span.bytes)
        }
        try unsafe connection.send(plaintext.span.bytes)
        try socket.send(takeOutput())
    }

    /// The next bytes, exactly so many.
    func receive(_ count: Int) throws -> [UInt8] {
        var received: [UInt8] = []
        while received.count < count {
            let ciphertext = try receiveSome()
            _ = try unsafe connection.receive(ciphertext.span.bytes)
            buffers.withPlaintext { received.append(copying: $0) }
        }
        return received
    }

    private func receiveSome() throws -> [UInt8] {
        let ciphertext = try socket.receiveSome(atMost: 1 << 16)
        guard !ciphertext.isEmpty else {
            throw TestSocket.Failure.endOfFile(received: 0, wanted: 1)
        }
        return ciphertext
    }

    private func takeOutput() -> [UInt8] {
        var output: [UInt8] = []
        buffers.takeOutput { output.append(copying: $0) }
        return output
    }
}
