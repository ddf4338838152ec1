import FeedTestSupport
import Foundation
import Testing

/// The commands of a person, each a process of its own; a profile joins them.
@Suite(.timeLimit(.minutes(10)))
struct FeedCtlPersonTests {
    /// A person at a terminal, whose commands share a profile.
    struct Person {
        let port: UInt16
        let folder: TemporaryDirectory

        /// Runs a command; a shell gives it the lines of its input.
        ///
        /// A password is hashed at nice 19, which other tests leave little time for.
        func run(_ arguments: [String], input: String = "") async throws -> (Int32, String) {
            let shell = try #require(Programs.command("sh"), "sh is on the path")
            let command = "printf '%s' \"$1\" | { shift; exec \"$@\"; }"
            let process = try RunningProcess(
                shell,
                ["-c", command, "sh", input, Programs.feedCtl.path()] + arguments
                    + ["--target", "127.0.0.1:\(port)", "--timeout", "60"],
                environment: ["XDG_CONFIG_HOME": folder.path]
            )
            let (status, lines) = await process.finish()
            return (status, lines.joined(separator: "\n"))
        }

        /// The output of a command that succeeds.
        func feedctl(_ arguments: String..., input: String = "") async throws -> String {
            let (status, output) = try await run(arguments, input: input)
            try #require(status == 0, "\(arguments): \(output)")
            return output
        }
    }

    private static func withPeople(
        _ body: (Person, Person) async throws -> Void
    ) async throws {
        let service = try await ServiceProcess.start()
        try await body(
            Person(port: service.port, folder: try TemporaryDirectory()),
            Person(port: service.port, folder: try TemporaryDirectory())
        )
        #expect(await service.stop() == 0)
    }

    @Test func aPersonSignsUpPostsAndSignsOut() async throws {
        try await Self.withPeople { ann, bob in
            let signedUp = try await ann.feedctl("signup", "ann@example.org", input: "secret1\n")
            #expect(signedUp == "Signed in as ann, account 1.")
            #expect(try await ann.feedctl("whoami") == "Signed in as ann, account 1.")
            #expect(try await ann.feedctl("post", "Apples").contains("author    ann (user 1)"))
            #expect(try await ann.feedctl("tweet", "short and sweet").contains("feed      tweets"))
            #expect(try await bob.feedctl("feed", "tweets").contains("short and sweet"))
            #expect(try await ann.feedctl("remove", "1") == "Post 1 is deleted.")
            #expect(try await ann.feedctl("logout") == "Nobody has signed in.")
            let (status, output) = try await ann.run(["whoami"])
            #expect(status == 1)
            #expect(output.contains("IDENTITY_REQUIRED"))
            #expect(output.hasSuffix("(feedctl login or feedctl signup)"))
            let (wrong, refusal) = try await ann.run(
                ["login", "ann@example.org"],
                input: "nothing"
            )
            #expect(wrong == 1)
            #expect(refusal.contains("BAD_CREDENTIALS"))
            let signedIn = try await ann.feedctl("login", "ann@example.org", input: "secret1")
            #expect(signedIn == "Signed in as ann, account 1.")
        }
    }

    @Test func aPersonsFilesAreTheirOwn() async throws {
        try await Self.withPeople { ann, _ in
            _ = try await ann.feedctl("signup", "ann@example.org", input: "secret1\n")
            let profile = ann.folder.path + "/feedctl"
            for (file, mode) in [("", 0o700), ("/client-id", 0o600), ("/session", 0o600)] {
                let attributes = try FileManager.default.attributesOfItem(atPath: profile + file)
                #expect(attributes[.posixPermissions] as? Int == mode, "\(file)")
            }
        }
    }

    @Test func aPersonVotesReadsAndDismisses() async throws {
        try await Self.withPeople { ann, bob in
            for title in ["one", "two", "three"] { _ = try await ann.feedctl("post", title) }
            #expect(try await ann.feedctl("up", "2").hasPrefix("Post 2: score 1 "))
            #expect(try await bob.feedctl("down", "3").hasPrefix("Post 3: score -1 "))
            #expect(try await ann.feedctl("read", "1").contains("title     one"))
            let unread = try await ann.feedctl("feed", "--unread")
            #expect(!unread.contains("one"))
            #expect(unread.contains("two"))
            _ = try await ann.feedctl("dismiss", "2")
            #expect(try await ann.feedctl("feed", "posts").contains("2 of 3 posts."))
            #expect(try await ann.feedctl("dismiss-all", "--feed", "posts") == "Unread: 0.")
            #expect(try await ann.feedctl("feed", "posts").contains("0 of 3 posts."))
            // Another device has its own marks.
            #expect(try await bob.feedctl("feed", "posts").contains("3 of 3 posts."))
            _ = try await ann.feedctl("dismiss-all", "--feed", "posts", "--undo")
            #expect(try await ann.feedctl("feed", "posts").contains("3 of 3 posts."))
        }
    }

    @Test func aSpoiledProfileIsNamed() async throws {
        try await Self.withPeople { ann, _ in
            _ = try await ann.feedctl("feed")
            let file = ann.folder.path + "/feedctl/client-id"
            try Data("not an id\n".utf8).write(to: URL(filePath: file))
            let (status, output) = try await ann.run(["feed"])
            #expect(status == 1)
            #expect(output.contains(file))
            #expect(output.contains("32 hexadecimal digits"))
        }
    }
}
