import FeedProto
import FeedService
import FeedTLS
import FeedTestSupport
import FeedTransport
import Logging
import Testing

/// Runs a service in this process on a free port while `body` runs on a thread of its own.
///
/// Afterwards the service is drained; a drain that does not end fails the test by its time limit.
func withService(
    threads: Int = 1,
    logger: Logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }),
    _ configure: (inout ServiceConfiguration) -> Void = { _ in },
    _ body: @escaping @Sendable (UInt16) throws -> Void
) async throws {
    var configuration = ServiceConfiguration(addresses: [.loopback(port: 0)], threadCount: threads)
    configure(&configuration)
    // As the program does, because an answer to a client that is gone would end the tests.
    ProcessSetup.ignoreBrokenPipes()
    let server = try FeedServer.start(configuration, logger: logger)
    let port = try #require((server.addresses + server.tlsAddresses).first?.port)
    var failure: (any Error)?
    do { try await offload { try body(port) } } catch { failure = error }
    try await server.drain()
    if let failure { throw failure }
}

/// The TLS of a client of a test.
final class SecuredWire: WireSecurity {
    private let buffers = TLSBuffers(readByteCount: 1 << 16)
    private let connection: TLSConnection

    /// Secures a client whose service listens with TLS, and may show a certificate.
    init(_ client: WireClient, _ context: TLSContext) throws {
        connection = try TLSConnection(client: context, host: "localhost", buffers)
        try client.socket.send(takeOutput())
        var progress = TLSConnection.Progress.handshake
        while progress == .handshake {
            let bytes = try client.socket.receiveSome(atMost: 1 << 16)
            guard !bytes.isEmpty else {
                throw TestSocket.Failure.endOfFile(received: 0, wanted: 1)
            }
            progress = try receive(bytes)
            try client.socket.send(takeOutput())
        }
        client.security = self
    }

    func encrypt(_ plaintext: [UInt8]) throws -> [UInt8] {
        // The closure cannot throw a type of error of its own.
        try plaintext.withRawSpan { bytes in
            Result { () throws(TLSError) in try connection.send(bytes) }
        }
        .get()
        return takeOutput()
    }

    func decrypt(_ ciphertext: [UInt8]) throws -> [UInt8] {
        _ = try receive(ciphertext)
        return buffers.withPlaintext { plaintext in
            var bytes: [UInt8] = []
            bytes.append(copying: plaintext)
            return bytes
        }
    }

    private func receive(_ ciphertext: [UInt8]) throws -> TLSConnection.Progress {
        try ciphertext.withRawSpan { bytes in
            Result { () throws(TLSError) in try connection.receive(bytes) }
        }
        .get()
    }

    private func takeOutput() -> [UInt8] {
        var output: [UInt8] = []
        buffers.takeOutput { output.append(copying: $0) }
        return output
    }
}

extension TestCertificates {
    func files(_ name: String) -> TLSCertificateFiles {
        TLSCertificateFiles(certificatePath: certificate(name), keyPath: key(name))
    }

    /// What secures a service on a free port, whose clients must show a certificate of `ca` if they
    /// are asked for one.
    func service(asksForCertificates: Bool) throws -> ServiceTLS {
        try add(.init("server"))
        let files = TLSServerFiles(
            certificate: files("server"),
            clientAuthorityPath: asksForCertificates ? certificate("ca") : nil
        )
        return ServiceTLS(
            addresses: [.loopback(port: 0)],
            files: files,
            context: try .server(files)
        )
    }

    /// A client that is secured, and shows the certificate of this name if there is one.
    func client(port: UInt16, _ name: String? = nil) throws -> WireClient {
        let client = try WireClient(port: port)
        let shown = TLSClientFiles(
            authorityPath: certificate("ca"),
            certificate: name.map { files($0) }
        )
        _ = try SecuredWire(client, .client(shown))
        return client
    }
}

/// Keys of two services and of each other role, and the set of all of them.
struct TestKeys: Sendable {
    let web = NewServiceKey(name: "web")
    let batch = NewServiceKey(name: "batch")
    let app = NewServiceKey(name: "app", role: .app)
    let reader = NewServiceKey(name: "reader", role: .reader)
    let `operator` = NewServiceKey(name: "operator", role: .operator)
    let valid: ServiceKeys

    init() { valid = ServiceKeys([web.key, batch.key, app.key, reader.key, `operator`.key]) }

    /// Makes the certificate of `spiffe://test/ROLE` valid for each role, beside the keys.
    func nameCertificates() {
        let roles = KeyRole.allCases.map { role in
            ServiceKey(
                name: "certificate-\(role.rawValue)",
                proof: .certificate(.uri("spiffe://test/\(role.rawValue)")),
                role: role
            )
        }
        valid.replace(with: [web.key, batch.key, app.key, reader.key, `operator`.key] + roles)
    }
}

extension NewServiceKey {
    /// The key as Hello shows it.
    var bytes: [UInt8] {
        stride(from: 0, to: digits.utf8.count, by: 2).map { index in
            let start = digits.index(digits.startIndex, offsetBy: index)
            return UInt8(digits[start..<digits.index(start, offsetBy: 2)], radix: 16) ?? 0
        }
    }
}

/// Runs the body with a service that takes keys, and hashes passwords at once.
func withTestKeys(
    _ configure: (inout ServiceConfiguration) -> Void = { _ in },
    _ body: @escaping @Sendable (UInt16, TestKeys) throws -> Void
) async throws {
    let keys = TestKeys()
    func take(_ configuration: inout ServiceConfiguration) {
        configuration.serviceKeys = keys.valid
        configure(&configuration)
    }
    try await withAccounts(threads: 1, take) { port in try body(port, keys) }
}

/// ``withService(threads:logger:_:_:)`` with a client of the service.
func withClient(
    threads: Int = 1,
    logger: Logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }),
    _ configure: (inout ServiceConfiguration) -> Void = { _ in },
    _ body: @escaping @Sendable (WireClient) throws -> Void
) async throws {
    try await withService(threads: threads, logger: logger, configure) { port in
        try body(WireClient(port: port))
    }
}

extension FeedServer {
    /// Starts a service that logs nothing.
    static func startQuietly(_ configuration: ServiceConfiguration) throws -> FeedServer {
        let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        return try start(configuration, logger: logger)
    }

    /// Ends the service in good order, and waits for its end off the threads of tasks.
    func drain() async throws {
        beginDraining()
        try await offload { self.wait() }
    }
}
