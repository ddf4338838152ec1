import FeedClient
import FeedProto
import FeedService
import FeedTLS
import FeedTestSupport
import FeedTransport
import Foundation
import Logging
import Testing

/// Clients of a service with TLS, over the transport of the build.
@Suite(.timeLimit(.minutes(10))) struct SecuredTests {
    private let certificates: TestCertificates

    init() throws {
        certificates = try TestCertificates()
        try certificates.add(.init("server"))
    }

    @Test(arguments: ["127.0.0.1", "localhost"], [false, true])
    func trustsAnAuthority(host: String, isInMemory: Bool) async throws {
        try await withService { port in
            let client = try await connect(to: "\(host):\(port)", tls(isInMemory: isInMemory))
            let post = try await client.createPost(
                PostDraft(title: String(repeating: "a", count: 250))
            )
            let votes = try await client.vote(on: post.id, .up)
            #expect(votes.upvoteCount == 1)
            await client.close()
        }
    }

    @Test func refusesAnotherAuthority() async throws {
        try certificates.addAuthority("other")
        try await withService { port in
            let tls = ClientTLS(authorityPath: certificates.certificate("other"))
            let problem = await failure { try await connect(to: "localhost:\(port)", tls) }
            let words = "certificate of the peer is not accepted"
            #expect(problem?.description.contains(words) == true)
        }
    }

    @Test(arguments: ["feed.example.org", "127.0.0.2"])
    func refusesAnotherName(name: String) async throws {
        try await withService { port in
            var tls = try tls()
            tls.serverName = name
            let problem = await failure { try await connect(to: "localhost:\(port)", tls) }
            guard case .cannotConnect = problem else {
                Issue.record("A certificate of another name: \(String(describing: problem))")
                return
            }
        }
    }

    @Test(arguments: [("*.example.org", true), ("f*.example.org", false)])
    func aWildcardIsAWholeLabel(name: String, isAccepted: Bool) async throws {
        try certificates.add(.init("named", alternativeNames: "DNS:\(name)"))
        try await withService("named") { port in
            var tls = try tls()
            tls.serverName = "feed.example.org"
            guard isAccepted else {
                #expect(await failure { try await connect(to: "localhost:\(port)", tls) } != nil)
                return
            }
            await (try await connect(to: "localhost:\(port)", tls)).close()
        }
    }

    @Test func showsItsCertificate() async throws {
        try certificates.add(.init("client"))
        try await withService(asksForCertificates: true) { port in
            var tls = try tls()
            #expect(await failure { try await connect(to: "localhost:\(port)", tls) } != nil)
            tls.certificatePath = certificates.certificate("client")
            tls.keyPath = certificates.key("client")
            let client = try await connect(to: "localhost:\(port)", tls)
            await client.close()
        }
    }

    @Test func refusesWhatIsNoCertificate() async throws {
        var tls = ClientTLS()
        tls.authority = Array("no PEM".utf8)
        let problem = await failure { try await connect(to: "localhost:1", tls) }
        #expect(problem?.description.contains("has no whole certificate in PEM") == true)
    }

    @Test func needsTLSOfTheService() async throws {
        try await withService(isSecured: false) { port in
            let problem = await failure { try await connect(to: "localhost:\(port)", try tls()) }
            guard case .cannotConnect = problem else {
                Issue.record("A service without TLS: \(String(describing: problem))")
                return
            }
        }
    }

    private func tls(isInMemory: Bool = false) throws -> ClientTLS {
        let path = certificates.certificate("ca")
        guard isInMemory else { return ClientTLS(authorityPath: path) }
        var tls = ClientTLS()
        tls.authority = Array(try Data(contentsOf: URL(filePath: path)))
        return tls
    }

    private func connect(to address: String, _ tls: ClientTLS) async throws -> FeedClient {
        var configuration = ClientConfiguration.patient
        configuration.tls = tls
        return try await FeedClient.connect(to: address, configuration: configuration)
    }

    /// Runs a service with a certificate while `body` runs with its port.
    private func withService(
        _ certificate: String = "server",
        asksForCertificates: Bool = false,
        isSecured: Bool = true,
        _ body: (UInt16) async throws -> Void
    ) async throws {
        var configuration = ServiceConfiguration(
            addresses: isSecured ? [] : [.loopback(port: 0)],
            threadCount: 1
        )
        if isSecured {
            let files = TLSServerFiles(
                certificate: TLSCertificateFiles(
                    certificatePath: certificates.certificate(certificate),
                    keyPath: certificates.key(certificate)
                ),
                clientAuthorityPath: asksForCertificates ? certificates.certificate("ca") : nil
            )
            configuration.tls = ServiceTLS(
                addresses: [.loopback(port: 0)],
                files: files,
                context: try .server(files)
            )
        }
        let server = try FeedServer.start(
            configuration,
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        )
        let address = try #require((server.addresses + server.tlsAddresses).first)
        var failure: (any Error)?
        do { try await body(address.port) } catch { failure = error }
        try await server.drain()
        if let failure { throw failure }
    }
}
