import FeedTestSupport
import Foundation
import Testing

/// `loadgen dataset` against the service: files of posts, and exactly their votes.
@Suite(.serialized, .timeLimit(.minutes(10))) struct DatasetLoadTests {
    /// Posts that are hard to read or tie in score, two that the service does not take, and two
    /// with values that no post may have.
    static let smallFile =
        "ups,title,downs,created_utc,num_comments,thumbnail,url,selftext,author\r\n"
        + "10,\"Tie, the \"\"second\"\"\",3,1331610464.0,4,self,http://example.org/1,,Ada\r\n"
        + "10,\"Tie,\nthe first\",3,1331610464.0,4,http://example.org/t.png,,\"a\r\nb\",\r\n"
        + "2000,Much voted on,1500,1376577708.0,0,default,http://example.org/2,,\r\n"
        + "0,Never voted on,0,1.5,0,,,,\r\n"
        + "7,More down than up,90,0,1,nsfw,,text,\r\n"
        + "7,Below zero,-1,0,1,,,,\r\n"
        + "5,\(String(repeating: "é", count: 1_001)),1,0,0,,,,\r\n"
        + "5,Bad link,1,0,0,,http://example.org/a b,,\r\n"
        + "many,No number,1,0,0,,,,\r\n"

    static let otherFile =
        "title,ups,downs\n"
        + (0..<600).map { "post \($0 % 7),\($0 % 9),2\n" }
        .joined()

    /// Loads a service with two small files; returns the generator's exit status and output.
    private static func load(
        flags: [String] = [],
        times: Int = 1,
        runBefore: [String]? = nil
    ) async throws -> (Int32, [String]) {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let files = ["Small_Posts.csv": smallFile, "other.csv": otherFile].map { name, text in
            (folder.appending(path: name), text)
        }
        for (file, text) in files { try text.write(to: file, atomically: true, encoding: .utf8) }
        let paths = files.map { $0.0.path() }.sorted()
        return try await load(paths, [], flags, times: times, runBefore: runBefore)
    }

    private static func load(
        _ paths: [String],
        _ serviceFlags: [String],
        _ flags: [String],
        times: Int = 1,
        runBefore: [String]? = nil
    ) async throws -> (Int32, [String]) {
        let service = try await ServiceProcess.start(serviceFlags)
        var result: (Int32, [String]) = (0, [])
        if let runBefore {
            let process = try RunningProcess(
                Programs.loadGenerator,
                ["--target", "127.0.0.1:\(service.port)"] + runBefore
            )
            #expect(await process.finish().0 == 0)
        }
        for _ in 0..<times {
            let process = try RunningProcess(
                Programs.loadGenerator,
                ["dataset", "--target", "127.0.0.1:\(service.port)", "--timeout", "20s"] + flags
                    + paths
            )
            result = await process.finish()
        }
        #expect(await service.stop() == 0)
        return result
    }

    @Test(
        "every post has its file's counts",
        arguments: [
            [], ["-P", "16"], ["-t", "2", "-c", "7", "-P", "5"], ["--rate", "20k"],
            ["-P", "8", "--pipeline-mode", "batch"], ["-c", "1", "--seed", "9"],
            ["--batch", "100", "-c", "7"], ["--batch", "256", "-P", "4", "--retry", "10"],
        ]
    )
    func castsTheVotesOfItsFiles(_ flags: [String]) async throws {
        let (status, output) = try await Self.load(flags: flags)
        let text = output.joined(separator: "\n")
        #expect(status == 0, "\(text)")
        // 2,027 up and 1,596 down in one file; 2,391 up and 1,200 down in the other.
        #expect(
            text.contains("PASS  votes acked 7,214  unknown 0  failed 0  counted by server 7,214")
        )
        #expect(text.contains("605 of 605 posts exact"))
        #expect(text.contains("605 posts imported in"))
        #expect(
            text.contains(
                "Small_Posts.csv:10 left out: title has 1001 characters; the limit is 1000."
            )
        )
        #expect(text.contains("Small_Posts.csv:11 left out: link_url holds the byte 32"))
        let limits = "which is no whole number from 0 to 18446744073709551615."
        #expect(text.contains("Small_Posts.csv:9 left out: \"downs\" is \"-1\", \(limits)"))
        #expect(text.contains("Small_Posts.csv:12 left out: \"ups\" is \"many\", \(limits)"))
        #expect(text.contains(" s, 4 left out"))
    }

    @Test func minglesWithPostsOfAnotherRun() async throws {
        let (status, output) = try await Self.load(
            runBefore: ["--clients", "2", "--posts", "50", "--requests", "200", "-w", "0"]
        )
        #expect(status == 0, "\(output.joined(separator: "\n"))")
    }

    @Test func saysThatItsJSONIsLost() async throws {
        let service = try await ServiceProcess.start()
        let flags = "--target 127.0.0.1:\(service.port) --clients 2 --requests 10 --json -"
        let shell = try RunningProcess(
            URL(filePath: "/bin/bash"),
            ["-c", "'\(Programs.loadGenerator.path())' \(flags) > /dev/full"]
        )
        let (status, output) = await shell.finish()
        #expect(status == 1, "\(output)")
        #expect(output.last?.hasPrefix("loadgen: ") == true)
        #expect(await service.stop() == 0)
    }

    @Test func refusesMoreVotesThanItKeeps() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "v\(getpid()).csv")
        let most = UInt64.max
        try "title,ups,downs\na,\(most),\(most)\nb,\(most),1\n"
            .write(to: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: file) }
        let (status, output) = try await Self.load([file.path()], [], [])
        #expect(status == 2)
        #expect(
            output.last == "loadgen: The files have \(most) votes, repetitions included; "
                + "the limit is 1099511627776."
        )
    }

    @Test func saysWhyNoPostIsLeft() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "n\(getpid()).csv")
        try "title,ups\na,1.5\nb,2.5\n".write(to: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: file) }
        let (status, output) = try await Self.load([file.path()], [], [])
        #expect(status == 2)
        #expect(
            output.last == "loadgen: Every post of the files is left out. The first: "
                + "n\(getpid()).csv:2: \"ups\" is \"1.5\", which is no whole number from 0 to "
                + "18446744073709551615."
        )
    }

    @Test func refusesAFeedThatHasPosts() async throws {
        let (status, output) = try await Self.load(times: 2)
        #expect(status == 2)
        // Before it stands what the run would have cast.
        #expect(output.count == 2)
        #expect(output.last?.contains("has posts already") == true)
    }

    @Test func reportsItsFilesForPrograms() async throws {
        let (status, output) = try await Self.load(flags: ["--json", "-"])
        #expect(status == 0)
        // With JSON on standard output, the text goes to standard error.
        let start = try #require(output.firstIndex(of: "{"))
        let end = try #require(output[start...].firstIndex(of: "}"))
        let json = output[start...end].joined(separator: "\n")
        let object = try JSONSerialization.jsonObject(with: Data(json.utf8))
        let dataset = (object as? [String: Any])?["dataset"] as? [String: Any]
        #expect(dataset?["posts"] as? Int == 605)
        #expect(dataset?["left_out"] as? Int == 4)
        let files = try #require(dataset?["files"] as? [[String: Any]])
        let small = files.first { $0["feed"] as? String == "small-posts" }
        let leftOut = try #require(small?["left_out"] as? [[String: Any]])
        #expect(leftOut.map { $0["line"] as? Int } == [9, 10, 11, 12])
        #expect(leftOut[0]["field"] as? String == "downvote_count")
        #expect(leftOut[0]["reason"] as? String == "BAD_COUNT")
        #expect(leftOut[0]["value"] as? String == "-1")
        #expect((leftOut[0]["message"] as? String)?.contains("-1") == true)
        #expect(leftOut[0]["limit"] as? Int == 0)
        #expect(leftOut[1]["reason"] as? String == "TITLE_TOO_LONG")
        #expect(leftOut[1]["value"] as? String == "")
        #expect(leftOut[1]["limit"] as? Int == 1_000)
        #expect(leftOut[1]["actual"] as? Int == 1_001)
    }

    @Test(
        "real posts, all files at once",
        .enabled(if: !RealPosts.files.isEmpty, "\(RealPosts.absence)"),
        arguments: [["--threads", "1"], ["--threads", "2"]]
    )
    func castsTheVotesOfRealPosts(_ serviceFlags: [String]) async throws {
        let paths = RealPosts.files.map { $0.path() }
        let (status, output) = try await Self.load(paths, serviceFlags, ["-P", "64"])
        #expect(status == 0, "\(output.joined(separator: "\n"))")
        #expect(output.contains { $0.contains("Audit") && $0.contains("PASS") })
    }
}

/// The load generator against the service: its reports are true, and its audit passes.
///
/// LoadGenTests check that the audit fails for a service that counts wrong.
///
/// One at a time: a run with 500 clients wants the machine for itself.
@Suite(.serialized, .timeLimit(.minutes(10))) struct LoadTests {
    struct Run: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var flags: [String]
        /// The most votes that may have no answer yet when the sending ends.
        var inFlightCount = 500
    }

    static let runs = [
        Run(testDescription: "closed loop, 1 in flight", flags: []),
        Run(
            testDescription: "closed loop, 64 in flight",
            flags: ["--pipeline", "64"],
            inFlightCount: 32_000
        ),
        Run(
            testDescription: "batches of 256",
            flags: ["--batch", "256", "--clients", "50"],
            inFlightCount: 12_800
        ),
        Run(
            testDescription: "batches of 256, sent again",
            flags: ["--batch", "256", "--clients", "50", "--pipeline", "4", "--retry", "10"],
            // Retries wait until each request is answered.
            inFlightCount: 0
        ),
        Run(testDescription: "open loop", flags: ["--rate", "20k"]),
        Run(
            testDescription: "votes, pages and creations",
            flags: ["--mix", "vote=90,list=9,create=1"]
        ),
    ]

    static func load(_ port: UInt16, _ flags: [String]) async throws -> (Int32, [String]) {
        let process = try RunningProcess(
            Programs.loadGenerator,
            ["--target", "127.0.0.1:\(port)", "--clients", "500", "--warmup", "500ms"]
                + ["--duration", "2s", "--timeout", "20s"] + flags
        )
        let (status, output) = await process.finish()
        return (status, output)
    }

    @Test(arguments: runs)
    func countsEveryVoteOnce(_ run: Run) async throws {
        let service = try await ServiceProcess.start()
        let (status, output) = try await Self.load(service.port, run.flags)
        #expect(status == 0, "\(output.joined(separator: "\n"))")
        #expect(output.contains { $0.contains("Audit") && $0.contains("PASS") })
        // A run calls answers lost that come more than a second after the sending ended. On a busy
        // machine that second may be too short for the votes that were in flight then.
        let pattern = /error 0 \+ timeout 0 \+ lost ([\d,]+)/
        let outcomes = output.compactMap { $0.firstMatch(of: pattern) }
        let lostCount = try #require(outcomes.first, "\(output.joined(separator: "\n"))").1
        #expect(Int(lostCount.replacing(",", with: "")) ?? .max <= run.inFlightCount)
        #expect(await service.stop() == 0)
    }

    @Test("T-RUN-5: a service that is told to stop under load exits with 0")
    func stopsUnderLoad() async throws {
        let service = try await ServiceProcess.start()
        let load = try RunningProcess(
            Programs.loadGenerator,
            ["--target", "127.0.0.1:\(service.port)", "--clients", "500", "--pipeline", "16"]
                + ["--duration", "30s", "--progress", "1s"]
        )
        // The run is in its middle once it has reported some progress.
        _ = await load.line { $0.contains("p50") }
        #expect(await service.stop() == 0)
        let (status, output) = await load.finish()
        #expect(status == 1, "\(output.joined(separator: "\n"))")
    }
}
