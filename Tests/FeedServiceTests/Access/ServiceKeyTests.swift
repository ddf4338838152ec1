import FeedProto
import FeedService
import FeedTLS
import FeedTestSupport
import FeedTransport
import Foundation
import Testing

/// Which role a caller has where there are service keys, and what each role may do then.
@Suite(.timeLimit(.minutes(10))) struct ServiceKeyTests {
    private static let device = [UInt8](repeating: 1, count: 16)

    private static func hello(
        _ client: WireClient,
        key: [UInt8],
        device: [UInt8] = []
    ) throws -> Status? {
        try client.call(.hello(HelloRequest(clientID: device, serviceKey: key))).status
    }

    /// The reason why CreateFeed is refused; nil where the caller is a service.
    private static func refusal(_ client: WireClient, _ name: String) throws -> Reason? {
        try client.call(.createFeed(CreateFeedRequest(feed: Feed(name: name)))).status?.reason
    }

    @Test("T-KEY-1: only who shows a key is a service, from this machine too")
    func aKeyMakesAService() async throws {
        try await withTestKeys { port, keys in
            let client = try WireClient(port: port)
            #expect(try Self.refusal(client, "a") == .serviceOnly)
            #expect(try Self.hello(client, key: keys.web.bytes) == nil)
            #expect(try Self.refusal(client, "a") == nil)
            let other = try WireClient(port: port)
            #expect(try Self.hello(other, key: keys.batch.bytes, device: Self.device) == nil)
            #expect(try Self.refusal(other, "b") == nil)
            // A Hello without a key withdraws the role.
            #expect(try Self.hello(client, key: []) == nil)
            #expect(try Self.refusal(client, "c") == .serviceOnly)
        }
    }

    @Test("T-KEY-2: a wrong key of any length is refused, and the caller stays what it was")
    func refusesWrongKeys() async throws {
        try await withTestKeys { port, keys in
            let client = try WireClient(port: port)
            var almost = keys.web.bytes
            almost[31] ^= 1
            let wrong = [
                almost, Array(keys.web.bytes.dropLast()), keys.web.bytes + [0], [0],
                [UInt8](repeating: 7, count: 1_000_000),
            ]
            for key in wrong {
                let status = try Self.hello(client, key: key, device: Self.device)
                #expect(status?.code == .unauthenticated)
                #expect(status?.reason == .badCredentials)
                #expect(try Self.refusal(client, "a") == .serviceOnly)
                // Nor has it become a device.
                let mark = MarkPostsRequest(mark: .read, postIDs: [1])
                let marked = try client.call(.markPosts(mark)).status
                #expect(marked?.reason == .identityRequired)
            }
            #expect(try Self.hello(client, key: keys.web.bytes) == nil)
            #expect(try Self.refusal(client, "a") == nil)
        }
    }

    @Test("T-KEY-3: a replaced key is void at once, and a kept one stays good")
    func replacesKeys() async throws {
        try await withTestKeys { port, keys in
            let old = try WireClient(port: port)
            let kept = try WireClient(port: port)
            #expect(try Self.hello(old, key: keys.web.bytes) == nil)
            #expect(try Self.hello(kept, key: keys.batch.bytes) == nil)
            let next = NewServiceKey(name: "web-next")
            keys.valid.replace(with: [next.key, keys.batch.key])
            #expect(try Self.refusal(old, "a") == .serviceOnly)
            #expect(try Self.refusal(kept, "a") == nil)
            #expect(try Self.hello(old, key: keys.web.bytes)?.reason == .badCredentials)
            #expect(try Self.hello(old, key: next.bytes) == nil)
            #expect(try Self.refusal(old, "b") == nil)
            // A key that is put back is good again for who shows it again.
            keys.valid.replace(with: [keys.web.key])
            #expect(try Self.refusal(old, "c") == .serviceOnly)
            #expect(try Self.hello(kept, key: keys.web.bytes) == nil)
            #expect(try Self.refusal(kept, "c") == nil)
        }
    }

    @Test func withoutKeysACallerOfThisMachineMayShowAny() async throws {
        try await withClient { client throws in
            #expect(try Self.hello(client, key: [1, 2, 3]) == nil)
            #expect(try Self.refusal(client, "a") == nil)
        }
    }

    @Test(
        "T-KEY-1: without keys a caller from another address shows none that is good",
        .enabled(if: TestSocket.ownAddress != nil, "this machine has a loopback address only")
    )
    func aRemoteCallerNeedsKeysOfTheService() async throws {
        let own = try #require(TestSocket.ownAddress)
        let everywhere = SocketAddress(host: .v4(0), port: 0)
        func listen(_ configuration: inout ServiceConfiguration) {
            configuration.addresses = [everywhere]
        }
        try await withService(threads: 1, listen) { port in
            let remote = try WireClient(port: port, host: own)
            let key = NewServiceKey(name: "web").bytes
            #expect(try Self.hello(remote, key: key)?.reason == .badCredentials)
        }
    }
}

/// The file of `--service-keys`: which ones are read, and why others are refused.
@Suite struct ServiceKeyFileTests {
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
