import FeedClient
import FeedProto
import FeedTestSupport
import Foundation
import Histogram
import LoadGen
import LoadGenCommand
import Testing

/// A short load that asks for the service's times.
struct SplitLoad: Sendable {
    let arguments: [String]
    /// The votes of a request.
    let weight: UInt64
    let voteCount: UInt64
    /// The calls that ask.
    let timedCount: UInt64

    /// 5,000 requests are 78 groups of 64 and a rest in which none asks.
    static let single = SplitLoad(arguments: splitLoad, weight: 1, voteCount: 5000, timedCount: 78)
    /// 1,280 requests are 20 groups.
    static let batches = SplitLoad(
        arguments: splitLoad + ["-n", "1280", "--batch", "16"],
        weight: 16,
        voteCount: 20_480,
        timedCount: 20
    )
}

private let splitLoad = shortLoad + ["--split", "--timeout", "30s"]
private let timedCount = SplitLoad.single.timedCount

extension LiveTests {
    /// Runs that ask the service for its own times of some calls.
    @Suite struct SplitRunTests {
        @Test(arguments: [
            [], ["-P", "16"], ["-P", "64", "--pipeline-mode", "batch"], ["-R", "20k", "-P", "8"],
            ["--threads", "3"], ["--mix", "vote=60,create=10,list=10,page=10,get=10"],
        ])
        func timesOneCallIn64(_ arguments: [String]) async throws {
            let (service, result) = try await loadFake(FakeFaults(), splitLoad + arguments)
            #expect(service.feed.timedCallCount == timedCount)
            try expectEachPart(result, timedCount)
            #expect(result.audit.summary?.findings.examples == [])
            #expect(result.audit.summary?.exactPostCount == 50)
            #expect(result.totals.outcomes.ok == 5000)
            #expect(result.totals.merged(.service)?.totalCount == 5000)
            #expect(result.exitStatus == .success)
        }

        @Test func asksForNoTimesWithoutTheFlag() async throws {
            let (service, result) = try await loadFake(FakeFaults(), shortLoad)
            #expect(service.feed.timedCallCount == 0)
            #expect(result.totals.split == nil)
        }

        /// The calls of the warm-up ask too, so that the load is the same.
        @Test func leavesOutTheWarmUp() async throws {
            let (service, result) = try await loadFake(
                FakeFaults(),
                splitLoad + ["-n", "640", "-w", "200ms"]
            )
            let split = try #require(result.totals.split)
            // The measured requests are nine whole groups and parts of two.
            #expect((9...11).contains(split.sampleCount))
            #expect(service.feed.timedCallCount > split.sampleCount)
        }

        @Test func saysThatTheServiceHasAnotherClock() async throws {
            let result = try await loadFake(FakeFaults(timed: .otherClock), splitLoad).result
            let split = try #require(result.totals.split)
            #expect(split.sampleCount == timedCount && split.otherClockCount == timedCount)
            #expect(split.latencies(of: .there) == nil && split.latencies(of: .back) == nil)
            for part in [LatencySplit.Part.execution, .held, .bothWays] {
                #expect(split.latencies(of: part)?.totalCount == timedCount)
            }
            let text = TextReport(result).rendered()
            #expect(text.contains("(78 calls, one in 64; the service has another clock)"))
            #expect(result.exitStatus == .success)
        }

        @Test func saysThatTheServiceTellsNoTimes() async throws {
            let (service, result) = try await loadFake(FakeFaults(timed: .noTimes), splitLoad)
            #expect(service.feed.timedCallCount == timedCount)
            #expect(result.totals.split?.sampleCount == 0)
            let text = TextReport(result).rendered()
            #expect(text.contains("--split: no measured call was answered"))
            #expect(result.audit.isPassed)
        }

        @Test(arguments: [["--clients", "8"], ["--batch", "16"]])
        func resetsAConnectionWhereATimedVoteIsOfAnotherPost(_ arguments: [String]) async throws {
            let (service, result) = try await loadFake(
                FakeFaults(timed: .otherPost),
                splitLoad + arguments
            )
            // Each of the eight connections ends with its first timed call.
            #expect(service.feed.timedCallCount == 8)
            #expect(result.totals.failures.causes[.protocolError] == 8)
            let text = try #require(result.totals.failures.firstProtocolError)
            #expect(text.contains("is about post"))
            #expect(result.totals.split?.sampleCount == 0)
            #expect(result.totals.outcomes.isConserved)
        }

        @Test func seesThatTheScoreOfATimedVoteFalls() async throws {
            let result = try await loadFake(
                FakeFaults(timed: .lowScore),
                splitLoad + ["--keys", "one"]
            ).result
            let counts = try #require(result.audit.summary).findings.counts
            // The first vote of a connection has no score before it.
            #expect((timedCount - 1...timedCount).contains(counts[.fallingScore] ?? 0))
            #expect(result.exitStatus == .auditFailed)
        }

        @Test(arguments: [SplitLoad.single, .batches])
        func countsTheRefusalsOfTimedVotes(_ votes: SplitLoad) async throws {
            let result = try await loadFake(FakeFaults(timed: .refused), votes.arguments).result
            let refusedCount = votes.timedCount * votes.weight
            #expect(result.totals.outcomes.error == refusedCount)
            #expect(result.totals.outcomes.ok == votes.voteCount - refusedCount)
            #expect(result.totals.split?.sampleCount == 0)
            #expect(result.audit.isPassed)
        }

        @Test(arguments: [FakeTimedFault.refused, .lost], [SplitLoad.single, .batches])
        func sendsTimedVotesAgain(_ fault: FakeTimedFault, _ votes: SplitLoad) async throws {
            let (service, result) = try await loadFake(
                FakeFaults(timed: fault),
                votes.arguments + ["--retry", "50"]
            )
            let summary = try #require(result.audit.summary)
            #expect(summary.findings.examples == [])
            #expect(summary.acknowledgedVoteCount == votes.voteCount)
            #expect(summary.countedVoteCount == Int64(votes.voteCount))
            // The send that asks gets no times, and the second send does not ask.
            #expect(service.feed.timedCallCount == votes.timedCount)
            #expect(result.totals.split?.sampleCount == 0)
            #expect(result.totals.retries.retryCount == votes.timedCount)
            let duplicateCount = fault == .lost ? votes.timedCount : 0
            #expect(result.totals.retries.duplicateCount == duplicateCount)
            #expect(result.exitStatus == .success)
        }

        @Test(arguments: [[], ["-P", "4"]])
        func timesBatches(_ arguments: [String]) async throws {
            let service = try await FakeService.start()
            let votes = SplitLoad.batches
            let result = try await load(service, votes.arguments + arguments)
            await service.stop()
            #expect(service.feed.timedCallCount == votes.timedCount)
            try expectEachPart(result, votes.timedCount)
            let summary = try #require(result.audit.summary)
            #expect(summary.findings.examples == [])
            #expect(summary.acknowledgedVoteCount == 20_480)
            #expect(summary.countedVoteCount == 20_480)
            #expect(result.totals.merged(.service)?.totalCount == 1280)
            #expect(result.exitStatus == .success)
        }

        @Test func timesABatchThatFailsInPart() async throws {
            let service = try await FakeService.start(FakeFaults(failEvery: 10))
            let votes = SplitLoad.batches
            let result = try await load(service, votes.arguments)
            await service.stop()
            try expectEachPart(result, votes.timedCount)
            #expect(result.totals.outcomes.error == 2048)
            #expect(result.totals.outcomes.isConserved)
            #expect(result.audit.isPassed)
        }

        @Test(
            arguments: [SplitLoad.single, .batches],
            [["--clients", "8"], ["-P", "16", "--retry", "50"]]
        )
        func timesTheVotesOfUsers(_ votes: SplitLoad, _ arguments: [String]) async throws {
            let service = try await FakeService.start(voteMode: .ballot)
            let flags = votes.arguments + arguments
            let result = try await load(service, flags + ["--voters", "200"])
            await service.stop()
            try expectEachPart(result, votes.timedCount)
            let summary = try #require(result.audit.summary)
            #expect(summary.findings.examples == [])
            #expect(summary.exactPostCount == 50)
            let standing = service.feed.state.withLock { $0.ballots.count }
            #expect(summary.acknowledgedVoteCount == UInt64(standing))
            #expect(result.exitStatus == .success)
        }

        @Test func seesAWrongBallotOfATimedVote() async throws {
            let faults = FakeFaults(timed: .otherBallot)
            let result = try await loadFake(
                faults,
                voteMode: .ballot,
                splitLoad + ["--voters", "200"]
            ).result
            let summary = try #require(result.audit.summary)
            #expect(summary.findings.counts[.wrongBallot] == timedCount)
            #expect(result.exitStatus == .auditFailed)
        }

        /// Each part has a latency of each timed call, on one clock.
        private func expectEachPart(_ result: RunReport, _ count: UInt64) throws {
            let split = try #require(result.totals.split)
            #expect(split.sampleCount == count)
            #expect(split.isOneClock)
            for part in LatencySplit.Part.allCases {
                #expect(split.latencies(of: part)?.totalCount == count, "\(part)")
            }
        }
    }
}

extension LiveTests {
    /// Two servers that are measured in turns.
    @Suite struct SideBySideRunTests {
        @Test func measuresBothInTurnsAndAuditsAllOfIt() async throws {
            let one = try await FakeService.start()
            let other = try await FakeRedis.start()
            let result = try await compare(
                "\(one.address)",
                "\(other.address)",
                ["--ab-protocol", "resp", "--rounds", "6", "--aa", "6"]
            )
            let scores = one.feed.scores.reduce(0, +)
            await one.stop()
            await other.stop()
            #expect(result.comparedPairs.count == 6 && result.controlPairs.count == 6)
            #expect(result.comparedPairs.count { $0.pair == .firstA } == 3)
            let ratio = try #require(result.ratio(.throughput))
            #expect(ratio.low <= ratio.ratio && ratio.ratio <= ratio.high)
            #expect(result.control(.throughput) != nil)
            #expect(result.exitStatus == .success)
            let (a, b) = try (#require(result.audits.a.summary), #require(result.audits.b.summary))
            #expect(a.findings.examples == [] && b.findings.examples == [])
            // Slices, settling and warm-up together, on the same 50 posts.
            #expect(a.countedVoteCount == scores && Int64(a.acknowledgedVoteCount) == scores)
            #expect(a.exactPostCount == 50 && b.exactPostCount == 50)
            let json = result.json
            let root = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any]
            let pairs = (root?["ab"] as? [String: Any])?["pairs"] as? [Any]
            #expect(pairs?.count == 12)
            let text = result.text
            #expect(text.contains("6 of 6 pairs, 6 of 6 pairs A/A, slices of 100ms after 10ms"))
        }

        @Test func failsWhereOneServerCountsWrong() async throws {
            let one = try await FakeRedis.start()
            let other = try await FakeRedis.start(FakeRedis.Faults(dropEvery: 1000))
            let result = try await compare(
                "\(one.address)",
                "\(other.address)",
                ["--protocol", "resp", "--rounds", "6", "--aa", "0"]
            )
            await one.stop()
            await other.stop()
            #expect(result.audits.a.isPassed && result.audits.b.isFailed)
            #expect(result.exitStatus == .auditFailed)
        }

        // Figures, for a machine that nobody else uses.

        @Test(.enabled(if: isQuiet, "FEED_QUIET_MACHINE is not set"))
        func callsAServerSlowerThatTakesTwiceAsMuch() async throws {
            let result = try await comparePythons(again: 1)
            #expect(result.judgement(.serverCost) == .slower)
        }

        @Test(.enabled(if: isQuiet, "FEED_QUIET_MACHINE is not set"))
        func callsAServerSlowerThatTakesATenthMore() async throws {
            let result = try await comparePythons(again: 10, rounds: "200")
            let ratio = try #require(result.ratio(.serverCost))
            #expect(result.judgement(.serverCost) == .slower, "\(ratio)")
        }

        @Test(.enabled(if: isQuiet, "FEED_QUIET_MACHINE is not set"))
        func findsNoDifferenceOfThreePercentInEqualServers() async throws {
            let result = try await comparePythons(again: 0, rounds: "200")
            let ratio = try #require(result.ratio(.serverCost))
            #expect(abs(ratio.ratio - 1) < 0.03, "\(ratio)")
        }

        private static let isQuiet =
            TestEnvironment.number("FEED_QUIET_MACHINE") != nil && PythonRedis.isAvailable

        /// Compares a server with one that handles one vote in `again` twice.
        private func comparePythons(
            again: Int,
            rounds: String = "6"
        ) async throws -> SideBySideResult {
            let one = try await PythonRedis()
            let other = try await PythonRedis(again: again)
            let result = try await compare(
                one.target,
                other.target,
                [
                    "--protocol", "resp", "--rounds", rounds, "--aa", "0", "--slice", "100ms", "-P",
                    "8",
                ]
            )
            await one.stop()
            await other.stop()
            return result
        }

        /// Compares two servers in short slices; no pair is repeated, as tests share the machine.
        private func compare(
            _ a: String,
            _ b: String,
            _ arguments: [String]
        ) async throws -> SideBySideResult {
            let common = ["--slice", "100ms", "-w", "50ms", "--clients", "8", "--posts", "50"]
            let options = try Options.reading(["--target", a, "--ab", b] + common + arguments)
            let configuration = try RunConfiguration(options, coreCount: 2, isTerminal: false)
            var comparison = try #require(try SideBySideConfiguration(options, configuration))
            comparison.settle = .milliseconds(10)
            comparison.repeatLimit = 0
            return try await offload { [comparison] in
                try SideBySideRun(configuration, comparison).execute()
            }
        }
    }
}
