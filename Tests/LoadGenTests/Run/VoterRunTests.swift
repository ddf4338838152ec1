import FeedClient
import FeedProto
import FeedTestSupport
import Foundation
import LoadGen
import LoadGenCommand
import Testing

/// A short load of 200 users who change their ballots.
private let voterLoad = shortLoad + ["--voters", "200", "--timeout", "30s"]

extension LiveTests {
    /// Runs in which a service acts for users, whose last ballots are audited.
    @Suite struct VoterRunTests {
        @Test(arguments: [
            [], ["-P", "16"], ["-P", "16", "--pipeline-mode", "batch"], ["--threads", "3"],
            ["--batch", "16", "-n", "400"], ["-R", "20k", "-P", "8"],
            ["--mix", "vote=60,create=10,list=10,page=10,get=10"],
        ])
        func countsTheLastBallotOfEachVoter(_ arguments: [String]) async throws {
            let service = try await FakeService.start(voteMode: .ballot)
            let result = try await load(service, voterLoad + arguments)
            await service.stop()
            try expectLastBallots(result, service)
            let ballots = service.feed.state.withLock { $0.ballots }
            #expect(ballots.channels.count > 100 && ballots.channels.count <= 200)
            for (user, channels) in ballots.channels {
                #expect(channels.count == 1, "user \(user) has one connection")
            }
        }

        @Test func createsTheFeedWhereItIsMissing() async throws {
            let service = try await FakeService.start(voteMode: .ballot)
            let result = try await load(service, voterLoad + ["--feed", "polls"])
            await service.stop()
            #expect(service.feed.state.withLock { $0.feeds } == ["posts", "polls"])
            #expect(result.exitStatus == .success)
        }

        @Test func showsTheServiceKeyOnEachConnection() async throws {
            let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
            let digits = String(repeating: "a7", count: 32)
            try digits.write(to: file, atomically: true, encoding: .utf8)
            defer { try? FileManager.default.removeItem(at: file) }
            let service = try await FakeService.start(voteMode: .ballot)
            _ = try await load(service, voterLoad + ["--service-key-file", file.path()])
            await service.stop()
            let keys = service.feed.state.withLock { $0.serviceKeys }
            #expect(keys == [[UInt8](repeating: 0xA7, count: 32)])
        }

        @Test func refusesAFileWithoutAKey() throws {
            let error = #expect(throws: FlagError.self) {
                try configure(["--service-key-file", "/dev/null"])
            }
            #expect(error?.flag == "--service-key-file")
        }

        @Test func refusesAFeedWhoseVotesAddUp() async throws {
            let service = try await FakeService.start()
            await #expect(throws: RunFailure.tallyFeed("posts")) {
                try await load(service, voterLoad + ["--feed", "posts"])
            }
            await service.stop()
        }

        @Test(arguments: [
            (Violation.lostVote, FakeFaults(dropEvery: 100)),
            (.extraVote, FakeFaults(doubleEvery: 100)),
            (.countedError, FakeFaults(failCountedEvery: 100)),
            (.wrongBallot, FakeFaults(wrongBallotEvery: 100)),
        ])
        func catches(_ violation: Violation, _ faults: FakeFaults) async throws {
            let service = try await FakeService.start(faults, voteMode: .ballot)
            let result = try await load(service, voterLoad)
            await service.stop()
            let summary = try #require(result.audit.summary)
            #expect(summary.findings.counts[violation] ?? 0 > 0)
            #expect(result.exitStatus == .auditFailed)
        }

        @Test(arguments: [["-P", "1"], ["-P", "16"], ["--batch", "16", "-n", "400"]])
        func passesBallotsWhoseOutcomeIsUnknown(_ arguments: [String]) async throws {
            let faults = FakeFaults(loseBeforeEvery: 901, loseAfterEvery: 1001)
            let service = try await FakeService.start(faults, voteMode: .ballot)
            let result = try await load(service, voterLoad + arguments)
            await service.stop()
            let summary = try #require(result.audit.summary)
            #expect(summary.findings.examples == [])
            #expect(summary.unknownVoteCount > 0)
            #expect(result.exitStatus == .failed, "connections were lost")
        }

        @Test func failsWithTheReasonWhereEveryVoteIsRefused() async throws {
            let faults = FakeFaults(refusesUsers: true)
            let service = try await FakeService.start(faults, voteMode: .ballot)
            let result = try await load(service, voterLoad)
            await service.stop()
            #expect(result.audit.isPassed)
            #expect(result.refusal == "PERMISSION_DENIED/SERVICE_ONLY")
            #expect(result.exitStatus == .failed)
            let text = TextReport(result).rendered()
            #expect(text.contains("refused every vote: PERMISSION_DENIED/SERVICE_ONLY."))
        }

        @Test(
            arguments: [
                FakeFaults(loseBeforeEvery: 501), FakeFaults(loseAfterEvery: 501),
                FakeFaults(failEvery: 97, loseBeforeEvery: 397, loseAfterEvery: 501, cutEvery: 701),
                FakeFaults(dieAt: 3000, restarts: true),
            ],
            [["-P", "256"], ["--batch", "16", "-n", "400", "-P", "4"]]
        )
        func countsEachVotersLastBallotThoughConnectionsAreLost(
            _ faults: FakeFaults,
            _ arguments: [String]
        ) async throws {
            let service = try await FakeService.start(faults, voteMode: .ballot)
            let result = try await load(service, voterLoad + ["--retry", "50"] + arguments)
            await service.stop()
            try expectLastBallots(result, service)
            #expect(result.totals.retries.retryCount > 0)
        }

        @Test func auditsARecordOfBallotsAgain() async throws {
            let service = try await FakeService.start(voteMode: .ballot)
            let result = try await load(service, voterLoad)
            let first = try await verify(result, service)
            #expect(first.audit.summary?.findings.examples == [])
            #expect(first.audit.summary?.exactPostCount == 50)
            #expect(first.exitStatus == .success)
            service.feed.loseOneBallot()
            let second = try await verify(result, service)
            await service.stop()
            #expect(second.audit.summary?.findings.counts == [.lostVote: 1])
            #expect(second.exitStatus == .auditFailed)
        }

        private func expectLastBallots(_ result: RunReport, _ service: FakeService) throws {
            let summary = try #require(result.audit.summary)
            #expect(summary.findings.examples == [])
            #expect(summary.unknownVoteCount == 0)
            #expect(summary.exactPostCount == 50)
            let standing = service.feed.state.withLock { $0.ballots.count }
            #expect(summary.acknowledgedVoteCount == UInt64(standing))
            #expect(summary.countedVoteCount == Int64(standing))
            #expect(standing > 1000)
            #expect(result.exitStatus == .success)
        }
    }
}
