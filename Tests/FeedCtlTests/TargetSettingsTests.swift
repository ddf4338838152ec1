import FeedClient
import FeedCtl
import FeedProto
import FeedTestSupport
import Foundation
import Testing

/// Where a command goes, and how it is secured: flags before variables before the profile.
struct TargetSettingsTests {
    @Test(
        "a target needs no port",
        arguments: [
            (nil, "127.0.0.1:7433"), ("feed.example.org", "feed.example.org:7433"),
            ("feed.example.org:9", "feed.example.org:9"), ("[::1]", "[::1]:7433"),
            ("[::1]:9", "[::1]:9"), ("::1", "::1"), ("", ""),
        ]
    )
    func aTargetNeedsNoPort(target: String?, address: String) {
        #expect(TargetSettings(target: target).address == address)
    }

    @Test func theServicesOfAClusterHaveCommasBetweenThem() throws {
        let settings = TargetSettings(target: "a.test,[::1]:9,127.0.0.1")
        #expect(settings.addresses == ["a.test:7433", "[::1]:9", "127.0.0.1:7433"])
        #expect(settings.address == "a.test:7433,[::1]:9,127.0.0.1:7433")
        #expect(settings.isReadable)
        #expect(!TargetSettings(target: "[::1]:9,127.0.0.1").isReadable)
        let same = TargetSettings(target: settings.address)
        #expect(same.addresses == settings.addresses)
        let profile = TargetSettings(target: "a.test,b.test", tls: true)
        #expect(TargetSettings(target: "a.test:7433,b.test").over(profile: profile).tls == true)
        #expect(TargetSettings(target: "a.test").over(profile: profile).tls == nil)
    }

    @Test func flagsWinThenVariablesThenTheProfile() throws {
        let profile = TargetSettings(target: "feed.example.org", tls: true, ca: "/p.pem")
        let variables = try Variables(["FEEDCTL_CA": "v.pem", "FEEDCTL_CERT": "", "HOME": "/"])
        let settings = TargetSettings(cert: "f.pem", key: "f.key").over(variables.target)
            .over(profile: profile)
        #expect(settings.address == "feed.example.org:7433")
        #expect(
            settings.security
                == ClientTLS(authorityPath: "v.pem", certificatePath: "f.pem", keyPath: "f.key")
        )
        let plain = TargetSettings(tls: false).over(profile: profile)
        #expect(plain.security == nil && plain.problem == nil)
    }

    @Test func aProfileSaysNothingOfAnotherService() {
        let profile = TargetSettings(target: "feed.example.org", tls: true, ca: "/p.pem")
        let same = TargetSettings(target: "feed.example.org:7433").over(profile: profile)
        #expect(same.security == ClientTLS(authorityPath: "/p.pem"))
        let other = TargetSettings(target: "127.0.0.1:7433").over(profile: profile)
        #expect(other == TargetSettings(target: "127.0.0.1:7433"))
    }

    @Test("files without TLS are a mistake, from whichever source")
    func filesNeedTLS() throws {
        let variables = try Variables(["FEEDCTL_CA": "ca.pem"])
        #expect(variables.target.problem == "--ca: expected --tls with it, got ca.pem alone.")
        #expect(TargetSettings(tls: true, cert: "a").problem?.contains("both or neither") == true)
        #expect(TargetSettings(tls: true, ca: "a", cert: "b", key: "c").problem == nil)
    }

    @Test(
        "a variable that is none, or has no meaning, is refused",
        arguments: [
            ("FEEDCTL_TSL", "true", #"did you mean "FEEDCTL_TLS"?"#),
            ("FEEDCTL_NOTHING_LIKE_IT", "1", "there is no such setting."),
            ("FEEDCTL_TLS", "yes", "expected true or false, got yes."),
        ]
    )
    func refusesAVariable(name: String, value: String, words: String) {
        let error = #expect(throws: VariableError.self) { try Variables([name: value]) }
        #expect(error?.description.hasPrefix("\(name): ") == true)
        #expect(error?.description.contains(words) == true, "\(error?.description ?? "")")
    }

    @Test(
        "only what stays on the machine is no one else's to read",
        arguments: [
            ("127.0.0.1", false), ("127.9.9.9:1", false), ("localhost:7433", false),
            ("[::1]", false), ("10.0.0.1", true), ("feed.example.org", true),
            ("127.0.0.1.example.org", true), ("[2001:db8::1]:7433", true),
        ]
    )
    func whatLeavesTheMachineIsReadable(target: String, isReadable: Bool) {
        #expect(TargetSettings(target: target).isReadable == isReadable)
        #expect(!TargetSettings(target: target, tls: true).isReadable)
    }

    @Test("what is plain stays on the machine, also where a cluster has members elsewhere")
    func onlyAnExpressNoLeavesTheMachine() {
        #expect(TargetSettings(target: "127.0.0.1").staysAtAddresses)
        #expect(TargetSettings(target: "127.0.0.1,[::1]:9").staysAtAddresses)
        for tls in [true, false] {
            #expect(!TargetSettings(target: "127.0.0.1", tls: tls).staysAtAddresses)
        }
        #expect(!TargetSettings(target: "127.0.0.1,10.0.0.1").staysAtAddresses)
    }

    @Test func aProfileKeepsWhereAPersonHasSignedIn() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
            .path()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        #expect(try Profile.target(in: folder) == TargetSettings())
        #expect(!FileManager.default.fileExists(atPath: folder))
        let profile = try Profile(path: folder)
        try profile.keep(TargetSettings(target: "feed.example.org", tls: true, ca: "ca.pem"))
        let here = FileManager.default.currentDirectoryPath
        #expect(
            try Profile.target(in: folder)
                == TargetSettings(target: "feed.example.org:7433", tls: true, ca: "\(here)/ca.pem")
        )
        let file = folder + "/service.json"
        try Data("{]".utf8).write(to: URL(filePath: file))
        let error = #expect(throws: ProfileError.self) { try Profile.target(in: folder) }
        #expect(error?.description.contains(file) == true)
    }

    @Test(
        "an unknown command is named with the one that was meant",
        arguments: [
            (["lsit"], #"There is no command "lsit"; did you mean "list"?"#),
            (["help", "vot", "--json"], #"There is no command "vot"; did you mean "vote"?"#),
            (["frobnicate"], #"There is no command "frobnicate"."#),
        ]
    )
    func namesAnUnknownCommand(words: [String], sentence: String) throws {
        let error = try #require(UnknownCommand(words, among: ["list", "vote", "post"]))
        #expect(error.description == sentence + " feedctl help lists the commands.")
        for known in [[], ["list"], ["--version"], ["help"], ["help", "vote"]] {
            #expect(UnknownCommand(known, among: ["list", "vote"]) == nil)
        }
    }
}

/// A refusal for a missing identity or key names the flags that give one.
@Suite struct MissingIdentityTests {
    static let rows: [(Reason, String)] = [
        (.identityRequired, "refused (--client-id)"),
        (.serviceOnly, "refused (--service-key-file)"),
        (.roleDenied, "refused (a key of another role: --service-key-file)"),
        (.rateLimited, "refused"),
    ]

    @Test(arguments: rows)
    func namesTheFlags(_ reason: Reason, _ message: String) throws {
        let status = Status(code: .permissionDenied, reason: reason, message: "refused")
        let error = FeedClientError.refused(status)
            .naming(identityFlags: "--client-id", keyFlag: "--service-key-file")
        guard case .refused(let named) = error else { throw Unexpected(error) }
        #expect(named.message == message)
    }
}

/// What feedctl keeps of a person between two commands.
struct ProfileTests {
    private static func withProfile(_ body: (Profile) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(try Profile(path: folder.path()))
    }

    @Test func theIdOfADeviceIsDrawnOnce() throws {
        try Self.withProfile { profile in
            let id = try profile.clientID()
            #expect(try profile.clientID() == id)
        }
    }

    @Test(
        "a file without an id is an error, and no new id takes its place",
        arguments: [[], [0xFF, 0xFE, 0x41], Array("0011".utf8), Array(repeating: 0x67, count: 32)]
    )
    func aFileWithoutAnIDStaysAsItIs(_ bytes: [UInt8]) throws {
        try Self.withProfile { profile in
            let file = profile.path + "/client-id"
            try Data(bytes).write(to: URL(filePath: file))
            let error = #expect(throws: ProfileError.self) { try profile.clientID() }
            #expect(
                error?.description == """
                    The profile \(file) cannot be used: it is not one line of 32 hexadecimal digits.
                    """
            )
            #expect(try Data(contentsOf: URL(filePath: file)) == Data(bytes))
        }
    }

    @Test func aFileThatCannotBeReadIsNoMissingFile() throws {
        try Self.withProfile { profile in
            // Nobody can read a folder as a file, root included.
            let file = profile.path + "/client-id"
            try FileManager.default.createDirectory(
                atPath: file,
                withIntermediateDirectories: false
            )
            let error = #expect(throws: ProfileError.self) { try profile.clientID() }
            #expect(error?.description == "The profile \(file) cannot be used: Is a directory.")
        }
    }

    @Test func aFolderIsNoSession() throws {
        try Self.withProfile { profile in
            let file = profile.path + "/session"
            try FileManager.default.createDirectory(
                atPath: file,
                withIntermediateDirectories: false
            )
            let error = #expect(throws: ProfileError.self) { try profile.sessions() }
            #expect(error?.description.contains("it is a folder") == true)
        }
    }

    @Test func aServiceThatIsNotThereIsNamed() {
        let error = FeedClientError.cannotConnect(reason: "Nothing listens.")
        let named = error.naming(target: "127.0.0.1:7433")
        #expect(
            named.description == "No connection to the service: 127.0.0.1:7433: Nothing listens."
        )
        #expect(named.isUnreachable)
        #expect(FeedClientError.closed.naming(target: "127.0.0.1:7433") == .closed)
    }
}
