import ArgumentParser
import FeedClient
import FeedTestSupport
import Foundation
import LoadGen
import LoadGenCommand
import Testing

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

        private func run(
            _ service: FakeService,
            _ flags: [String]
        ) async throws -> RunReport {
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
            let configuration = try RunConfiguration(
                options.load,
                coreCount: 2,
                isTerminal: false
            )
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

        @Test(arguments: [
            FakeFaults(), FakeFaults(dieAt: 2000), FakeFaults(dieAtCreate: 1156),
        ])
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
