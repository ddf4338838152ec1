import FeedTLS
import FeedTestSupport
import Testing

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
