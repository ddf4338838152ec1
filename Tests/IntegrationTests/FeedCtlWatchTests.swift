import FeedClient
import FeedProto
import FeedTestSupport
import Foundation
import Testing

/// `feedctl watch` as a process, at a terminal and without one.
@Suite(.timeLimit(.minutes(10)))
struct FeedCtlWatchTests {
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
                let post = try await client.createPost(Post(title: title))
                for _ in 0..<votes { try await client.vote(on: post.id, .up) }
            }
            try await body(
                Bench(client: client, target: address, folder: try TemporaryDirectory())
            )
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

    @Test(.enabled(DurableService.absence, DurableService.isBuilt))
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
