import FeedProto
import FeedTestSupport
import LoadGen
import Testing

extension LiveTests {
    /// What a run with `--retry` does where a service does not keep what exactly-once promises.
    @Suite struct RetryFaultTests {
        private static let retrying = shortLoad + ["--retry", "50", "-P", "8"]

        /// The negative control of every test that passes: the audit sees a vote that counts twice.
        @Test(arguments: [
            FakeFaults(loseAfterEvery: 1001, ignoresSequences: true),
            FakeFaults(cutEvery: 1001, ignoresSequences: true),
        ])
        func catchesAVoteThatCountsTwice(_ faults: FakeFaults) async throws {
            let service = try await FakeService.start(faults)
            let result = try await load(service, Self.retrying)
            await service.stop()
            let summary = try #require(result.audit.summary)
            #expect(summary.findings.counts[.extraVote] ?? 0 > 0)
            #expect(result.exitStatus == .auditFailed)
        }

        @Test func catchesAVoteThatIsLost() async throws {
            let service = try await FakeService.start(
                FakeFaults(dropEvery: 1000, loseAfterEvery: 1001)
            )
            let result = try await load(service, Self.retrying)
            await service.stop()
            #expect(result.audit.summary?.findings.counts[.lostVote] ?? 0 > 0)
            #expect(result.exitStatus == .auditFailed)
        }

        @Test(arguments: [
            FakeFaults(loseAfterEvery: 1001, forgetsChannels: true),
            FakeFaults(loseAfterEvery: 1001, losesHellos: true),
        ])
        func neverSendsAgainWhatTheServiceHasForgotten(_ faults: FakeFaults) async throws {
            let service = try await FakeService.start(faults)
            let result = try await load(service, Self.retrying)
            await service.stop()
            let summary = try #require(result.audit.summary)
            #expect(summary.findings.examples == [])
            #expect(summary.unknownVoteCount > 0)
            #expect(result.totals.failures.causes[.forgotten] == summary.unknownVoteCount)
            #expect(result.totals.outcomes.lost == summary.unknownVoteCount)
            #expect(result.totals.outcomes.isConserved)
            // The vote that counted is among the unknown ones; those behind it never did.
            #expect(service.feed.voteCount == summary.acknowledgedVoteCount + 4)
        }

        /// The post was created, so a second one of its title would be one too many.
        @Test(arguments: [
            FakeFaults(loseCreateEvery: 31, forgetsChannels: true),
            FakeFaults(loseCreateEvery: 31, losesHellos: true),
        ])
        func createsNoPostAgainThatTheServiceHasForgotten(_ faults: FakeFaults) async throws {
            let service = try await FakeService.start(faults)
            let result = try await load(service, Self.retrying)
            await service.stop()
            guard case .impossible(let reason) = result.audit else {
                Issue.record("The run went on: \(result.audit)")
                return
            }
            #expect(reason.contains("no longer knows which calls of this run it had executed"))
            let titles = service.feed.state.withLock { $0.posts.values.map(\.title) }
            #expect(titles.count >= 31)
            #expect(Set(titles).count == titles.count)
            #expect(result.exitStatus == .failed)
        }

        @Test func refusesAServiceWithoutExactlyOnce() async throws {
            let service = try await FakeService.start(FakeFaults(lacksExactlyOnce: true))
            let failure = await #expect(throws: RunFailure.self) {
                try await load(service, Self.retrying)
            }
            await service.stop()
            #expect(failure == .noExactlyOnce)
            #expect(failure?.exitStatus == .failed)
            #expect(failure?.description.hasPrefix("--retry: ") == true)
            #expect(service.feed.scores.isEmpty)
        }

        @Test func failsTheAuditOfAServiceThatComesBackEmpty() async throws {
            let service = try await FakeService.start(
                FakeFaults(dieAt: 3000, restarts: true, restartsEmpty: true)
            )
            let result = try await load(service, Self.retrying)
            await service.stop()
            #expect(result.audit.summary?.findings.counts == [.otherState: 1])
            #expect(result.totals.outcomes.isConserved)
            #expect(result.exitStatus == .auditFailed)
        }

        @Test func givesUpWhereTheServiceStaysAway() async throws {
            let service = try await FakeService.start(FakeFaults(dieAt: 3000))
            let result = try await load(service, shortLoad + ["--retry", "2", "-P", "8"])
            await service.stop()
            #expect(result.lostConnectionCount == 8)
            #expect(result.totals.outcomes.isConserved)
            #expect(result.totals.outcomes.lost > 0)
            #expect(!result.audit.isPassed && !result.audit.isFailed)
            #expect(result.exitStatus == .failed)
        }

        @Test func doesNotRetryAcrossABrokenProtocol() async throws {
            let service = try await FakeService.start(FakeFaults(misnumberAt: 2008))
            let result = try await load(service, Self.retrying)
            await service.stop()
            #expect(result.totals.failures.causes[.protocolError] == 1)
            #expect(result.lostConnectionCount == 1)
            #expect(result.totals.outcomes.isConserved)
            #expect(result.audit.isPassed)
            #expect(result.exitStatus == .failed)
        }
    }
}
