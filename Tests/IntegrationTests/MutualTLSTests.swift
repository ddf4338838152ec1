import FeedClient
import FeedProto
import FeedTestSupport
import Foundation
import Testing

/// Clients that show a certificate, and those that show a wrong one.
@Suite(.timeLimit(.minutes(10)))
struct MutualTLSTests {
    private static func flags(_ name: String, _ certificates: TestCertificates) -> [String] {
        // The answer to a refused certificate comes after the handshake of the client: it waits.
        ["-cert", certificates.certificate(name), "-key", certificates.key(name), "-ign_eof"]
    }

    private static func isTaken(_ name: String, _ service: SecuredService) async throws -> Bool {
        var configuration = TLSDaysTests.configuration(service.certificates)
        configuration.tls?.certificatePath = service.certificates.certificate(name)
        configuration.tls?.keyPath = service.certificates.key(name)
        do {
            let client = try await FeedClient.connect(
                to: "127.0.0.1:\(service.port)",
                configuration: configuration
            )
            await client.close()
            return true
        } catch {
            return false
        }
    }

    @Test("T-TLS-9: only clients of the authority are served")
    func servesClientsOfItsAuthority() async throws {
        let certificates = try TestCertificates()
        try certificates.add(.init("web"))
        try certificates.addAuthority("other")
        try certificates.add(.init("stranger", authority: "other"))
        let service = try await SecuredService.start(certificates, clientAuthority: "ca")
        #expect(try await Self.isTaken("web", service))
        #expect(try await !Self.isTaken("stranger", service))
        await #expect(throws: FeedClientError.self) {
            _ = try await FeedClient.connect(
                to: "127.0.0.1:\(service.port)",
                configuration: TLSDaysTests.configuration(certificates)
            )
        }
        #expect(await service.process.prints("No TLS connection from 127.0.0.1"))
        #expect(await service.stop() == 0)
    }

    @Test("T-TLS-10: an expired certificate of a client is refused")
    func refusesAnExpiredClient() async throws {
        let certificates = try TestCertificates()
        try certificates.add(.init("old", days: -1))
        let service = try await SecuredService.start(certificates, clientAuthority: "ca")
        // The tools of others show such a certificate; the client of this project does not.
        let (status, output) = try await service.openssl(Self.flags("old", certificates))
        #expect(status != 0)
        #expect(output.contains("certificate expired"), "\(output)")
        #expect(await service.process.prints("certificate has expired"))
        #expect(await service.stop() == 0)
    }

    @Test("T-TLS-11: a certificate of an authority that was replaced is refused from then on")
    func refusesAClientOfAReplacedAuthority() async throws {
        let certificates = try TestCertificates()
        try certificates.addAuthority("clients")
        try certificates.add(.init("web", authority: "clients"))
        let old = certificates.certificate("clients")
        let service = try await SecuredService.start(certificates, clientAuthority: "clients")
        #expect(try await Self.isTaken("web", service))
        try certificates.addAuthority("next")
        try certificates.add(.init("web-next", authority: "next"))
        try FileManager.default.removeItem(atPath: old)
        try FileManager.default.copyItem(atPath: certificates.certificate("next"), toPath: old)
        #expect(await service.reload()?.contains("new TLS connections") == true)
        #expect(try await !Self.isTaken("web", service))
        #expect(try await Self.isTaken("web-next", service))
        #expect(await service.stop() == 0)
    }

    private static func writeKeys(
        _ text: String,
        in certificates: TestCertificates
    ) throws -> String {
        let path = "\(certificates.folder)/service.keys"
        try Data(text.utf8).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        return path
    }

    @Test(
        "T-KEY-7: a certificate has the role of its identity, and the reload of both files is one"
    )
    func anIdentityHasARole() async throws {
        let certificates = try TestCertificates()
        try certificates.add(.init("shop", alternativeNames: "URI:spiffe://example.org/shop"))
        let keys = try Self.writeKeys("shop uri:spiffe://example.org/shop\n", in: certificates)
        let receiver = try DatagramReceiver(at: "\(certificates.folder)/notify")
        let service = try await SecuredService.start(
            certificates,
            clientAuthority: "ca",
            ["--service-keys", keys],
            environment: ["NOTIFY_SOCKET": receiver.address]
        )
        var configuration = TLSDaysTests.configuration(certificates)
        configuration.tls?.certificatePath = certificates.certificate("shop")
        configuration.tls?.keyPath = certificates.key("shop")
        let client = try await FeedClient.connect(
            to: "127.0.0.1:\(service.port)",
            configuration: configuration
        )
        #expect(try await client.createFeed(Feed(name: "a")).name == "a")
        #expect(await service.process.prints("Service shop connects with a certificate from 127"))
        #expect(try await offload { try receiver.receive() }.hasPrefix("READY=1\n"))

        _ = try Self.writeKeys("shop uri:spiffe://example.org/shop reader\n", in: certificates)
        #expect(await service.reload()?.contains("new TLS connections get") == true)
        #expect(await service.process.prints("1 service key is valid: shop (reader)"))
        await #expect(throws: FeedClientError.self) {
            _ = try await client.createFeed(Feed(name: "b"))
        }
        await client.close()
        // The end of the reload is told after the lines about it.
        let told = try await offload { try (0..<2).map { _ in try receiver.receive() } }
        #expect(told[0].hasPrefix("RELOADING=1\n") && told[1] == "READY=1", "\(told)")
        #expect(await service.stop() == 0)
        #expect(try await offload { try receiver.receive() } == "STOPPING=1\nSTATUS=Draining")
    }

    @Test("T-KEY-8: identities without an authority for clients are refused")
    func identitiesNeedAnAuthority() async throws {
        let certificates = try TestCertificates()
        let keys = try Self.writeKeys("# none\nshop dns:shop.example.org\n", in: certificates)
        let process = try RunningProcess(
            Programs.feedService,
            ["--in-memory", "--listen", "127.0.0.1:0", "--service-keys", keys]
        )
        let (status, output) = await process.finish()
        #expect(status == 2)
        let complaint =
            "feed-service: --service-keys: \(keys), line 2: an identity is one of a client's "
            + "certificate, and there is no --tls-client-ca."
        #expect(output == [complaint])
    }
}
