import COpenSSL
import FeedTLS
import FeedTestSupport
import Foundation
import Glibc
import Testing

@Suite struct TLSContextTests {
    private let certificates: TestCertificates

    init() throws {
        certificates = try TestCertificates()
        try certificates.add(.init("server"))
    }

    private func refusal(
        certificate: String? = nil,
        key: String? = nil,
        clientAuthority: String? = nil
    ) -> TLSFileError? {
        do throws(TLSFileError) {
            _ = try TLSContext.server(
                TLSServerFiles(
                    certificate: TLSCertificateFiles(
                        certificatePath: certificate ?? certificates.certificate("server"),
                        keyPath: key ?? certificates.key("server")
                    ),
                    clientAuthorityPath: clientAuthority
                )
            )
            return nil
        } catch {
            return error
        }
    }

    private func write(_ text: String, to name: String) throws -> String {
        let path = "\(certificates.folder)/\(name)"
        try Data(text.utf8).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        return path
    }

    /// Connections on other threads use what OpenSSL has until the process is gone.
    @Test func anExitLeavesTheMemoryOfOpenSSLAlone() async {
        await #expect(processExitsWith: .success) {
            _ = try TLSContext.client(TLSClientFiles())
            // Called by what would free it.
            OPENSSL_atexit { _exit(1) }
            exit(0)
        }
    }

    @Test func takesACertificateAndItsKey() throws {
        #expect(refusal() == nil)
        #expect(refusal(clientAuthority: certificates.certificate("ca")) == nil)
    }

    @Test func saysWhenTheCertificateEnds() throws {
        let context = try TLSContext.server(
            TLSServerFiles(
                certificate: TLSCertificateFiles(
                    certificatePath: certificates.certificate("server"),
                    keyPath: certificates.key("server")
                )
            )
        )
        let expiry = try #require(context.expiry)
        let days = (Double(expiry.unixSeconds) - Date.now.timeIntervalSince1970) / 86_400
        #expect((29.9...30).contains(days))
    }

    @Test func namesAMissingFile() {
        let path = "\(certificates.folder)/none"
        let reason = "there is no such file"
        #expect(refusal(certificate: path) == .unreadable(path, reason))
        #expect(refusal(key: path) == .unreadable(path, reason))
        #expect(refusal(clientAuthority: path) == .unreadable(path, reason))
        #expect(refusal(key: certificates.folder) == .notAFile(certificates.folder))
    }

    @Test(arguments: [0o650, 0o604, 0o620]) func refusesAKeyThatOthersMayUse(mode: Int) throws {
        let key = certificates.key("server")
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: key)
        #expect(refusal() == .notPrivate(key, mode: UInt32(mode)))
    }

    @Test func refusesAKeyThatDoesNotFit() throws {
        try certificates.add(.init("other"))
        let (certificate, key) = (certificates.certificate("server"), certificates.key("other"))
        #expect(refusal(key: key) == .keyDoesNotFit(key: key, certificate: certificate))
    }

    @Test func refusesAnExpiredCertificate() throws {
        try certificates.add(.init("old", days: -1))
        let path = certificates.certificate("old")
        guard
            case .expired(path, let end)? = refusal(certificate: path, key: certificates.key("old"))
        else {
            Issue.record("An expired certificate was taken.")
            return
        }
        #expect(Double(end.unixSeconds) < Date.now.timeIntervalSince1970)
    }

    @Test func refusesFilesThatHaveNothingOrHalfOfIt() throws {
        let empty = try write("", to: "empty")
        #expect(refusal(certificate: empty) == .noCertificate(empty))
        #expect(refusal(key: empty) == .noKey(empty))
        let whole = try String(contentsOfFile: certificates.certificate("server"), encoding: .utf8)
        let half = try write(String(whole.prefix(300)), to: "half")
        #expect(refusal(certificate: half) == .noCertificate(half))
        // A damaged second certificate is no end of the file.
        let damaged = try write(whole + whole.replacingOccurrences(of: "M", with: "!"), to: "two")
        #expect(refusal(certificate: damaged) == .noCertificate(damaged))
    }

    @Test func refusesAKeyWithAPassword() throws {
        let path = "\(certificates.folder)/locked.key"
        try certificates.run([
            "ec", "-in", certificates.key("server"), "-aes256", "-passout", "pass:secret", "-out",
            path,
        ])
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        #expect(refusal(key: path) == .noKey(path))
    }

    @Test(arguments: [
        (0, "1970-01-01 00:00:00 UTC"), (951_827_696, "2000-02-29 12:34:56 UTC"),
        (1_798_761_599, "2026-12-31 23:59:59 UTC"), (4_107_542_400, "2100-03-01 00:00:00 UTC"),
        (-1, "1969-12-31 23:59:59 UTC"),
    ]) func writesDatesAsPeopleDo(seconds: Int64, text: String) {
        #expect(TLSDate(unixSeconds: seconds).description == text)
    }
}

struct SecretFileTests {
    @Test(
        "only the owner reads it, or a group of the process reads a file of root's",
        arguments: [
            (0o600, 1000, false, true), (0o400, 1000, false, true), (0o400, 0, false, true),
            (0o440, 0, true, true), (0o640, 0, true, true),
            (0o440, 0, false, false), (0o440, 1000, true, false), (0o460, 0, true, false),
            (0o450, 0, true, false), (0o444, 0, true, false), (0o442, 0, true, false),
        ] as [(UInt32, UInt32, Bool, Bool)]
    )
    func modes(mode: UInt32, owner: UInt32, isMember: Bool, isPrivate: Bool) {
        #expect(SecretFile.isPrivate(mode: mode, owner: owner, isMember: isMember) == isPrivate)
    }

    @Test func theGroupIsOneOfTheProcess() {
        #expect(SecretFile.isPrivate(mode: 0o440, owner: 0, group: getegid()))
        #expect(!SecretFile.isPrivate(mode: 0o440, owner: 0, group: .max - 1))
    }
}
