import FeedClient
import FeedProto
import FeedTestSupport
import Foundation
import Testing

/// `feedctl watch` as a process, at a terminal and without one.
@Suite(.timeLimit(.minutes(10))) struct FeedCtlWatchTests {
    /// A service with three posts, whose scores are 2, 1 and 0.
    private struct Bench {
        let client: FeedClient
        let target: String
        let folder: TemporaryDirectory

        static func run(_ body: (Bench) async throws -> Void) async throws {
            let service = try await ServiceProcess.start()
            let address = "127.0.0.1:\(service.port)"
            let client = try await FeedClient.connect(to: address)
            for (title, votes) in [("Apple", 2), ("Banana", 1), ("Cherry", 0)] {
                let post = try await client.createPost(PostDraft(title: title))
                for _ in 0..<votes { try await client.vote(on: post.id, .up) }
            }
            try await body(Bench(client: client, target: address, folder: try TemporaryDirectory()))
            await client.close()
            #expect(await service.stop() == 0)
        }

        func arguments(_ flags: [String]) -> [String] {
            ["watch", "posts", "--order", "top", "--interval", "50", "--target", target]
                + ["--profile", folder.path] + flags
        }
    }

    /// The screen of the posts' lines and of the line that says what is new.
    private static func screen(_ posts: [String], _ news: String) -> [String] {
        ["SCORE  UP  DOWN  ID  TITLE"] + posts + ["", news, "posts   r refresh, q quit"]
    }

    @Test func rowsStayInTheirPlacesUntilTheyAreRefreshed() async throws {
        try await Bench.run { bench in
            let process = try TerminalProcess(Programs.feedCtl, bench.arguments([]))
            let first = Self.screen(
                ["    2   2     0   1  Apple", "    1   1     0   2  Banana"]
                    + ["    0   0     0   3  Cherry"],
                "In order."
            )
            #expect(await process.screen { $0.rows == first }?.isOwn == true)
            #expect(!process.screen.hasCursor)
            #expect(!process.takesLines)

            for _ in 0..<3 { try await bench.client.vote(on: 3, .up) }
            let changed = Self.screen(
                ["    2   2     0   1  Apple", "    1   1     0   2  Banana"]
                    + ["    3   3     0   3  Cherry"],
                "The order has changed: r shows it."
            )
            #expect(await process.screen { $0.rows == changed } != nil, "\(process.screen.rows)")

            try process.type("r")
            let refreshed = Self.screen(
                ["    3   3     0   3  Cherry", "    2   2     0   1  Apple"]
                    + ["    1   1     0   2  Banana"],
                "In order."
            )
            #expect(await process.screen { $0.rows == refreshed } != nil, "\(process.screen.rows)")
            try process.type("q")
            #expect(await process.exitStatus() == 0)
        }
    }

    @Test("the end brings the terminal back", arguments: ["SIGINT", "SIGTERM", "SIGHUP", "Ctrl-C"])
    func theEndBringsTheTerminalBack(end: String) async throws {
        try await Bench.run { bench in
            let process = try TerminalProcess(Programs.feedCtl, bench.arguments([]))
            #expect(await process.screen { $0.rows.contains("In order.") } != nil)
            switch end {
            case "SIGINT": process.signal(SIGINT)
            case "SIGTERM": process.signal(SIGTERM)
            case "SIGHUP": process.signal(SIGHUP)
            default: try process.type("\u{3}")
            }
            #expect(await process.exitStatus() == 0)
            #expect(!process.screen.isOwn)
            #expect(process.screen.hasCursor)
            #expect(process.takesLines)
        }
    }

    @Test func withoutATerminalEachChangeIsALine() async throws {
        try await Bench.run { bench in
            let process = try RunningProcess(
                Programs.feedCtl,
                bench.arguments(["--rows", "2", "--events", "2"])
            )
            let first = await process.line { $0.hasSuffix("order: 1 2") }
            #expect(first?.hasSuffix(": post 1 has 2; post 2 has 1; order: 1 2") == true)
            // One change of the service, and so one line.
            let votes = (0..<3).map { _ in CastVoteRequest(postID: 2, direction: .up) }
            _ = try await bench.client.votes(votes)
            let (status, output) = await process.finish()
            #expect(status == 0)
            #expect(output.count == 2)
            #expect(output.last?.hasSuffix(": post 2 has 4; order: 2 1") == true, "\(output)")
        }
    }

    @Test(DurableService.needed)
    func aConnectionThatIsOpenedAgainIsNoLine() async throws {
        let folder = try TemporaryDirectory()
        let profile = try TemporaryDirectory()
        let port = try ReservedPort()
        let first = try await DurableService.start(folder.path, ["--listen", port.address])
        let post = try await first.createPost("Apple", votes: 2)
        let process = try RunningProcess(
            Programs.feedCtl,
            ["watch", "posts", "--interval", "50", "--events", "2", "--target", port.address]
                + ["--profile", profile.path]
        )
        #expect(await process.prints("post \(post) has 2"))
        await first.kill()
        let second = try await DurableService.start(folder.path, ["--listen", port.address])
        let client = try await FeedClient.connect(to: port.address)
        // The watch has begun again before the vote.
        while try await client.stats().watchCount == 0 {}
        try await client.vote(on: post, .up)
        let (status, output) = await process.finish()
        #expect(status == 0)
        #expect(output.count == 2)
        #expect(output.last?.hasSuffix(": post \(post) has 3") == true, "\(output)")
        await client.close()
        #expect(await second.stop() == 0)
    }

    @Test func aWatchEndsWithItsReader() async throws {
        try await Bench.run { bench in
            let command = """
                { "$@"; echo "status $?" >&2; } | { head -n 1; exec 0<&-; echo "nobody reads"; }
                """
            let process = try RunningProcess(
                URL(filePath: "/bin/sh"),
                ["-c", command, "sh", Programs.feedCtl.path()] + bench.arguments(["--json"])
            )
            let line = try #require(await process.line { $0.hasPrefix("{") })
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            #expect(object?["ranking"] as? [Int] == [1, 2, 3])
            #expect(await process.prints("nobody reads"))
            try await bench.client.vote(on: 3, .up)
            #expect(await process.prints("status 0"))
            #expect(await process.exitStatus() == 0)
        }
    }
}

/// `feedctl feed` at a terminal: single keys turn pages, vote and open, with a service and without.
@Suite(.timeLimit(.minutes(2))) struct FeedCtlPagerTests {
    private static func pager(_ flags: [String]) throws -> TerminalProcess {
        try TerminalProcess(
            Programs.feedCtl,
            ["feed", "posts", "--order", "old", "--rows", "3"] + flags,
            rowCount: 200
        )
    }

    /// Whether so many rows of the terminal, and no more, have a text, waiting for them.
    private static func shows(
        _ text: String,
        _ process: TerminalProcess,
        _ count: Int = 1
    ) async -> Bool {
        await process.screen { $0.rows.count { $0.contains(text) } == count } != nil
    }

    @Test func keysTurnPagesVoteAndOpen() async throws {
        let service = try await ServiceProcess.start(["--sample-data"])
        let folder = try TemporaryDirectory()
        let flags = ["--target", "127.0.0.1:\(service.port)", "--profile", folder.path]
        let pager = try Self.pager(flags)
        #expect(await Self.shows("1–3 of 20 posts.", pager))
        #expect(await Self.shows("n next, 1u up, 1d down, 1o open, q quit:", pager))
        #expect(!pager.takesLines)
        try pager.type("n")
        #expect(await Self.shows("4–6 of 20 posts.", pager))
        #expect(await Self.shows("n next, p previous, 4u up, 4d down, 4o open, q quit:", pager))
        try pager.type("5u")
        #expect(await Self.shows("Post 5: score 1 (1 up, 0 down).", pager))
        try pager.type("6d")
        #expect(await Self.shows("Post 6: score -1 (0 up, 1 down).", pager))
        // An arrow is no key, and a row of another page none to vote on.
        try pager.type("\u{1B}[B")
        try pager.type("9u")
        #expect(await Self.shows("No row 9 here.", pager))
        try pager.type("u")
        #expect(await Self.shows("Type the number of a row first, as 4u.", pager))
        try pager.type("4o")
        #expect(await Self.shows("revision  ", pager))
        try pager.type("p")
        #expect(await Self.shows("1–3 of 20 posts.", pager, 2))
        for first in stride(from: 4, through: 16, by: 3) {
            try pager.type(" ")
            let count = first == 4 ? 2 : 1
            #expect(await Self.shows("\(first)–\(first + 2) of 20 posts.", pager, count))
        }
        try pager.type("n")
        #expect(await Self.shows("19–20 of 20 posts.", pager))
        try pager.type("q")
        #expect(await pager.exitStatus() == 0)
        #expect(pager.takesLines)
        // The post that was opened is read, and it alone.
        let unread = try await FeedCtlTests.run(["feed", "posts", "--unread"] + flags)
        #expect(unread.output.contains("19 of 20 posts."), "\(unread.output)")
        #expect(await service.stop() == 0)
    }

    @Test func theCopyHasPagesToo() async throws {
        let service = try await ServiceProcess.start(["--sample-data"])
        let folder = try TemporaryDirectory()
        let flags = ["--target", "127.0.0.1:\(service.port)", "--profile", folder.path]
        let synced = try await FeedCtlTests.run(["sync"] + flags)
        try #require(synced.status == 0, "\(synced.output)")
        #expect(await service.stop() == 0)
        let pager = try Self.pager(flags + ["--offline"])
        #expect(await Self.shows("1–3 of 20 posts.", pager))
        try pager.type("n")
        #expect(await Self.shows("4–6 of 20 posts.", pager))
        try pager.type("4u")
        #expect(await Self.shows("The vote waits as entry 1 for feedctl sync.", pager))
        try pager.type("5o")
        #expect(await Self.shows("revision  ", pager))
        try pager.type("p")
        #expect(await Self.shows("1–3 of 20 posts.", pager, 2))
        try pager.type("q")
        #expect(await pager.exitStatus() == 0)
        let outbox = try await FeedCtlTests.run(["outbox"] + flags)
        #expect(outbox.output.contains("vote up on 4"), "\(outbox.output)")
        #expect(outbox.output.contains("mark read"), "\(outbox.output)")
    }

    @Test("a call that is refused does not end the pager")
    func aRefusalDoesNotEndThePager() async throws {
        let service = try await ServiceProcess.start(["--sample-data"])
        let folder = try TemporaryDirectory()
        let flags = ["--target", "127.0.0.1:\(service.port)", "--profile", folder.path]
        let pager = try Self.pager(flags)
        #expect(await Self.shows("1–3 of 20 posts.", pager))
        let gone = try await FeedCtlTests.run(["delete", "2"] + flags.prefix(2))
        try #require(gone.status == 0, "\(gone.output)")
        try pager.type("2u")
        #expect(await Self.shows("POST_NOT_FOUND", pager))
        try pager.type("3u")
        #expect(await Self.shows("Post 3: score 1 ", pager))
        try pager.type("\u{3}")
        #expect(await pager.exitStatus() == 0)
        #expect(await service.stop() == 0)
    }
}

/// The commands of a person, each a process of its own; a profile joins them.
@Suite(.timeLimit(.minutes(10))) struct FeedCtlPersonTests {
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

    private static func withPeople(_ body: (Person, Person) async throws -> Void) async throws {
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
            #expect(try await ann.feedctl("logout") == "Signed out.")
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
            let everywhere = try await ann.feedctl("logout", "--everywhere")
            #expect(everywhere == "Signed out on all devices.")
            let (again, nobody) = try await ann.run(["logout"])
            #expect(again == 1)
            #expect(nobody.contains("IDENTITY_REQUIRED"))
        }
    }

    /// The second person is the service, as there are no keys.
    @Test func aPersonChangesTheAccountAndAServiceHelps() async throws {
        try await Self.withPeople { ann, web in
            _ = try await ann.feedctl("signup", "ann@example.org", input: "secret1\n")
            let signedIn = "Signed in as ann, account 1."
            let changed = try await ann.feedctl("change-password", input: "secret1\nsecret2\n")
            #expect(changed == signedIn)
            #expect(try await ann.feedctl("whoami") == signedIn)
            let email = try await ann.feedctl("change-email", "a@example.org", input: "secret2\n")
            #expect(email == "The e-mail is a@example.org now.")
            let sessions = try await ann.feedctl("sessions").split(separator: "\n")
            #expect(sessions.count == 2 && sessions.last?.hasSuffix("this one") == true)
            let id = try #require(sessions.last?.prefix(16))
            #expect(try await ann.feedctl("end-session", "\(id)") == "Session \(id) has ended.")
            #expect(try await ann.run(["whoami"]).0 == 1)
            let token = try await web.feedctl("make-password-reset", "a@example.org")
            let reset = try await ann.feedctl("reset-password", input: "\(token)\nsecret3\n")
            #expect(reset == signedIn)
            #expect(try await web.feedctl("suspend", "1") == "account 1 is suspended.")
            let (status, refusal) = try await ann.run(
                ["login", "a@example.org"],
                input: "secret3"
            )
            #expect(status == 1 && refusal.contains("USER_SUSPENDED"))
            #expect(try await web.feedctl("restore", "1") == "account 1 may sign in.")
            #expect(try await ann.feedctl("login", "a@example.org", input: "secret3") == signedIn)
            let ended = try await web.feedctl("end-sessions", "a@example.org")
            #expect(ended == "a@example.org is signed out everywhere.")
            #expect(try await ann.run(["whoami"]).0 == 1)
            _ = try await ann.feedctl("login", "a@example.org", input: "secret3\n")
            let deleted = try await ann.feedctl(
                "delete-account",
                "--keep-posts",
                input: "secret3\n"
            )
            #expect(deleted == "The account is deleted; its posts stay without an author.")
            // The profile is the device's again.
            let (signedOut, words) = try await ann.run(["whoami"])
            #expect(signedOut == 1 && words.contains("IDENTITY_REQUIRED"))
            _ = try await ann.feedctl("signup", "a@example.org", input: "secret4\n")
            let removed = try await web.feedctl("delete-user", "2")
            #expect(removed == "account 2 is deleted, and the posts go with it.")
            #expect(try await web.run(["suspend", "2"]).1.contains("USER_NOT_FOUND"))
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
