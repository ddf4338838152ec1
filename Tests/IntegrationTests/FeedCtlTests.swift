import FeedClient
import FeedTestSupport
import Foundation
import Testing

/// The command line as a process, against the service as another.
@Suite(.timeLimit(.minutes(10))) struct FeedCtlTests {
    static func run(_ arguments: [String]) async throws -> (status: Int32, output: String) {
        let (status, lines) = try await RunningProcess(Programs.feedCtl, arguments).finish()
        return (status, lines.joined(separator: "\n"))
    }

    /// Runs commands against a service of their own.
    static func withService(
        _ body: (_ feedctl: ([String]) async throws -> (status: Int32, output: String)) async throws
            -> Void
    ) async throws {
        let service = try await ServiceProcess.start()
        try await body { try await run($0 + ["--target", "127.0.0.1:\(service.port)"]) }
        #expect(await service.stop() == 0)
    }

    static func object(_ result: (status: Int32, output: String)) throws -> [String: Any] {
        try #require(result.status == 0, "\(result.output)")
        let object = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
        return try #require(object as? [String: Any])
    }

    @Test func aPostFromItsCreationToItsEnd() async throws {
        try await Self.withService { feedctl in
            let title = "A\u{1B}[31m\u{202E}日本"
            let made = try Self.object(
                try await feedctl(["create", "--title", title, "--author", "Ada", "--json"])
            )
            let id = "\(try #require(made["id"] as? Int))"
            #expect(made["title"] as? String == title)
            let vote = try Self.object(try await feedctl(["vote", id, "up", "--json"]))
            #expect(vote["score"] as? Int == 1)
            let shown = try await feedctl(["get", id])
            #expect(shown.output.contains("title     A\\u{1B}[31m\\u{202E}日本"))
            let list = try await feedctl(["list"])
            #expect(list.output.contains("1 of 1 posts."))
            let gone = try Self.object(try await feedctl(["delete", id, "--json"]))
            #expect(gone["deleted_id"] as? Int == made["id"] as? Int)
            let missing = try await feedctl(["get", id])
            #expect(missing.status == 1)
            #expect(missing.output.hasPrefix("feedctl: NOT_FOUND / POST_NOT_FOUND"))
        }
    }

    /// Waiting for a service would take longer than the time limit of the test.
    @Test func saysAtOnceThatNothingListens() async throws {
        let port = try ReservedPort()
        defer { withExtendedLifetime(port) {} }
        let flags = ["--target", port.address, "--timeout", "3600"]
        let (status, output) = try await Self.run(["list"] + flags)
        #expect(status == 1)
        #expect(output.contains("nothing listens at the address"))
    }

    /// As between two leaders of a cluster: nothing of the command was executed.
    @Test func waitsForOneOfSeveralServices() async throws {
        let ports = [try ReservedPort(), try ReservedPort()]
        defer { withExtendedLifetime(ports) {} }
        let target = ports.map(\.address).joined(separator: ",")
        let command = ["create", "--title", "Apple", "--target", target, "--timeout", "300"]
        let waiting = try RunningProcess(Programs.feedCtl, command)
        #expect(await waiting.prints("trying again for 300.0 seconds"))
        let service = try RunningProcess(
            Programs.feedService,
            ["--listen", ports[1].address, "--in-memory"]
        )
        let (status, output) = await waiting.finish()
        #expect(status == 0, "\(output)")
        #expect(output.count { $0.contains("trying again") } == 1)
        service.signal(15)
        #expect(await service.exitStatus() == 0)
    }

    @Test func endsAtItsTimeoutWhereNoneOfSeveralServicesAnswers() async throws {
        let ports = [try ReservedPort(), try ReservedPort()]
        defer { withExtendedLifetime(ports) {} }
        let target = ports.map(\.address).joined(separator: ",")
        let flags = ["--target", target, "--timeout", "0.25"]
        let (status, output) = try await Self.run(["vote", "7", "up"] + flags)
        #expect(status == 1)
        #expect(output.contains("nothing listens at the address"), "\(output)")
    }

    @Test("a call ends after the time of the flag", arguments: ["list", "feed"])
    func endsACallAfterItsTimeout(_ command: String) async throws {
        let service = try await ServiceProcess.start()
        // Its kernel takes connections, and nobody answers.
        service.process.signal(SIGSTOP)
        let folder = try TemporaryDirectory()
        let flags = ["--target", "127.0.0.1:\(service.port)", "--timeout", "0.25"]
        let profile = command == "feed" ? ["--profile", folder.path] : []
        let (status, output) = try await Self.run([command] + flags + profile)
        service.process.signal(SIGCONT)
        #expect(await service.stop() == 0)
        #expect(status == 1)
        #expect(output.contains("0.25 seconds"), "\(output)")
    }

    @Test func namesTheHostThatHasNoAddress() async throws {
        // The name is reserved: no server has an address for it.
        let (status, output) = try await Self.run(["list", "--target", "feed.invalid:7433"])
        #expect(status == 1)
        #expect(output.hasPrefix("feedctl: No address for \"feed.invalid\": "))
    }

    @Test func pagesLeadOnByTheirTokens() async throws {
        try await Self.withService { feedctl in
            for title in ["a", "b", "c"] { _ = try await feedctl(["create", "--title", title]) }
            var titles: [String] = []
            var token: String? = ""
            while let from = token {
                let start = from.isEmpty ? [] : ["--page-token", from]
                let flags = ["list", "--order", "old", "--limit", "2", "--json"]
                let page = try Self.object(try await feedctl(flags + start))
                let posts = try #require(page["posts"] as? [[String: Any]])
                titles += posts.compactMap { $0["title"] as? String }
                let next = page["next_page_token"] as? String
                token = next?.isEmpty == false ? next : nil
            }
            #expect(titles == ["a", "b", "c"])
        }
    }

    @Test func importsAFileAndNamesWhatItLeftOut() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).csv")
        let long = String(repeating: "x", count: 1_001)
        var text =
            "title,created_utc,ups,downs,num_comments\n\"Two\nlines\",1000.0,7,2,3\n\(long),1,1,1,1\n"
            + "Minus,1,1,-1,1\n"
        for number in 0..<1_000 { text += "post \(number),\(2_000 + number),1,0,0\n" }
        try text.write(to: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: file) }
        try await Self.withService { feedctl in
            let flags = ["import", file.path(), "--feed", "books"]
            let early = try await feedctl(flags)
            #expect(early.status == 1)
            #expect(early.output.contains("FEED_NOT_FOUND"))
            let report = try Self.object(try await feedctl(flags + ["--create-feed", "--json"]))
            #expect(report["imported_count"] as? Int == 1_001)
            let leftOut = try #require(report["left_out"] as? [[String: Any]])
            #expect(leftOut.map { $0["line"] as? Int } == [4, 5])
            #expect(leftOut.first?["actual"] as? Int == 1_001)
            #expect(leftOut.last?["value"] as? String == "-1")
            #expect(leftOut.last?["field"] as? String == "downvote_count")
            let list = try Self.object(
                try await feedctl(["list", "--feed", "books", "--limit", "1", "--json"])
            )
            #expect(list["total_size"] as? Int == 1_001)
            let first = try #require((list["posts"] as? [[String: Any]])?.first)
            #expect(first["title"] as? String == "Two\nlines")
            #expect(first["score"] as? Int == 5)
            #expect(first["create_time_ms"] as? Int == 1_000_000)
        }
    }

    @Test func aFileThatCannotBeReadOnSaysWhere() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).csv")
        try "title,ups\nApple,1\nPear\n".write(to: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: file) }
        try await Self.withService { feedctl in
            let result = try await feedctl(["import", file.path(), "--feed", "posts"])
            #expect(result.status == 1)
            #expect(result.output.contains("Line 3"), "\(result.output)")
        }
    }

    @Test func countsWhatWasInFlightWhereAFileBreaksOff() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).csv")
        let rows = (0..<3_000).map { "Apple \($0),1\n" }.joined()
        try "title,ups\n\(rows)Pear\n".write(to: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: file) }
        try await Self.withService { feedctl in
            let result = try await feedctl(["import", file.path(), "--feed", "posts"])
            #expect(result.status == 1)
            let stats = try Self.object(try await feedctl(["stats", "--json"]))
            let count = try #require(stats["post_count"] as? Int)
            #expect(count > 2_000)
            #expect(result.output.contains(" \(count) posts were imported before."))
        }
    }

    @Test("says why a file cannot be read", arguments: ["/", "/nowhere/none.csv"])
    func saysWhyAFileCannotBeRead(_ path: String) async throws {
        try await Self.withService { feedctl in
            let result = try await feedctl(["import", path, "--feed", "posts"])
            #expect(result.status == 1)
            let reason = path == "/" ? "Is a directory." : "No such file or directory."
            #expect(result.output.hasPrefix("feedctl: \(path): "), "\(result.output)")
            #expect(result.output.contains(reason), "\(result.output)")
        }
    }

    @Test func leavesOutAPostThatNoFrameHolds() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).csv")
        try "title,selftext\nApple,red\nPear,\(String(repeating: "x", count: 3 << 20))\nPlum,\n"
            .write(to: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: file) }
        try await Self.withService { feedctl in
            let report = try Self.object(
                try await feedctl(["import", file.path(), "--feed", "posts", "--json"])
            )
            #expect(report["imported_count"] as? Int == 2)
            let leftOut = try #require(report["left_out"] as? [[String: Any]])
            #expect(leftOut.map { $0["line"] as? Int } == [3])
            #expect(leftOut.first?["reason"] as? String == "TEXT_TOO_LONG")
        }
    }

    @Test(
        "what cannot be written is an error, but for a reader that went away",
        arguments: [("> /dev/full", 1), (">&-", 1), ("| true", 0), ("2>&-", 0)]
    )
    func saysThatItsOutputIsLost(_ redirection: String, _ status: Int32) async throws {
        let service = try await ServiceProcess.start()
        let target = "127.0.0.1:\(service.port)"
        let command = "'\(Programs.feedCtl.path())' feeds --target \(target) \(redirection)"
        let shell = try RunningProcess(
            URL(filePath: "/bin/bash"),
            ["-c", "set -o pipefail; \(command)"]
        )
        let (ended, output) = await shell.finish()
        #expect(ended == status, "\(output)")
        #expect((status == 1) == output.contains { $0.contains("could not be written") })
        #expect(await service.stop() == 0)
    }

    @Test func feedsAndStatisticsAreTables() async throws {
        try await Self.withService { feedctl in
            #expect(try await feedctl(["feeds"]).output.contains("tweets"))
            let stats = try await feedctl(["stats"])
            #expect(stats.output.contains("list_feeds"))
            #expect(stats.output.contains("durability"))
        }
    }

    @Test func saysThatNoServiceIsThere() async throws {
        let port = try ReservedPort()
        let result = try await Self.run(["list", "--target", port.address])
        #expect(result.status == 1)
        #expect(result.output.hasPrefix("feedctl: No connection to the service:"))
    }

    static let wrong: [[String]] = [
        [], ["bogus"], ["vote", "1"], ["vote", "1", "sideways"], ["get", "x"],
        ["list", "--limit", "0"], ["list", "--around", "1", "--from-rank", "1"],
        ["list", "--page-token", "!"], ["list", "--target", "nowhere:x"],
        ["list", "--timeout", "0"], ["create"], ["import", "x.csv"],
        ["vote", "1", "up", "--client-id", "zz"],
    ]

    @Test("exits with 2 where the command line is wrong", arguments: wrong)
    func refusesAWrongCommandLine(_ arguments: [String]) async throws {
        let result = try await Self.run(arguments)
        #expect(result.status == 2, "\(result.output)")
        #expect(!result.output.isEmpty)
    }

    @Test func saysItsVersion() async throws {
        let service = try await RunningProcess(Programs.feedService, ["--version"]).finish()
        let tool = try await Self.run(["--version"])
        #expect(tool.status == 0)
        #expect(!tool.output.isEmpty && tool.output == service.output.joined())
    }

    @Test func takesANumberBelowZeroForAValue() async throws {
        let result = try await Self.run(["list", "--limit", "-1"])
        #expect(result.status == 2)
        #expect(result.output.contains("--limit: expected 1 to 10000, got -1."))
    }
}

/// `feedctl` as a service that has a key, and its commands about places and marks.
@Suite(.timeLimit(.minutes(10))) struct FeedCtlServiceTests {
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
            let newest = try FeedCtlTests.object(await feedctl(["get", "3", "--json"] + caller))
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
        let (status, output) = try await FeedCtlTests.run(arguments + ["--target", "127.0.0.1:1"])
        #expect(status == 2, "\(output)")
    }
}

/// A person says once where the service is, and how the connection to it is secured.
@Suite(.timeLimit(.minutes(3))) struct FeedCtlTargetTests {
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

/// `feedctl` whose output nobody reads: it does its work, and it ends when it is told to.
@Suite(.timeLimit(.minutes(2))) struct FeedCtlUnreadTests {
    /// Runs a program whose standard error is a pipe that is full, or that nobody reads.
    private static let withoutReader = """
        import os, subprocess, sys
        reader, writer = os.pipe()
        if sys.argv[1] == "full":
            os.set_blocking(writer, False)
            try:
                while True:
                    os.write(writer, bytes(4096))
            except BlockingIOError:
                os.set_blocking(writer, True)
        else:
            os.close(reader)
        sys.exit(subprocess.run(sys.argv[2:], stderr=writer).returncode)
        """

    @Test("a notice that nobody reads costs no work", arguments: ["full", "closed"])
    func aNoticeThatNobodyReadsCostsNoWork(pipe: String) async throws {
        let service = try await ServiceProcess.start()
        let folder = try TemporaryDirectory()
        // The notice: others may read the session.
        let session = folder.path + "/session"
        try Data("a session\n".utf8).write(to: URL(filePath: session))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: session)
        let python = try #require(Programs.command("python3"), "python3 is on the path")
        let process = try RunningProcess(
            python,
            ["-c", Self.withoutReader, pipe, Programs.feedCtl.path(), "post", "Apples"]
                + ["--target", "127.0.0.1:\(service.port)", "--profile", folder.path]
        )
        let (status, output) = await process.finish()
        #expect(status == 0)
        #expect(output.contains("title     Apples"), "\(output)")
        #expect(await service.stop() == 0)
    }

    @Test("a terminal that nobody reads does not hold up the end", arguments: ["q", "\u{3}"])
    func aTerminalThatNobodyReadsDoesNotHoldUpTheEnd(key: String) async throws {
        let service = try await ServiceProcess.start(["--sample-data"])
        let folder = try TemporaryDirectory()
        let flags = ["--target", "127.0.0.1:\(service.port)", "--profile", folder.path]
        let process = try TerminalProcess(Programs.feedCtl, ["watch"] + flags)
        #expect(await process.screen { $0.rows.contains("In order.") } != nil)
        // Ctrl-S stops the output, so each write waits from here on.
        try process.type("\u{13}")
        if key == "q" { process.signal(SIGTERM) } else { try process.type(key) }
        #expect(await process.exitStatus() == 1)
        #expect(process.takesLines)
        #expect(await service.stop() == 0)
    }

    @Test("Ctrl-C at the password ends the program and brings the terminal back")
    func theTerminalShowsAgainWhatIsTypedAfterAPassword() async throws {
        let service = try await ServiceProcess.start()
        let folder = try TemporaryDirectory()
        let flags = ["--target", "127.0.0.1:\(service.port)", "--profile", folder.path]
        let process = try TerminalProcess(Programs.feedCtl, ["login", "ann@example.org"] + flags)
        #expect(await process.screen { $0.rows.contains("Password:") } != nil)
        #expect(!process.takesLines)
        try process.type("sec\u{3}")
        #expect(await process.exitStatus() == -SIGINT)
        #expect(process.takesLines)
        #expect(!process.screen.rows.contains { $0.contains("sec") })
        #expect(await service.stop() == 0)
    }
}
