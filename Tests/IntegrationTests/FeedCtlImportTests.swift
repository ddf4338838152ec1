import FeedTestSupport
import Foundation
import Testing

/// Imports that break off and go on, and a file that is looked at before.
@Suite(.timeLimit(.minutes(10))) struct FeedCtlImportTests {
    private static func withFile(_ text: String, _ body: (URL) async throws -> Void) async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).csv")
        try text.write(to: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: file) }
        try await body(file)
    }

    private static func rows(_ count: Int) -> String {
        (0..<count).map { "post \($0),\($0)\n" }.joined()
    }

    @Test func goesOnBehindTheLineThatAMessageNames() async throws {
        try await Self.withFile("title,ups\n\(Self.rows(700))broken\n") { file in
            try await FeedCtlTests.withService { feedctl in
                let command = ["import", file.path(), "--feed", "posts"]
                let broken = try await feedctl(command)
                #expect(broken.status == 1)
                let said = try #require(
                    broken.output.firstMatch(
                        of: /All up to line (\d+) is in; --from-line (\d+) goes on/
                    )
                )
                let line = try #require(Int(said.1))
                // The rows before the broken one leave in whole frames.
                #expect(Int(said.2) == line + 1 && line <= 701)
                try "title,ups\n\(Self.rows(900))".write(
                    to: file,
                    atomically: true,
                    encoding: .utf8
                )
                let rest = try FeedCtlTests.object(
                    try await feedctl(command + ["--from-line", "\(said.2)", "--json"])
                )
                #expect(rest["imported_count"] as? Int == 901 - line)
                let list = try FeedCtlTests.object(
                    try await feedctl(["list", "--limit", "1", "--order", "top", "--json"])
                )
                #expect(list["total_size"] as? Int == 900)
            }
        }
    }

    /// A frame of 256 short posts and its answer have some 5,000 bytes: a connection passes a few at most.
    @Test(arguments: TestEnvironment.seeds(1...2))
    func importsOncePastLostConnections(_ seed: UInt64) async throws {
        let service = try await ServiceProcess.start()
        let relay = try await CuttingRelay.start(to: service.port, seed: seed, byteLimit: 40_000)
        try await Self.withFile("title\n" + String(repeating: "a\n", count: 1_500)) { file in
            let result = try await FeedCtlTests.run([
                "import", file.path(), "--feed", "posts", "--json", "--timeout", "600",
                "--target", relay.address,
            ])
            #expect(try FeedCtlTests.object(result)["imported_count"] as? Int == 1_500)
        }
        let target = ["--target", "127.0.0.1:\(service.port)", "--json"]
        let stats = try FeedCtlTests.object(try await FeedCtlTests.run(["stats"] + target))
        #expect(stats["post_count"] as? Int == 1_500)
        // Each run has a channel of its own, on which what is sent again is executed once.
        #expect(stats["channel_count"] as? Int == 1)
        await relay.stop()
        #expect(await service.stop() == 0)
    }

    @Test func looksAtAFileWithoutAService() async throws {
        try await Self.withFile("Title;Score;Flair\nA;1;x\nB;many;y\n") { file in
            let command = ["import", file.path(), "--check"]
            let text = try await FeedCtlTests.run(command)
            #expect(text.status == 0)
            #expect(text.output.contains("1 posts can be sent; 1 would be left out."))
            #expect(text.output.contains("Columns that are not read: \"Flair\"."))
            let report = try FeedCtlTests.object(try await FeedCtlTests.run(command + ["--json"]))
            #expect(report["post_count"] as? Int == 1)
            let columns = try #require(report["columns"] as? [String: Any])
            #expect(columns["unread"] as? [String] == ["Flair"])
            #expect((columns["missing"] as? [String])?.contains("created_utc") == true)
        }
    }

    @Test(arguments: [
        (["--from-line", "0", "--feed", "posts"], "--from-line: expected 1 or more, got 0."),
        (["--columns", "x=y", "--feed", "posts"], "--columns: expected FIELD=NAME"),
        (["--time-format", "soon", "--feed", "posts"], "--time-format: expected seconds"),
        ([], "--feed: expected the name of a feed"),
    ])
    func refusesAWrongFlag(_ flags: [String], _ said: String) async throws {
        let result = try await FeedCtlTests.run(["import", "x.csv"] + flags)
        #expect(result.status == 2 && result.output.contains(said), "\(result.output)")
    }
}

/// The commands of a person where no service can be reached.
@Suite(.timeLimit(.minutes(10))) struct FeedCtlOfflineTests {
    @Test func aPersonReadsVotesAndPostsOfflineAndSyncsLater() async throws {
        let service = try await ServiceProcess.start(["--sample-data"])
        let folder = try TemporaryDirectory()
        let ann = FeedCtlPersonTests.Person(port: service.port, folder: folder)
        let synced = try await ann.feedctl("sync")
        #expect(synced.contains("Outbox: 0 sent, 0 waiting."))
        #expect(synced.contains("New copy: 20 posts changed, 0 removed."))

        // A port where nothing listens.
        let port = try ReservedPort()
        let away = FeedCtlPersonTests.Person(port: port.number, folder: folder)
        #expect(try await away.feedctl("feed", "--offline").contains("20 of 20 posts."))
        let (status, refusal) = try await away.run(["up", "2"])
        #expect(status == 1)
        #expect(refusal.contains("--queue keeps the change for feedctl sync"))
        let queued = try await away.feedctl("up", "2", "--queue")
        #expect(
            queued == "No service can be reached: the change waits as entry 1 for feedctl sync."
        )
        _ = try await away.feedctl("post", "Queued", "--queue")
        // What the service would refuse for certain is refused at once, and the rest when it is sent.
        let title = String(repeating: "x", count: 300)
        let (long, why) = try await away.run(["post", title, "--queue"])
        #expect(long == 1 && why.contains("TITLE_TOO_LONG"))
        _ = try await away.feedctl("post", "Link", "--link", "javascript:alert(1)", "--queue")
        #expect(try await away.feedctl("feed", "--offline", "--order", "new").contains("Queued"))
        #expect(try await away.feedctl("outbox").contains("vote up on 2"))
        #expect(try await away.run(["sync"]).0 == 1)

        let (refused, sent) = try await ann.run(["sync"])
        #expect(refused == 3)
        #expect(sent.contains("Outbox: 2 sent, 0 waiting, 1 refused (feedctl outbox)."))
        #expect(try await ann.feedctl("outbox").contains("BAD_URL"))
        #expect(try await ann.feedctl("outbox", "--drop", "3") == "The outbox is empty.")
        #expect(try await ann.feedctl("feed", "posts", "--order", "new").contains("Queued"))
        // A service that is reached takes the change at once.
        #expect(try await ann.feedctl("up", "2", "--queue").hasPrefix("Post 2: score "))
        #expect(try await ann.feedctl("outbox") == "The outbox is empty.")
        #expect(await service.stop() == 0)
    }

    @Test func aQueuedChangeIsSentAsTheAccountThatMadeIt() async throws {
        let service = try await ServiceProcess.start()
        let folder = try TemporaryDirectory()
        let near = FeedCtlPersonTests.Person(port: service.port, folder: folder)
        let port = try ReservedPort()
        let away = FeedCtlPersonTests.Person(port: port.number, folder: folder)
        let signedUp = try await near.feedctl("signup", "ann@example.org", input: "secret1\n")
        #expect(signedUp == "Signed in as ann, account 1.")
        _ = try await away.feedctl("post", "Apples", "--queue")
        _ = try await near.feedctl("signup", "bob@example.org", input: "secret2\n")
        let kept = try await near.feedctl("sync")
        #expect(kept.contains("0 sent, 1 waiting, 1 of them for another account (feedctl outbox)."))
        let outbox = try await near.feedctl("outbox")
        #expect(outbox.contains("It is sent once account 1 signs in."), "\(outbox)")
        _ = try await near.feedctl("login", "ann@example.org", input: "secret1\n")
        #expect(try await near.feedctl("sync").contains("Outbox: 1 sent, 0 waiting.\n"))
        #expect(try await near.feedctl("read", "1").contains("author    ann (user 1)"))
        #expect(await service.stop() == 0)
    }
}
