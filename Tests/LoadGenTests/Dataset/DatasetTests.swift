import ArgumentParser
import FeedClient
import FeedDataset
import FeedImport
import FeedTestSupport
import Foundation
import LoadGen
import LoadGenCommand
import Testing

@Suite struct DatasetTests {
    private func withFile(_ name: String, _ text: String, _ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: name)
        try text.write(to: file, atomically: true, encoding: .utf8)
        try body(file.path())
    }

    @Test(arguments: [
        ("books.csv", "books"), ("iOSProgramming.csv", "iosprogramming"),
        ("today_I_learned.csv", "today-i-learned"), ("a.b.csv", nil), ("2x.csv", nil),
        ("_x.csv", nil), ("größe.csv", nil),
    ])
    func namesTheFeedAfterTheFile(name: String, feed: String?) throws {
        try withFile(name, "title\na\n") { path in
            guard let feed else {
                #expect(throws: RunFailure.self) { try DatasetFile(reading: path) }
                return
            }
            let file = try DatasetFile(reading: path)
            #expect(file.feed == feed)
            #expect(file.posts.map(\.title) == ["a"])
        }
    }

    @Test func refusesTwoFilesForOneFeed() throws {
        try withFile("one.csv", "title\na\n") { first in
            try withFile("ONE.csv", "title\nb\n") { second in
                let cause = "The feed \"one\" is filled by \(first)."
                #expect(throws: RunFailure.badFile(second, cause)) {
                    try Dataset(reading: [first, second])
                }
            }
        }
    }

    @Test func saysWhichFileCannotBeRead() throws {
        try withFile("one.csv", "title,ups\na\n") { path in
            let cause = DatasetError.fieldCount(line: 2, actual: 1, expected: 2).description
            let failure = RunFailure.badFile(path, cause)
            #expect(throws: failure) { try Dataset(reading: [path]) }
            #expect(failure.description.hasPrefix("\(path): Line 2"))
            #expect(failure.exitStatus == .usage)
        }
        #expect(throws: RunFailure.self) { try Dataset(reading: ["/nowhere/none.csv"]) }
    }

    @Test func leavesOutAPostWithAWrongValueAndKeepsTheOthers() throws {
        try withFile("one.csv", "title,ups,downs\na,1,0\nb,2,-1\nc,3,0\n") { path in
            let file = try DatasetFile(reading: path)
            #expect(file.posts.map(\.title) == ["a", "c"])
            let message =
                "\"downs\" is \"-1\", which is no whole number from 0 to 18446744073709551615."
            #expect(
                file.leftOut == [
                    LeftOutPost(
                        line: 3,
                        field: "downvote_count",
                        reason: "BAD_COUNT",
                        value: "-1",
                        actual: 0,
                        limit: 0,
                        message: message
                    )
                ]
            )
        }
    }

    private static func options(_ arguments: [String]) throws -> any ParsableCommand {
        try CommandLineArguments(["dataset"] + arguments).options()
    }

    @Test func takesTheFlagsOfARunButItsPostsAndVotes() throws {
        let options = try #require(
            try Self.options(["a.csv", "b.csv", "-c", "7", "-P", "3"])
                as? DatasetOptions
        )
        #expect(options.files == ["a.csv", "b.csv"])
        let configuration = try RunConfiguration(options.load, coreCount: 2, isTerminal: false)
        #expect(configuration.clientCount == 7)
        #expect(configuration.pipelineDepth == 3)
        #expect(configuration.warmup == .zero)
        #expect(configuration.duration == nil)
        for flags in [[], ["a.csv", "--mix", "feed"], ["a.csv", "--posts", "5"]] {
            #expect(throws: (any Error).self) { try Self.options(flags) }
        }
    }

    @Test func saysBeforeTheRunWhatItCastsAndTakes() throws {
        try withFile("one.csv", "title,ups,downs\na,1200,30\nb,4,0\n") { path in
            let options = try #require(
                try Self.options([path, "--repeat", "2M", "-t", "2"]) as? DatasetOptions
            )
            #expect(throws: FlagError.self) {
                try RunConfiguration(options, coreCount: 4, isTerminal: false)
            }
            var fitting = options
            fitting.repeatCount = "100"
            let configuration = try RunConfiguration(fitting, coreCount: 4, isTerminal: false)
            let outline = DatasetOutline(try Dataset(reading: [path]), configuration)
            #expect(outline.voteCount == 1234)
            #expect(outline.totalCount == 123_400)
            #expect(outline.scheduleByteCount == 72)
            #expect(
                outline.description.hasPrefix(
                    "1 file, 2 posts, 1,234 votes × 100 = 123,400 votes in one random order;"
                )
            )
        }
        try withFile("one.csv", "title,ups\na,18446744073709551615\nb,2\n") { path in
            let outline = DatasetOutline(try Dataset(reading: [path]), try configure([]))
            #expect(outline.totalCount == .max)
        }
    }
}

extension LiveTests {
    /// `loadgen dataset --retry` over services that lose connections, or die and come back.
    @Suite struct DatasetRetryTests {
        /// 1,400 posts in two files: six frames of an import.
        private static let files = [
            "books": (0..<900).map { "title \($0 % 7),\($0 % 9),\($0 % 3)" },
            "space": (0..<500).map { "post \($0),\($0 % 4),1" },
        ]
        /// Their votes.
        private static let voteCount: UInt64 = files.values.joined().reduce(0) { sum, line in
            sum + line.split(separator: ",").dropFirst().reduce(0) { $0 + (UInt64($1) ?? 0) }
        }

        private func run(_ service: FakeService, _ flags: [String]) async throws -> RunReport {
            let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            var paths: [String] = []
            for (name, lines) in Self.files.sorted(by: { $0.key < $1.key }) {
                let file = folder.appending(path: "\(name).csv")
                let text = "title,ups,downs\n" + lines.joined(separator: "\n") + "\n"
                try text.write(to: file, atomically: true, encoding: .utf8)
                paths.append(file.path())
            }
            let arguments = ["dataset", "--target", "\(service.address)", "-c", "8", "-P", "8"]
            let options = try #require(
                CommandLineArguments(arguments + paths + flags).options() as? DatasetOptions
            )
            let configuration = try RunConfiguration(options.load, coreCount: 2, isTerminal: false)
            let files = options.files
            return try await offload {
                try Run(configuration, dataset: Dataset(reading: files)).execute()
            }
        }

        @Test(
            arguments: [
                ("while votes are cast", FakeFaults(dieAt: 2000, restarts: true)),
                ("while posts are imported", FakeFaults(dieAtCreate: 512, restarts: true)),
                ("after most connections", FakeFaults(loseAfterEvery: 333, loseCreateEvery: 256)),
            ],
            ["0", "8k"]
        )
        func hasTheFilesCountsThoughTheServiceDies(
            _ fault: (moment: String, faults: FakeFaults),
            _ rate: String
        ) async throws {
            let service = try await FakeService.start(fault.faults)
            let result = try await run(service, ["--retry", "100", "--rate", rate])
            await service.stop()
            let summary = try #require(result.audit.summary)
            #expect(summary.findings.examples == [])
            #expect(summary.acknowledgedVoteCount == Self.voteCount)
            #expect(summary.exactPostCount == 1400)
            #expect(summary.listedPostCount == 2800)
            #expect(result.totals.retries.reconnectCount > 0)
            #expect(result.exitStatus == .success)
        }

        @Test func seesVotesAndPostsThatCountTwice() async throws {
            let votes = try await FakeService.start(
                FakeFaults(loseAfterEvery: 333, ignoresSequences: true)
            )
            let twiceVoted = try await run(votes, ["--retry", "100"])
            await votes.stop()
            #expect(twiceVoted.audit.summary?.findings.counts[.extraVote] ?? 0 > 0)
            #expect(twiceVoted.exitStatus == .auditFailed)
            let posts = try await FakeService.start(
                FakeFaults(loseCreateEvery: 512, ignoresSequences: true)
            )
            let twiceImported = try await run(posts, ["--retry", "100"])
            await posts.stop()
            #expect(twiceImported.audit.summary?.findings.counts[.phantomPost] ?? 0 > 0)
            #expect(twiceImported.exitStatus == .auditFailed)
        }

        @Test(arguments: [
            (Violation.lostVote, FakeFaults(dropEvery: 1000)),
            (Violation.extraVote, FakeFaults(doubleEvery: 1000)),
            (Violation.countedError, FakeFaults(failCountedEvery: 1000)),
        ])
        func seesVotesThatAreCountedWrong(
            _ violation: Violation,
            _ faults: FakeFaults
        ) async throws {
            let service = try await FakeService.start(faults)
            let result = try await run(service, [])
            await service.stop()
            #expect(result.audit.summary?.findings.counts[violation] ?? 0 > 0)
            #expect(result.exitStatus == .auditFailed)
        }

        @Test(arguments: [FakeFaults(), FakeFaults(dieAt: 2000), FakeFaults(dieAtCreate: 1156)])
        func isAuditedAgainFromItsReport(_ faults: FakeFaults) async throws {
            let service = try await FakeService.start(faults)
            let result = try await run(service, [])
            await service.stop()
            let record = try #require(result.record)
            #expect(record.feeds.count == (faults.dieAtCreate == nil ? 2 : 0))
            let again = try await FakeService.start(serving: service.feed)
            let configuration = try configure(["--target", "\(again.address)"])
            let verified = try await offload {
                try Run(configuration, verifying: record).execute()
            }
            await again.stop()
            #expect(verified.audit.summary?.findings.examples == [])
            #expect(verified.exitStatus == .success)
        }
    }
}
