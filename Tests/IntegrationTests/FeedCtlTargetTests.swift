import FeedTestSupport
import Foundation
import Testing

/// A person says once where the service is, and how the connection to it is secured.
@Suite(.timeLimit(.minutes(3)))
struct FeedCtlTargetTests {
    /// Commands of a person with a profile of their own.
    private struct Person {
        let folder: TemporaryDirectory
        var variables: [String: String] = [:]

        init(_ variables: [String: String] = [:]) throws {
            folder = try TemporaryDirectory()
            self.variables = variables
        }

        /// The status and the output of a command; a shell gives it the password.
        func run(_ arguments: [String]) async throws -> (status: Int32, output: String) {
            let shell = try #require(Programs.command("sh"), "sh is on the path")
            let process = try RunningProcess(
                shell,
                ["-c", "echo secret1 | \"$@\"", "sh", Programs.feedCtl.path()] + arguments,
                environment: variables.merging(["XDG_CONFIG_HOME": folder.path]) { $1 }
            )
            let (status, lines) = await process.finish()
            return (status, lines.joined(separator: "\n"))
        }

        /// The output of a command that succeeds.
        func feedctl(_ arguments: String...) async throws -> String {
            let (status, output) = try await run(arguments)
            try #require(status == 0, "\(arguments): \(output)")
            return output
        }

        /// What a person does all day, without a word on where the service is.
        func spendADay() async throws {
            #expect(try await feedctl("whoami").hasPrefix("Signed in as "))
            #expect(try await feedctl("post", "Apples").contains("title     Apples"))
            #expect(try await feedctl("up", "1").hasPrefix("Post 1: score 1 "))
            let edited = try await feedctl("edit", "1", "--title", "Pears", "--text", "")
            #expect(edited.contains("title     Pears"))
            #expect(try await feedctl("feed", "posts").contains("1 of 1 posts."))
            #expect(try await feedctl("watch", "--events", "1").contains("post 1 has 1"))
            #expect(try await feedctl("list").contains("Pears"))
            #expect(try await feedctl("ping").contains(" answers in "))
            #expect(try await feedctl("backups") == "last backup  none")
            #expect(try await feedctl("sync").contains("New copy: 1 posts changed"))
        }
    }

    @Test func aNewUserSignsUpPostsVotesAndWatchesOverTLSWithNoFlagRepeated() async throws {
        let service = try await SecuredService.start(TestCertificates())
        let ann = try Person()
        let target = "localhost:\(service.port)"
        let authority = service.certificates.certificate("ca")
        let flags = ["--target", target, "--tls", "--ca", authority, "--timeout", "60"]
        let (status, output) = try await ann.run(["signup", "ann@example.org"] + flags)
        try #require(status == 0, "\(output)")
        try await ann.spendADay()

        // What is said still wins; and another service does not get the session.
        let plain = try await ann.run(["list", "--no-tls"])
        #expect(plain.status == 1)
        #expect(plain.output.contains("the client has to use TLS, too."), "\(plain.output)")
        let other = ["--target", "127.0.0.1:\(service.port)", "--tls", "--ca", authority]
        let stranger = try await ann.run(["whoami"] + other)
        #expect(stranger.status == 1)
        #expect(stranger.output.contains("IDENTITY_REQUIRED"), "\(stranger.output)")
        #expect(try await ann.feedctl("whoami").hasPrefix("Signed in as ann"))
        #expect(await service.stop() == 0)
    }

    @Test func variablesStandForTheFlagsOfEveryCommand() async throws {
        let certificates = try TestCertificates()
        try certificates.add(.init("client"))
        let service = try await SecuredService.start(certificates, clientAuthority: "ca")
        let ann = try Person([
            "FEEDCTL_TARGET": "localhost:\(service.port)", "FEEDCTL_TLS": "true",
            "FEEDCTL_CA": certificates.certificate("ca"),
            "FEEDCTL_CERT": certificates.certificate("client"),
            "FEEDCTL_KEY": certificates.key("client"),
        ])
        _ = try await ann.feedctl("signup", "ann@example.org", "--timeout", "60")
        try await ann.spendADay()
        #expect(await service.stop() == 0)
    }

    @Test func aPasswordDoesNotLeaveTheMachineInClear() async throws {
        let ann = try Person()
        let target = ["--target", "feed.invalid"]
        let refused = try await ann.run(["login", "ann@example.org"] + target)
        #expect(refused.status == 2)
        #expect(refused.output.contains("--tls: the password would go to feed.invalid:7433"))
        let wanted = try await ann.run(["login", "ann@example.org", "--no-tls"] + target)
        #expect(wanted.status == 1)
        #expect(wanted.output.contains(#"No address for "feed.invalid""#), "\(wanted.output)")
        let unsaid = try Person(["FEEDCTL_CA": "ca.pem"])
        let plain = try await unsaid.run(["list"])
        #expect(plain.status == 2)
        #expect(plain.output.contains("--ca: expected --tls with it"), "\(plain.output)")
    }

    @Test func aWordThatIsNoCommandIsNamedAndNoWordListsThem() async throws {
        let ann = try Person()
        let unknown = try await ann.run(["lst", "--limit", "3"])
        #expect(unknown.status == 2)
        #expect(unknown.output.contains(#"There is no command "lst"; did you mean "list"?"#))
        let none = try await ann.run([])
        #expect(none.status == 2)
        for command in ["list", "ping", "signup", "edit"] {
            #expect(none.output.contains("  \(command) "), "\(none.output)")
        }
    }

    @Test("what was not done has a status of its own")
    func whatWasNotDoneHasAStatusOfItsOwn() async throws {
        let service = try await ServiceProcess.start()
        let ann = try Person(["FEEDCTL_TARGET": "127.0.0.1:\(service.port)"])
        _ = try await ann.feedctl("post", "Apples")
        #expect(try await ann.run(["dismiss", "77"]).status == 3)
        #expect(try await ann.run(["dismiss", "77", "1"]).status == 0)
        let device = String(repeating: "0f", count: 16)
        let marks = try await ann.run(["mark", "read", "77", "--client-id", device])
        #expect(marks.status == 3)
        #expect(marks.output == "Marked: 0. No such post: 77.\nUnread: 1.")
        let file = ann.folder.path + "/bad.csv"
        try Data("title,ups\nApple,many\n".utf8).write(to: URL(filePath: file))
        #expect(try await ann.run(["import", file, "--feed", "posts"]).status == 3)
        #expect(await service.stop() == 0)
    }
}
