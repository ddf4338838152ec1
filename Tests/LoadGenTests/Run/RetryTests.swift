import FeedClient
import FeedTestSupport
import LoadGen
import Testing

extension LiveTests {
    /// A run with `--retry` over a service that loses connections at chosen votes.
    @Suite struct RetryTests {
        private static let retrying = ["--retry", "50"]

        @Test(
            arguments: [
                ("before a vote counts", FakeFaults(loseBeforeEvery: 501)),
                ("after it counted", FakeFaults(loseAfterEvery: 501)),
                ("in the middle of its answer", FakeFaults(cutEvery: 501)),
                (
                    "at all of these",
                    FakeFaults(loseBeforeEvery: 397, loseAfterEvery: 501, cutEvery: 701)
                ),
                ("with the whole service", FakeFaults(dieAt: 3000, restarts: true)),
            ],
            ["1", "16", "256"]
        )
        func countsEveryVoteOnceThoughConnectionsAreLost(
            _ fault: (moment: String, faults: FakeFaults),
            _ pipeline: String
        ) async throws {
            let service = try await FakeService.start(fault.faults)
            let result = try await load(service, shortLoad + Self.retrying + ["-P", pipeline])
            await service.stop()
            try expectEveryVoteOnce(result)
            let retries = result.totals.retries
            #expect(retries.retryCount > 0)
            #expect(retries.reconnectCount > 0)
            let hasCounted = fault.faults.loseAfterEvery != nil || fault.faults.cutEvery != nil
            #expect(!hasCounted || retries.duplicateCount > 0)
            #expect(result.totals.outcomes.sent == 5000)
            #expect(service.feed.scores.reduce(0, +) == 5000)
            // Nothing behind a lost vote was executed, so nothing was executed twice.
            if fault.faults.loseBeforeEvery != nil, !hasCounted {
                #expect(retries.duplicateCount == 0)
            }
        }

        @Test func sendsAgainWhatTheServiceRefusesForNow() async throws {
            let service = try await FakeService.start(FakeFaults(failEvery: 100))
            let result = try await load(service, shortLoad + Self.retrying + ["-P", "16"])
            await service.stop()
            try expectEveryVoteOnce(result)
            #expect(result.totals.retries.retryCount >= 50)
            #expect(result.totals.retries.reconnectCount == 0)
            #expect(result.totals.outcomes.error == 0)
            #expect(result.totals.failures.serverErrors["RESOURCE_EXHAUSTED/OVERLOADED"] ?? 0 >= 50)
        }

        @Test func givesUpARequestThatIsRefusedEachTime() async throws {
            let service = try await FakeService.start(FakeFaults(failEvery: 1))
            let arguments = ["-n", "20", "-w", "0", "-c", "2", "--posts", "5", "--retry", "2"]
            let result = try await load(service, arguments)
            await service.stop()
            #expect(result.totals.outcomes.error == 20)
            #expect(result.totals.outcomes.isConserved)
            #expect(result.totals.retries.retryCount == 40)
            #expect(result.audit.isPassed)
        }

        @Test func asksAgainOnAnotherConnectionWhereNoAnswerComes() async throws {
            let service = try await FakeService.start(FakeFaults(silentEvery: 1001))
            let arguments = shortLoad + Self.retrying + ["--timeout", "100ms"]
            let result = try await load(service, arguments)
            await service.stop()
            try expectEveryVoteOnce(result)
            #expect(result.totals.failures.causes[.requestTimeout] ?? 0 > 0)
            #expect(result.totals.retries.duplicateCount > 0)
        }

        @Test func movesToANewConnectionWhereTheServiceSendsGoAway() async throws {
            let service = try await FakeService.start(FakeFaults(leaveAt: 2000))
            let result = try await load(
                service,
                shortLoad + Self.retrying + ["-P", "16", "-c", "1"]
            )
            await service.stop()
            try expectEveryVoteOnce(result)
            #expect(result.totals.retries.reconnectCount == 1)
        }

        @Test func keepsToThePlanOfAnOpenLoop() async throws {
            let service = try await FakeService.start(FakeFaults(loseAfterEvery: 150))
            let arguments = ["-R", "500", "-d", "1s", "-w", "0", "-c", "4", "--posts", "10"]
            let result = try await load(service, arguments + Self.retrying)
            await service.stop()
            #expect(result.audit.isPassed)
            #expect(result.totals.outcomes.unknown == 0)
            #expect(result.totals.outcomes.isConserved)
            #expect(result.totals.retries.duplicateCount >= 2)
            #expect(result.exitStatus == .success)
        }

        @Test func createsEveryPostOnceThoughConnectionsAreLost() async throws {
            let faults = FakeFaults(loseAfterEvery: 400, loseCreateEvery: 31)
            let service = try await FakeService.start(faults)
            let mix = "vote=60,create=10,list=10,page=10,get=10"
            let result = try await load(
                service,
                shortLoad + Self.retrying + ["--mix", mix, "-P", "8"]
            )
            await service.stop()
            let summary = try #require(result.audit.summary)
            #expect(summary.findings.examples == [])
            #expect(summary.createdPostCount > 0)
            #expect(summary.listedPostCount == 50 + summary.createdPostCount)
            #expect(result.totals.outcomes.ok == 5000)
            #expect(result.exitStatus == .success)
        }

        @Test(arguments: [1, 40] as [UInt64])
        func preparesThroughTheServicesDeath(_ create: UInt64) async throws {
            let service = try await FakeService.start(
                FakeFaults(dieAtCreate: create, restarts: true)
            )
            let result = try await load(service, shortLoad + Self.retrying)
            await service.stop()
            try expectEveryVoteOnce(result)
            #expect(result.audit.summary?.listedPostCount == 50)
            #expect(result.totals.retries.duplicateCount >= 1)
        }

        private func expectEveryVoteOnce(_ result: RunReport) throws {
            let summary = try #require(result.audit.summary)
            #expect(summary.findings.examples == [])
            #expect(summary.acknowledgedVoteCount == 5000)
            #expect(summary.countedVoteCount == 5000)
            #expect(summary.unknownVoteCount == 0)
            #expect(summary.exactPostCount == 50)
            #expect(result.totals.outcomes.ok == 5000)
            #expect(result.totals.outcomes.isConserved)
            #expect(result.lostConnectionCount == 0)
            #expect(result.exitStatus == .success)
        }
    }
}
