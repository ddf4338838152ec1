import FeedService
import FeedTLS
import FeedTestSupport
import Foundation
import Testing

/// The file of `--service-keys`: which ones are read, and why others are refused.
@Suite
struct ServiceKeyFileTests {
    private static let web = NewServiceKey(name: "web")
    private static let batch = NewServiceKey(name: "batch-2.nightly_A", role: .operator)

    private static func refusal(_ text: String) -> ServiceKeyFileError? {
        do throws(ServiceKeyFileError) {
            _ = try ServiceKeyFile.parse(text, of: "keys")
            return nil
        } catch {
            return error
        }
    }

    @Test func readsALineForEachKey() throws {
        let text = """
            # who may import
            \(ServiceKeyFile.line(of: Self.web.key))

              # and who at night
            \t\(ServiceKeyFile.line(of: Self.batch.key).replacing(" ", with: "   "))\r
            """
        let keys = try ServiceKeyFile.parse(text, of: "keys")
        #expect(keys == [Self.web.key, Self.batch.key])
    }

    @Test("a line without a role, as all were before there were roles, makes a service")
    func aLineWithoutARoleMakesAService() throws {
        let line = ServiceKeyFile.line(of: Self.web.key)
        let old = line.split(separator: " ").dropLast().joined(separator: " ")
        #expect(try ServiceKeyFile.parse(old, of: "keys") == [Self.web.key])
    }

    @Test func eachRoleIsWrittenAndRead() throws {
        for role in KeyRole.allCases {
            let key = NewServiceKey(name: "web", role: role).key
            let line = ServiceKeyFile.line(of: key)
            #expect(line.hasSuffix(" \(role.rawValue)"))
            #expect(try ServiceKeyFile.parse(line, of: "keys") == [key])
        }
    }

    @Test func readsIdentitiesOfCertificates() throws {
        let text = """
            shop uri:spiffe://example.org/shop reader
            nightly dns:Nightly.example.org operator
            web dns:web.example.org
            """
        let keys = try ServiceKeyFile.parse(text, of: "keys")
        let names = [
            "uri:spiffe://example.org/shop", "dns:nightly.example.org", "dns:web.example.org",
        ]
        let roles = [KeyRole.reader, .operator, .service]
        #expect(keys.map(\.role) == roles)
        for (key, name) in zip(keys, names) {
            let identity = try #require(TLSIdentity(name))
            #expect(key.proof == .certificate(identity))
            #expect(ServiceKeyFile.line(of: key) == "\(key.name) \(name) \(key.role.rawValue)")
        }
    }

    @Test("an identity is refused where clients show no certificates")
    func refusesIdentitiesWithoutAnAuthority() {
        #expect(throws: ServiceKeyFileError.line("keys", 1, .noClientAuthority)) {
            try ServiceKeyFile.parse("a dns:a.org", of: "keys", takesCertificates: false)
        }
    }

    @Test func aKeyIsNewEachTimeAndItsHashIsNotTheKey() {
        let again = NewServiceKey(name: "web")
        #expect(again.digits != Self.web.digits)
        #expect(again.digits.utf8.count == 64)
        #expect(!ServiceKeyFile.line(of: again.key).contains(again.digits))
    }

    @Test("says the line and the fault, and shows no word of the file")
    func refusesWrongLines() {
        let line = ServiceKeyFile.line(of: Self.web.key)
        let hash = line.dropFirst("web ".count)
        let faults: [(String, ServiceKeyFileError.Line)] = [
            ("web", .wordCount(1)), ("\(line) again", .wordCount(4)),
            ("web \(hash.replacing("service", with: "root"))", .role),
            ("web \(hash.replacing("service", with: "Service"))", .role),
            ("wéb \(hash)", .name),
            ("\(String(repeating: "n", count: 65)) \(hash)", .name),
            ("web \(Self.web.digits)", .noProof),
            ("web blake2b:\(Self.web.digits.dropLast())", .hash),
            ("web blake2b:\(Self.web.digits.dropLast())g", .hash),
            (
                "web \(hash)\nweb \(ServiceKeyFile.line(of: Self.batch.key).split(separator: " ")[1])",
                .repeatedName
            ),
            ("web \(hash)\nnext \(hash)", .repeatedProof),
            ("web uri:", .identity), ("web dns:é.example.org", .identity),
            ("web dns:\(String(repeating: "n", count: 254))", .identity),
            ("web URI:spiffe://a", .noProof), ("web ip:10.0.0.1", .noProof),
            ("web uri:spiffe://a root", .role),
            ("web dns:a.example.org\nnext dns:A.example.org", .repeatedProof),
        ]
        for (text, fault) in faults {
            let number = text.split(separator: "\n").count + 1
            let refusal = Self.refusal("# keys\n\(text)\n")
            #expect(refusal == .line("keys", number, fault), "\(text)")
            #expect(refusal?.description.contains(Self.web.digits) == false)
        }
    }

    @Test func refusesNoKeysAndTooMany() {
        #expect(Self.refusal("") == .noKeys("keys"))
        #expect(Self.refusal("# none\n\n") == .noKeys("keys"))
        let lines = (0...ServiceKeyFile.maximumKeyCount).map {
            ServiceKeyFile.line(of: NewServiceKey(name: "key\($0)").key)
        }
        #expect(Self.refusal(lines.dropLast().joined(separator: "\n")) == nil)
        #expect(Self.refusal(lines.joined(separator: "\n")) == .tooManyKeys("keys"))
    }

    @Test(
        "T-KEY-4: others than the owner may not read or write the file",
        arguments: [0o644, 0o650, 0o660, 0o604, 0o620, 0o601]
    )
    func refusesAnOpenFile(mode: Int) throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/keys"
        try Self.write(ServiceKeyFile.line(of: Self.web.key), to: path, mode: mode)
        #expect(throws: ServiceKeyFileError.notPrivate(path, mode: UInt32(mode))) {
            try ServiceKeyFile.read(path, takesCertificates: false)
        }
        try Self.write(ServiceKeyFile.line(of: Self.web.key), to: path, mode: 0o400)
        #expect(try ServiceKeyFile.read(path, takesCertificates: false) == [Self.web.key])
    }

    @Test func refusesWhatIsNoFileOfKeys() throws {
        let directory = try TemporaryDirectory()
        #expect(throws: ServiceKeyFileError.notAFile(directory.path)) {
            try ServiceKeyFile.read(directory.path, takesCertificates: false)
        }
        let path = directory.path + "/keys"
        #expect(throws: ServiceKeyFileError.self) {
            try ServiceKeyFile.read(path, takesCertificates: false)
        }
        try Self.write(String(repeating: "#", count: 64 << 10), to: path, mode: 0o600)
        #expect(throws: ServiceKeyFileError.noKeys(path)) {
            try ServiceKeyFile.read(path, takesCertificates: false)
        }
        try Self.write(String(repeating: "#", count: 64 << 10 + 1), to: path, mode: 0o600)
        #expect(throws: ServiceKeyFileError.tooLong(path, limit: 64 << 10)) {
            try ServiceKeyFile.read(path, takesCertificates: false)
        }
    }

    static func write(_ text: String, to path: String, mode: Int) throws {
        try? FileManager.default.removeItem(atPath: path)
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: mode]
        let isMade = FileManager.default.createFile(
            atPath: path,
            contents: Data(text.utf8),
            attributes: attributes
        )
        try #require(isMade)
    }
}
