import FeedTestSupport
import Histogram
import LoadGen
import Testing

extension LiveTests {
    /// The audit sees a service that counts wrong, over real connections.
    @Suite struct FaultTests {
        @Test func passesAServiceThatCountsRight() async throws {
            let service = try await FakeService.start()
            let result = try await load(service, shortLoad)
            await service.stop()
            let summary = try #require(result.audit.summary)
            #expect(summary.findings.examples == [])
            #expect(summary.acknowledgedVoteCount == 5000)
            #expect(summary.countedVoteCount == 5000)
            #expect(summary.exactPostCount == 50)
            #expect(summary.listedPostCount == 50)
            #expect(result.totals.outcomes.ok == 5000)
            #expect(result.totals.merged(.service)?.totalCount == 5000)
            #expect(result.exitStatus == .success)
        }

        @Test("more posts than a cache has room for, and requests that are no votes among them")
        func passesAServiceWithManyPosts() async throws {
            let service = try await FakeService.start()
            let flags = ["--posts", "10k", "-P", "16", "--mix", "vote=80,create=10,get=10"]
            let result = try await load(service, shortLoad + flags)
            await service.stop()
            let summary = try #require(result.audit.summary)
            #expect(summary.findings.examples == [])
            #expect(summary.exactPostCount == 10_000)
            #expect(result.totals.outcomes.ok == 5000)
        }

        @Test func resetsAConnectionWhoseHelloIsAnsweredWithAPing() async throws {
            let service = try await FakeService.start(FakeFaults(greetsWithPing: true))
            await #expect {
                _ = try await load(service, shortLoad)
            } throws: { error in
                "\(error)".contains("No connection of the load could be opened")
                    && "\(error)".contains("protocol error")
            }
            await service.stop()
        }

        @Test(arguments: [
            ([], Violation.lostVote, FakeFeed.Faults(dropEvery: 1000)),
            ([], Violation.extraVote, FakeFeed.Faults(doubleEvery: 1000)),
            ([], Violation.countedError, FakeFeed.Faults(failCountedEvery: 1000)),
            (["-P", "16"], Violation.lostVote, FakeFeed.Faults(dropEvery: 5000)),
            (["-P", "16"], Violation.extraVote, FakeFeed.Faults(doubleEvery: 5000)),
        ])
        func catches(
            _ arguments: [String],
            _ violation: Violation,
            _ faults: FakeFeed.Faults
        ) async throws {
            let service = try await FakeService.start(faults)
            let result = try await load(service, shortLoad + arguments)
            await service.stop()
            let summary = try #require(result.audit.summary)
            #expect(summary.findings.counts[violation] ?? 0 > 0)
            #expect(result.exitStatus == .auditFailed)
        }

        @Test func passesErrorsThatDidNotCount() async throws {
            let service = try await FakeService.start(FakeFeed.Faults(failEvery: 100))
            let result = try await load(service, shortLoad)
            await service.stop()
            #expect(result.audit.isPassed)
            #expect(result.totals.outcomes.error == 50)
            #expect(result.totals.failures.serverErrors == ["RESOURCE_EXHAUSTED/OVERLOADED": 50])
        }

        @Test func namesTheFlagThatLiftsALimitOfPosts() async throws {
            let service = try await FakeService.start(FakeFeed.Faults(refusal: "RATE_LIMITED"))
            await #expect {
                try await load(service, shortLoad)
            } throws: {
                "\($0)".contains("--max-posts-per-hour")
            }
            await service.stop()
        }

        @Test(arguments: ["1", "16"])
        func resetsAConnectionWhoseAnswersAreOutOfOrder(_ pipeline: String) async throws {
            let service = try await FakeService.start(FakeFeed.Faults(misnumberAt: 2008))
            let arguments = shortLoad + ["-P", pipeline, "--pipeline-mode", "batch"]
            let result = try await load(service, arguments)
            await service.stop()
            let text = try #require(result.totals.failures.firstProtocolError)
            #expect(text.contains("due"))
            #expect(result.totals.failures.causes[.protocolError] == 1)
            #expect(result.lostConnectionCount == 1)
            #expect(result.totals.outcomes.isConserved)
            #expect(result.audit.isPassed)
            #expect(result.exitStatus == .failed)
        }

        @Test func takesARefusalThatPassesTheAnswerToAVote() async throws {
            let service = try await FakeService.start(FakeFeed.Faults(passAt: 2008))
            let result = try await load(service, shortLoad + ["-P", "16"])
            await service.stop()
            #expect(result.totals.failures.firstProtocolError == nil)
            #expect(result.lostConnectionCount == 0)
            #expect(result.totals.failures.serverErrors == ["UNAVAILABLE/OVERLOADED": 1])
            #expect(result.totals.outcomes.error == 1)
            #expect(result.totals.outcomes.isConserved)
            #expect(result.audit.isPassed)
        }

        @Test(arguments: ["1", "16"])
        func resetsAConnectionWhereAVoteIsOfAnotherPost(_ pipeline: String) async throws {
            let service = try await FakeService.start(FakeFeed.Faults(misdirectAt: 2008))
            let result = try await load(service, shortLoad + ["-P", pipeline])
            await service.stop()
            let text = try #require(result.totals.failures.firstProtocolError)
            #expect(text.contains("is about post"))
            #expect(result.totals.failures.causes[.protocolError] == 1)
            #expect(result.totals.outcomes.isConserved)
            #expect(result.audit.isPassed)
            #expect(result.exitStatus == .failed)
        }

        /// Its time is over, and it is still no answer to that vote.
        @Test func resetsAConnectionWhereALateVoteIsOfAnotherPost() async throws {
            let faults = FakeFeed.Faults(misdirectAt: 201, stallAt: 200)
            let service = try await FakeService.start(faults)
            let arguments = ["-d", "2s", "-w", "0", "--clients", "1", "--posts", "50"]
            let result = try await load(service, arguments + ["--timeout", "150ms"])
            await service.stop()
            let text = try #require(result.totals.failures.firstProtocolError)
            #expect(text.contains("is about post"))
            #expect(result.totals.failures.causes[.protocolError] == 1)
            #expect(result.totals.outcomes.timeout > 0)
            #expect(result.totals.outcomes.isConserved)
            #expect(result.audit.isPassed)
        }

        @Test func endsAWalkOverPagesThatRepeat() async throws {
            let service = try await FakeService.start(FakeFeed.Faults(repeatsPages: true))
            let result = try await load(service, shortLoad)
            await service.stop()
            let findings = try #require(result.audit.summary).findings.counts
            #expect(findings[.listedTwice] == 50)
            #expect(findings[.walkCount] == 1)
            #expect(result.exitStatus == .auditFailed)
        }

        @Test(arguments: ["1", "10"])
        func findsStalePages(_ pageSize: String) async throws {
            let mix = ["--mix", "vote=50,list=50", "--page-size", pageSize]
            let service = try await FakeService.start(FakeFeed.Faults(staleCount: 100))
            let result = try await load(service, shortLoad + mix)
            await service.stop()
            let counts = try #require(result.audit.summary).findings.counts
            #expect(counts[.stalePage] ?? 0 > 0)
            #expect(result.exitStatus == .auditFailed)
        }

        @Test(.timeLimit(.minutes(5)))
        func endsAWalkOverPostsThatAreMadeUp() async throws {
            let service = try await FakeService.start(FakeFeed.Faults(makesUpPosts: true))
            let result = try await load(service, shortLoad)
            await service.stop()
            let summary = try #require(result.audit.summary)
            // Twice the 50 posts that the list says it has, 100,000, and the page that passes this.
            #expect(summary.listedPostCount == 100_200)
            #expect(summary.findings.counts[.notListed] == 50)
            #expect(result.exitStatus == .auditFailed)
        }

        @Test(arguments: [Int64.min, .max])
        func reportsScoresAndClocksBeyondReason(_ number: Int64) async throws {
            let faults = FakeFeed.Faults(clock: number, readScore: number)
            let service = try await FakeService.start(faults)
            let result = try await load(service, shortLoad)
            await service.stop()
            let findings = try #require(result.audit.summary).findings.counts
            #expect(findings[number < 0 ? .lostVote : .extraVote] == .max)
            #expect(result.exitStatus == .auditFailed)
        }

        @Test func resetsAConnectionWhereAResultOfABatchIsEmpty() async throws {
            let service = try await FakeService.start(FakeFeed.Faults(emptyResultAt: 2000))
            let result = try await load(service, shortLoad + ["--batch", "16"])
            await service.stop()
            let text = try #require(result.totals.failures.firstProtocolError)
            #expect(text.contains("is not one of a vote and a status"))
            #expect(result.totals.failures.causes[.protocolError] == 1)
            #expect(result.totals.outcomes.isConserved)
            #expect(result.audit.isPassed)
        }

        @Test func seesThatTheScoreOfAVoteFalls() async throws {
            let service = try await FakeService.start(FakeFeed.Faults(dropEvery: 1000))
            let result = try await load(service, shortLoad + ["--clients", "1", "--keys", "one"])
            await service.stop()
            // The vote after each one that was forgotten gets the same score; the last one has none.
            let counts = try #require(result.audit.summary).findings.counts
            #expect(counts[.fallingScore] == 4)
            #expect(result.exitStatus == .auditFailed)
        }

        @Test func reportsWhatIsKnownOfAServiceThatDies() async throws {
            let service = try await FakeService.start(FakeFeed.Faults(dieAt: 3000))
            let result = try await load(service, shortLoad)
            await service.stop()
            #expect(result.lostConnectionCount == 8)
            #expect(result.totals.outcomes.isConserved)
            #expect(result.totals.outcomes.lost > 0)
            #expect(!result.audit.isPassed && !result.audit.isFailed)
            #expect(result.exitStatus == .failed)
            #expect(TextReport(result).rendered().contains("NOT POSSIBLE"))
        }

        @Test func callsUnansweredVotesUnknownAndPassesThem() async throws {
            let service = try await FakeService.start(FakeFeed.Faults(silentFrom: 4000))
            let result = try await load(service, shortLoad + ["--timeout", "100ms"])
            await service.stop()
            let outcomes = result.totals.outcomes
            #expect(outcomes.unknown == 8)
            #expect(outcomes.isConserved)
            let summary = try #require(result.audit.summary)
            #expect(summary.unknownVoteCount == 8)
            #expect(summary.countedVoteCount == summary.acknowledgedVoteCount.signed + 8)
            #expect(summary.findings.isEmpty)
        }
    }

}

extension AuditOutcome {
    /// The summary of an audit that was done.
    var summary: AuditSummary? {
        if case .done(let summary) = self { summary } else { nil }
    }
}

extension UInt64 {
    fileprivate var signed: Int64 { Int64(self) }
}
