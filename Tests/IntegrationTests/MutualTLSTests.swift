import FeedClient
import FeedProto
import FeedTestSupport
import Foundation
import Testing

/// Clients that show a certificate, and those that show a wrong one.
@Suite(.timeLimit(.minutes(2)))
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
}
