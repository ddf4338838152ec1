import FeedTLS
import FeedTestSupport
import Testing

@Suite struct TLSConnectionTests {
    private let certificates: TestCertificates
    private let server: TLSContext
    private let client: TLSContext

    init() throws {
        certificates = try TestCertificates()
        try certificates.add(.init("server"))
        server = try .server(
            TLSServerFiles(
                certificate: TLSCertificateFiles(
                    certificatePath: certificates.certificate("server"),
                    keyPath: certificates.key("server")
                )
            )
        )
        client = try .client(TLSClientFiles(authorityPath: certificates.certificate("ca")))
    }

    private func securedPair() throws -> TLSPair {
        let pair = try TLSPair(server, client)
        try pair.carry()
        #expect(pair.isSecured == (true, true))
        return pair
    }

    @Test func carriesBytesBothWays() throws {
        let pair = try securedPair()
        let request = try pair.encrypted([1, 2, 3], byServer: false)
        #expect(request != [1, 2, 3])
        #expect(try pair.deliver(request, toServer: true) == [1, 2, 3])
        let answer = try pair.encrypted([4, 5], byServer: true)
        #expect(try pair.deliver(answer, toServer: false) == [4, 5])
    }

    @Test(arguments: [1, 7, 100]) func takesBytesHoweverTheyAreCut(pieces: Int) throws {
        let pair = try TLSPair(server, client)
        try pair.carry(pieces: pieces)
        #expect(pair.isSecured == (true, true))
        let sent = [UInt8](repeating: 7, count: 500)
        let ciphertext = try pair.encrypted(sent, byServer: false)
        var received: [UInt8] = []
        for start in stride(from: 0, to: ciphertext.count, by: pieces) {
            let end = min(start + pieces, ciphertext.count)
            received += try pair.deliver(Array(ciphertext[start..<end]), toServer: true)
        }
        #expect(received == sent)
    }

    @Test func decryptsAllRecordsOfOneRead() throws {
        let pair = try securedPair()
        var ciphertext: [UInt8] = []
        for number in 0..<100 as Range<UInt8> {
            ciphertext += try pair.encrypted([number], byServer: false)
        }
        #expect(try pair.deliver(ciphertext, toServer: true) == Array(0..<100))
    }

    @Test func decryptsAReadThatEndsALongRecord() throws {
        let pair = try securedPair()
        // All but the last byte of a record, and then a whole read of others.
        let first = try pair.encrypted([UInt8](repeating: 1, count: 16 << 10), byServer: false)
        #expect(try pair.deliver(first.dropLast(), toServer: true).isEmpty)
        var rest = Array(first.suffix(1))
        while rest.count + 1_100 < 64 << 10 {
            rest += try pair.encrypted([UInt8](repeating: 3, count: 1_024), byServer: false)
        }
        let plaintext = try pair.deliver(Array(rest), toServer: true)
        #expect(plaintext.count > 64 << 10)
        #expect(plaintext.prefix(16 << 10).allSatisfy { $0 == 1 })
        #expect(plaintext.last == 3)
    }

    /// Records of a ClientHello that announces so many bytes, of which only so many are there.
    private func hello(announcing length: Int, sent: Int = 0, inRecordsOf size: Int) -> [UInt8] {
        let header = [1] + [16, 8, 0].map { UInt8(truncatingIfNeeded: length >> $0) }
        let message = header + [UInt8](repeating: 0, count: sent)
        return stride(from: 0, to: message.count, by: size).flatMap { start in
            let piece = message[start..<min(start + size, message.count)]
            return [22, 3, 1, UInt8(piece.count >> 8), UInt8(piece.count & 0xff)] + piece
        }
    }

    @Test("no memory is taken for a long ClientHello", arguments: [1, 2, 3, 4], [1, 4, .max])
    func refusesALongHello(recordSize: Int, readSize: Int) throws {
        let limit = TLSLimits.maximumHelloByteCount
        let long = hello(announcing: limit + 1, inRecordsOf: recordSize)
        let pair = try TLSPair(server, client)
        #expect(throws: TLSError.messageTooLong(limit + 1, limit: limit)) {
            try pair.deliverToServer(long, pieces: readSize)
        }
        // One that has the limit is waited for.
        let other = try TLSPair(server, client)
        let longest = hello(announcing: limit, inRecordsOf: recordSize)
        try other.deliverToServer(longest, pieces: readSize)
        #expect(other.isSecured == (false, false))
    }

    @Test func refusesALongHelloBehindAnother() throws {
        // The server asks for another ClientHello where the first one has no key that it takes.
        let pair = try TLSPair(server, client)
        let limit = TLSLimits.maximumHelloByteCount
        let changeOfCipher: [UInt8] = [20, 3, 3, 0, 1, 1]
        let first = pair.takeOutput(ofServer: false)
        let second = hello(announcing: limit + 1, inRecordsOf: 100)
        #expect(throws: TLSError.messageTooLong(limit + 1, limit: limit)) {
            try pair.deliverToServer(first + changeOfCipher + second, pieces: .max)
        }
    }

    @Test func aClientThatMayShowACertificateMayHaveALongTicket() throws {
        let files = TLSServerFiles(
            certificate: TLSCertificateFiles(
                certificatePath: certificates.certificate("server"),
                keyPath: certificates.key("server")
            ),
            clientAuthorityPath: certificates.certificate("ca")
        )
        let limit = TLSLimits.maximumHelloByteCount + TLSLimits.maximumPeerChainByteCount
        let pair = try TLSPair(.server(files), client)
        try pair.deliverToServer(hello(announcing: limit, inRecordsOf: 100), pieces: .max)
        let other = try TLSPair(.server(files), client)
        #expect(throws: TLSError.messageTooLong(limit + 1, limit: limit)) {
            try other.deliverToServer(hello(announcing: limit + 1, inRecordsOf: 100), pieces: .max)
        }
    }

    @Test func refusesAChangedRecord() throws {
        let pair = try securedPair()
        var ciphertext = try pair.encrypted([1, 2, 3], byServer: false)
        ciphertext[ciphertext.count - 1] ^= 1
        #expect(throws: TLSError.self) { try pair.deliver(ciphertext, toServer: true) }
        #expect(!pair.takeOutput(ofServer: true).isEmpty, "An alert says why.")
    }

    @Test(arguments: [
        Array("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8),
        [0, 0, 0, 3, 1, 2, 3],
        [UInt8](repeating: 0xff, count: 5_000),
    ]) func refusesWhatIsNoTLS(bytes: [UInt8]) throws {
        let pair = try TLSPair(server, client)
        #expect(throws: TLSError.self) { try pair.deliver(bytes, toServer: true) }
        #expect(pair.takeOutput(ofServer: true).isEmpty, "Who speaks no TLS reads no alert.")
    }

    @Test func reportsTheEndOfThePeersSide() throws {
        let pair = try securedPair()
        pair.client.end()
        try pair.carry()
        #expect(pair.hasEnded == (true, false))
    }

    @Test func showsWhatCameBeforeTheEnd() throws {
        let pair = try securedPair()
        let last = try pair.encrypted([9], byServer: false)
        pair.client.end()
        let end = pair.takeOutput(ofServer: false)
        #expect(try pair.deliver(last + end, toServer: true) == [9])
        #expect(pair.hasEnded.server)
    }

    @Test func worksOnAfterItsUnusedBuffersAreFreed() throws {
        let pair = try securedPair()
        for side in [pair.server, pair.client] {
            side.freeUnusedBuffers()
            side.freeUnusedBuffers()
        }
        let request = try pair.encrypted([1], byServer: false)
        // A part of a record is kept, whatever is freed.
        #expect(try pair.deliver(Array(request.prefix(10)), toServer: true).isEmpty)
        pair.server.freeUnusedBuffers()
        pair.server.freeUnusedBuffers()
        #expect(try pair.deliver(Array(request.dropFirst(10)), toServer: true) == [1])
    }
}

@Suite struct PeerTests {
    private let certificates: TestCertificates

    init() throws {
        certificates = try TestCertificates()
        try certificates.add(.init("server"))
    }

    private func files(_ name: String) -> TLSCertificateFiles {
        TLSCertificateFiles(
            certificatePath: certificates.certificate(name),
            keyPath: certificates.key(name)
        )
    }

    /// What becomes of a connection between a server and a client.
    private func pair(
        server: String = "server",
        clientAuthority: String? = nil,
        client: String? = nil,
        authority: String = "ca",
        host: String = "localhost"
    ) throws -> TLSPair {
        let clientPath = clientAuthority.map { certificates.certificate($0) }
        return try TLSPair(
            .server(TLSServerFiles(certificate: files(server), clientAuthorityPath: clientPath)),
            .client(
                TLSClientFiles(
                    authorityPath: certificates.certificate(authority),
                    certificate: client.map { files($0) }
                )
            ),
            host: host
        )
    }

    @Test(arguments: ["localhost", "127.0.0.1"]) func takesAServerOfThatName(host: String) throws {
        let pair = try pair(host: host)
        try pair.carry()
        #expect(pair.isSecured == (true, true))
    }

    @Test(arguments: ["example.org", "127.0.0.2", "localhost.example.org", "ocalhost"])
    func refusesAServerOfAnotherName(host: String) throws {
        let pair = try pair(host: host)
        #expect {
            try pair.carry()
        } throws: { error in
            if case TLSError.certificateRefused = error { true } else { false }
        }
        #expect(!pair.isSecured.client)
    }

    @Test func refusesAServerThatNobodyVouchesFor() throws {
        try certificates.addAuthority("other")
        let pair = try pair(authority: "other")
        #expect(throws: TLSError.self) { try pair.carry() }
        #expect(!pair.isSecured.client)
    }

    @Test(arguments: ["", "a b", "a\u{0}b", String(repeating: "a", count: 300)])
    func refusesWhatIsNoName(host: String) throws {
        #expect(throws: TLSError.badHostName(host)) { _ = try pair(host: host) }
    }

    @Test func readsTheNamesOfAClient() throws {
        try certificates.add(
            .init("web", alternativeNames: "URI:spiffe://x/web,DNS:Web.Example.org,IP:10.0.0.1")
        )
        let pair = try pair(clientAuthority: "ca", client: "web")
        #expect(pair.server.peerIdentities.isEmpty)
        try pair.carry()
        #expect(pair.isSecured == (true, true))
        #expect(pair.server.peerIdentities == [.uri("spiffe://x/web"), .dns("web.example.org")])
    }

    @Test func refusesAClientWithoutACertificate() throws {
        let pair = try pair(clientAuthority: "ca")
        #expect(throws: TLSError.certificateRefused("it has shown none")) { try pair.carry() }
        #expect(!pair.isSecured.server)
    }

    @Test func refusesAClientOfAnotherAuthority() throws {
        try certificates.addAuthority("other")
        try certificates.add(.init("stranger", authority: "other"))
        let pair = try pair(clientAuthority: "ca", client: "stranger")
        #expect(throws: TLSError.self) { try pair.carry() }
        #expect(!pair.isSecured.server)
        #expect(pair.server.peerIdentities.isEmpty)
    }

    @Test func asksNobodyForACertificateWithoutAnAuthority() throws {
        try certificates.add(.init("web"))
        let pair = try pair(client: "web")
        try pair.carry()
        #expect(pair.isSecured == (true, true))
        #expect(pair.server.peerIdentities.isEmpty)
    }

    @Test(arguments: ["uri:spiffe://x/web", "dns:web.example.org"])
    func readsIdentitiesAsTheyAreWritten(text: String) {
        #expect(TLSIdentity(text)?.description == text)
    }

    @Test(arguments: ["", "uri:", "dns:", "web.example.org", "dns:a b", "URI:x", "dns:ü"])
    func refusesWhatIsNoIdentity(text: String) {
        #expect(TLSIdentity(text) == nil)
    }
}

/// A server's and a client's side of one connection, whose bytes a test carries back and forth.
final class TLSPair {
    let server: TLSConnection
    let client: TLSConnection
    private let serverBuffers = TLSBuffers(readByteCount: 64 << 10)
    private let clientBuffers = TLSBuffers(readByteCount: 64 << 10)
    private(set) var isSecured = (server: false, client: false)
    private(set) var hasEnded = (server: false, client: false)

    /// Two sides that have exchanged nothing; the client's first bytes wait.
    init(
        _ serverContext: TLSContext,
        _ clientContext: TLSContext,
        host: String = "localhost"
    ) throws {
        server = try TLSConnection(server: serverContext, serverBuffers)
        client = try TLSConnection(client: clientContext, host: host, clientBuffers)
    }

    /// Carries bytes until neither side has any, in pieces of at most that many bytes.
    func carry(pieces: Int = .max) throws {
        while true {
            let toServer = Self.take(clientBuffers)
            for piece in Self.split(toServer, pieces) { _ = try deliver(piece, toServer: true) }
            let toClient = Self.take(serverBuffers)
            for piece in Self.split(toClient, pieces) { _ = try deliver(piece, toServer: false) }
            if toServer.isEmpty, toClient.isEmpty { return }
        }
    }

    /// Gives the server bytes of a client, in pieces of at most that many bytes.
    func deliverToServer(_ bytes: [UInt8], pieces: Int) throws {
        for piece in Self.split(bytes, pieces) { _ = try deliver(piece, toServer: true) }
    }

    /// Gives one side bytes of the other; returns the plaintext.
    func deliver(_ bytes: [UInt8], toServer: Bool) throws -> [UInt8] {
        let connection = toServer ? server : client
        let progress = try unsafe connection.receive(bytes.span.bytes)
        switch progress {
        case .handshake: break
        case .secured: if toServer { isSecured.server = true } else { isSecured.client = true }
        case .ended: if toServer { hasEnded.server = true } else { hasEnded.client = true }
        }
        return (toServer ? serverBuffers : clientBuffers).withPlaintext(Self.copy)
    }

    func encrypted(_ plaintext: [UInt8], byServer: Bool) throws -> [UInt8] {
        try unsafe (byServer ? server : client).send(plaintext.span.bytes)
        return Self.take(byServer ? serverBuffers : clientBuffers)
    }

    /// What one side is about to send.
    func takeOutput(ofServer: Bool) -> [UInt8] {
        Self.take(ofServer ? serverBuffers : clientBuffers)
    }

    private static func take(_ buffers: TLSBuffers) -> [UInt8] {
        var bytes: [UInt8] = []
        buffers.takeOutput { bytes = copy($0) }
        return bytes
    }

    private static func copy(_ bytes: RawSpan) -> [UInt8] {
        unsafe bytes.withUnsafeBytes { unsafe Array($0) }
    }

    private static func split(_ bytes: [UInt8], _ count: Int) -> [[UInt8]] {
        guard count < bytes.count else { return bytes.isEmpty ? [] : [bytes] }
        return stride(from: 0, to: bytes.count, by: count).map {
            Array(bytes[$0..<min($0 + count, bytes.count)])
        }
    }
}
