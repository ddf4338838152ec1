import FeedTLS
import FeedTestSupport
import FeedTransport

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

    /// A plan of a server with TLS.
    func plan(_ script: @escaping TestServer.Script = { _ in }) -> TestServer.Plan {
        TestServer.Plan(security: acceptor, script: script)
    }

    /// The context of a server with another certificate.
    func server(_ name: String) throws -> TLSContext { try Self.server(name, certificates) }

    /// The context of a client that trusts an authority.
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
