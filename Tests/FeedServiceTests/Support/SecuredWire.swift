import FeedService
import FeedTLS
import FeedTestSupport
import FeedTransport

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
    /// The files of a certificate.
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
