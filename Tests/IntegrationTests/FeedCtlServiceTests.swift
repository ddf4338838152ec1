import FeedTestSupport
import Foundation
import Testing

/// `feedctl` as a service that has a key, and its commands about places and marks.
@Suite(.timeLimit(.minutes(10)))
struct FeedCtlServiceTests {
    @Test func aKeyFileMakesItAService() async throws {
        let directory = try TemporaryDirectory()
        let key = "\(directory.path)/web.key"
        let keys = "\(directory.path)/keys"
        let made = try await RunningProcess(Programs.feedService, ["new-service-key", "web", key])
            .finish()
        try #require(made.status == 0, "\(made.output)")
        let isMade = FileManager.default.createFile(
            atPath: keys,
            contents: Data(made.output.joined(separator: "\n").utf8),
            attributes: [.posixPermissions: 0o600]
        )
        try #require(isMade)
        let service = try await ServiceProcess.start([
            "--service-keys", keys, "--data-dir", "\(directory.path)/data", "--posts-from",
            "services",
        ])
        let target = ["--target", "127.0.0.1:\(service.port)"]
        let refused = try await FeedCtlTests.run(["correct-times"] + target)
        #expect(refused.status == 1)
        #expect(refused.output.contains("PERMISSION_DENIED / SERVICE_ONLY"), "\(refused.output)")
        let post = ["create", "--title", "a"]
        let stranger = try await FeedCtlTests.run(post + target)
        #expect(stranger.status == 1 && stranger.output.contains("SERVICE_ONLY"))
        let flags = target + ["--service-key-file", key]
        #expect(try await FeedCtlTests.run(post + flags).status == 0)
        let taken = try await FeedCtlTests.run(["correct-times"] + flags)
        #expect(taken.status == 0, "\(taken.output)")
        let untold = try await FeedCtlTests.run(["backups"] + target)
        #expect(untold.status == 1 && untold.output.contains("--service-key-file"))
        #expect(try await !FeedCtlTests.run(["stats"] + target).output.contains("free bytes"))
        let told = try await FeedCtlTests.run(["backups"] + flags)
        #expect(told.output == "last backup  none")
        #expect(await service.stop() == 0)
    }

    @Test("delete-posts shows whose posts they are, and deletes those of one device alone")
    func deletesThePostsOfADevice() async throws {
        let service = try await ServiceProcess.start()
        let port = service.port
        try await offload {
            // More than one call answers with, and one of another device.
            for (byte, count) in [(UInt8(0x0f), 300), (7, 1)] {
                let client = try WireClient(port: port)
                _ = try client.hello(clientID: [UInt8](repeating: byte, count: 16))
                for number in 0..<count { _ = try client.createPost(title: "post \(number)") }
            }
        }
        let device = ["--device", String(repeating: "0f", count: 16)]
        func run(_ flags: [String]) async throws -> (status: Int32, output: String) {
            let target = ["--target", "127.0.0.1:\(port)"]
            return try await FeedCtlTests.run(["delete-posts"] + flags + target)
        }
        let found = try await run(device + ["--host", "127.0.0.1", "--since", "1h"])
        #expect(found.status == 0 && found.output.contains("300 posts found."), "\(found.output)")
        #expect(found.output.contains("\(device[1])  127.0.0.1  post 299"), "\(found.output)")
        let others = try await run(["--host", "192.0.2.1", "--apply"])
        #expect(others.status == 0 && others.output.contains("0 posts deleted."))
        let later = try await run(device + ["--since", "4102444800000", "--apply"])
        #expect(later.status == 0 && later.output.contains("0 posts deleted."))
        let all = try await run(["--apply"])
        #expect(all.status == 2 && all.output.contains("--apply: expected --author, --device"))
        let deleted = try await run(device + ["--apply", "--json"])
        #expect(try FeedCtlTests.object(deleted)["post_count"] as? Int == 300)
        let left = try FeedCtlTests.object(try await run(["--json"]))
        let posts = try #require(left["posts"] as? [[String: Any]])
        #expect(posts.map { $0["client_id"] as? String } == [String(repeating: "07", count: 16)])
        #expect(await service.stop() == 0)
    }

    @Test func findsThePlaceOfAPost() async throws {
        try await FeedCtlTests.withService { feedctl in
            for title in ["a", "b"] { _ = try await feedctl(["create", "--title", title]) }
            _ = try await feedctl(["vote", "2", "up"])
            let place = try await feedctl(["rank", "1", "--order", "top"])
            #expect(place.output == "Post 1: rank 2 of 2.")
            let newest = try FeedCtlTests.object(
                try await feedctl(["rank", "2", "--order", "new", "--json"])
            )
            #expect(newest["rank"] as? Int == 1)
        }
    }

    @Test func listsInEachOrderAndWindow() async throws {
        try await FeedCtlTests.withService { feedctl in
            for title in ["a", "b"] { _ = try await feedctl(["create", "--title", title]) }
            _ = try await feedctl(["vote", "2", "up"])
            let flags = [
                ["best"], ["controversial"], ["discussed"], ["new"], ["old"], ["hot"],
                ["top", "--window", "hour"], ["discussed", "--window", "day"],
                ["controversial", "--window", "week"], ["top", "--window", "month"],
                ["top", "--window", "year"],
            ]
            for each in flags {
                let list = try FeedCtlTests.object(
                    try await feedctl(["list", "--json", "--order"] + each)
                )
                #expect((list["posts"] as? [Any])?.count == 2, "\(each)")
            }
        }
    }

    @Test func makesAFeedOfBallots() async throws {
        try await FeedCtlTests.withService { feedctl in
            let flags = ["--voters", "devices", "--order", "new", "--max-title", "99", "--json"]
            let made = try FeedCtlTests.object(try await feedctl(["create-feed", "polls"] + flags))
            let feed = try #require((made["feeds"] as? [[String: Any]])?.first)
            #expect(feed["name"] as? String == "polls")
            #expect(feed["vote_mode"] as? String == "ballot")
            #expect(feed["voters"] as? String == "devices")
            #expect(feed["default_order"] as? String == "new")
            #expect(feed["max_title_length"] as? Int == 99)
            let again = try await feedctl(["create-feed", "polls"])
            #expect(again.status == 1 && again.output.contains("FEED_EXISTS"), "\(again.output)")
            let tally = try FeedCtlTests.object(
                try await feedctl(["create-feed", "likes", "--json"])
            )
            let likes = try #require((tally["feeds"] as? [[String: Any]])?.first)
            #expect(likes["vote_mode"] as? String == "tally")
        }
    }

    @Test func saysHowManyPostsItMarked() async throws {
        try await FeedCtlTests.withService { feedctl in
            _ = try await feedctl(["create", "--title", "a"])
            let caller = ["--client-id", String(repeating: "0f", count: 16)]
            let marked = try await feedctl(["mark", "read", "1", "55555"] + caller)
            #expect(marked.status == 0)
            #expect(marked.output == "Marked: 1. No such post: 55555.\nUnread: 0.")
        }
    }

    @Test func marksAllPostsOfAFeed() async throws {
        try await FeedCtlTests.withService { feedctl in
            let caller = ["--client-id", String(repeating: "0f", count: 16)]
            let empty = try await feedctl(["mark", "read", "--all"] + caller)
            #expect(empty.output == "Unread: 0.")
            for title in ["a", "b", "c"] { _ = try await feedctl(["create", "--title", title]) }
            // The newest post is dismissed, and marked all the same.
            _ = try await feedctl(["mark", "dismissed", "3"] + caller)
            let marked = try await feedctl(["mark", "read", "--all", "--feed", "posts"] + caller)
            #expect(marked.output == "Unread: 0.")
            let newest = try FeedCtlTests.object(
                try await feedctl(["get", "3", "--json"] + caller)
            )
            #expect(newest["is_read"] as? Bool == true)
        }
    }

    @Test func theCommandThatIsPrintedContinues() async throws {
        try await FeedCtlTests.withService { feedctl in
            for title in ["a", "b"] { _ = try await feedctl(["create", "--title", title]) }
            let device = String(repeating: "0f", count: 16)
            let flags = ["--order", "old", "--client-id", device, "--limit", "1"]
            let first = try await feedctl(["list"] + flags)
            let next = try #require(first.output.split(separator: "\n").last)
            try #require(next.hasPrefix("After:  "), "\(first.output)")
            let shell = try RunningProcess(
                URL(filePath: "/bin/bash"),
                ["-c", String(next.dropFirst(8))]
            )
            let (status, output) = await shell.finish()
            #expect(status == 0, "\(output)")
            #expect(output.contains { $0.hasSuffix(" 2  b") }, "\(output)")
        }
    }

    @Test func namesTheFlagsThatGiveAnIdentity() async throws {
        try await FeedCtlTests.withService { feedctl in
            let list = try await feedctl(["list", "--unread"])
            #expect(list.status == 1)
            #expect(list.output.contains("unread_only needs a viewer: "), "\(list.output)")
            #expect(list.output.hasSuffix(" (--client-id or --acting-user)"), "\(list.output)")
            let device = String(repeating: "0f", count: 16)
            let known = try await feedctl(["list", "--unread", "--client-id", device])
            #expect(known.status == 0, "\(known.output)")
        }
    }

    @Test(
        "a wrong command line ends with 2 before the service is asked",
        arguments: [
            ["mark", "read"], ["mark", "read", "1", "--all"],
            ["mark", "read", "1", "--through", "2"], ["mark", "seen", "1"],
            ["create-feed"], ["create-feed", "polls", "--voters", "nobody"],
            ["list", "--window", "decade"], ["list", "--order", "worst"],
            ["list", "--around", "1", "--newer-than", "2"],
            ["feeds", "--service-key-file", "/nowhere/none.key"],
        ]
    )
    func refusesAWrongCommandLine(_ arguments: [String]) async throws {
        let (status, output) = try await FeedCtlTests.run(
            arguments + ["--target", "127.0.0.1:1"]
        )
        #expect(status == 2, "\(output)")
    }
}
