import FeedTestSupport
import Foundation
import Testing

/// The command line as a process, against the service as another.
@Suite(.timeLimit(.minutes(10)))
struct FeedCtlTests {
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
        let service = try await ServiceProcess.start()
        #expect(await service.stop() == 0)
        let result = try await Self.run(["list", "--target", "127.0.0.1:\(service.port)"])
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
