import FeedClient
import FeedTestSupport
import Histogram
import LoadGen
import Testing

extension LiveTests {
    /// Runs whose votes leave in batches: each vote is counted and audited for itself.
    @Suite struct BatchRunTests {
        private static let batches = [
            "-n", "400", "-w", "0", "--clients", "8", "--posts", "50", "--batch", "16",
        ]

        @Test(arguments: [[], ["-P", "8"], ["-P", "8", "--pipeline-mode", "batch"], ["-t", "3"]])
        func countsVotesAndNotBatches(_ arguments: [String]) async throws {
            let service = try await FakeService.start()
            let result = try await load(service, Self.batches + arguments)
            await service.stop()
            let summary = try #require(result.audit.summary)
            #expect(summary.findings.examples == [])
            #expect(summary.acknowledgedVoteCount == 6_400)
            #expect(summary.countedVoteCount == 6_400)
            #expect(result.totals.outcomes.sent == 6_400)
            #expect(result.totals.outcomes.ok == 6_400)
            #expect(result.totals.measuredRequestCount == 400)
            #expect(result.measuredAnswerCount == 6_400)
            #expect(result.totals.merged(.service)?.totalCount == 400)
            #expect(result.exitStatus == .success)
            let text = TextReport(result).rendered()
            #expect(text.contains("batches of 16 votes"))
            #expect(text.contains("batch of 16"))
        }

        @Test func sendsWhatAnotherMixAsksForBesideBatches() async throws {
            let service = try await FakeService.start()
            let mix = "vote=60,create=10,list=10,page=10,get=10"
            let result = try await load(service, Self.batches + ["--mix", mix, "-P", "4"])
            await service.stop()
            let summary = try #require(result.audit.summary)
            #expect(summary.findings.examples == [])
            #expect(summary.createdPostCount > 0)
            #expect(result.totals.measuredRequestCount == 400)
            let votes = result.totals.measuredAnswers[Int(Operation.vote.rawValue)]
            #expect(votes % 16 == 0 && votes > 0)
            #expect(summary.acknowledgedVoteCount == votes)
        }

        @Test(arguments: [
            (Violation.lostVote, FakeFaults(dropEvery: 1000)),
            (Violation.extraVote, FakeFaults(doubleEvery: 1000)),
            (Violation.countedError, FakeFaults(failCountedEvery: 1000)),
        ])
        func catches(_ violation: Violation, _ faults: FakeFaults) async throws {
            let service = try await FakeService.start(faults)
            let result = try await load(service, Self.batches)
            await service.stop()
            let summary = try #require(result.audit.summary)
            #expect(summary.findings.counts[violation] ?? 0 > 0)
            #expect(result.exitStatus == .auditFailed)
        }

        @Test func countsEachVoteOfABatchThatFails() async throws {
            let service = try await FakeService.start(FakeFaults(failEvery: 100))
            let result = try await load(service, Self.batches)
            await service.stop()
            #expect(result.audit.isPassed)
            #expect(result.totals.outcomes.error == 64)
            #expect(result.totals.outcomes.ok == 6_336)
            #expect(result.totals.outcomes.isConserved)
        }

        @Test func callsTheVotesOfALostBatchUnknown() async throws {
            let service = try await FakeService.start(FakeFaults(dieAt: 3000))
            let result = try await load(service, Self.batches)
            await service.stop()
            #expect(result.totals.outcomes.isConserved)
            #expect(result.totals.outcomes.lost > 0)
            #expect(result.totals.outcomes.lost % 16 == 0)
        }

        /// A batch that is sent again counts the votes that did not count, and no vote twice.
        @Test(arguments: [
            FakeFaults(loseBeforeEvery: 501), FakeFaults(loseAfterEvery: 501),
            FakeFaults(cutEvery: 501), FakeFaults(failEvery: 101),
            FakeFaults(failEvery: 101, loseAfterEvery: 501),
        ])
        func countsEachVoteOnceWhereBatchesAreSentAgain(_ faults: FakeFaults) async throws {
            let service = try await FakeService.start(faults)
            let result = try await load(service, Self.batches + ["--retry", "50", "-P", "8"])
            await service.stop()
            let summary = try #require(result.audit.summary)
            #expect(summary.findings.examples == [])
            #expect(summary.countedVoteCount == 6_400)
            #expect(result.totals.outcomes.ok == 6_400)
            #expect(result.totals.retries.retryCount > 0)
            #expect(result.exitStatus == .success)
        }

        /// The negative control of the test above.
        @Test func catchesABatchThatCountsTwice() async throws {
            let service = try await FakeService.start(
                FakeFaults(loseAfterEvery: 501, ignoresSequences: true)
            )
            let result = try await load(service, Self.batches + ["--retry", "50", "-P", "8"])
            await service.stop()
            #expect(result.audit.summary?.findings.counts[.extraVote] ?? 0 > 0)
            #expect(result.exitStatus == .auditFailed)
        }

        @Test func offersBatchesASecond() async throws {
            let service = try await FakeService.start()
            let arguments = ["-R", "200", "--arrival", "uniform", "-d", "1s", "-w", "0", "-c", "4"]
            let result = try await load(
                service,
                arguments + ["--posts", "10", "--batch", "4", "-P", "64"]
            )
            await service.stop()
            // What was due left as a batch, or not at all; a busy machine may answer some too late.
            let sent = result.totals.outcomes.sent
            #expect(sent % 4 == 0 && sent / 4 + result.totals.unsentCount == 200)
            #expect(result.totals.outcomes.isConserved)
            #expect(result.audit.isPassed)
        }
    }
}
