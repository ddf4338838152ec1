import FeedTestSupport
import Foundation
import LoadGen
import Testing

extension LiveTests {
    /// `--verify-only`: the record of an earlier run, against what the service has later.
    @Suite struct VerificationTests {
        @Test(arguments: [
            FakeFaults(), FakeFaults(dieAt: 3000), FakeFaults(failEvery: 700),
            FakeFaults(silentFrom: 4500),
        ])
        func auditsWhatARunKnewAgain(_ faults: FakeFaults) async throws {
            let service = try await FakeService.start(faults)
            let mix = ["--mix", "vote=90,create=10", "--timeout", "100ms"]
            let result = try await load(service, shortLoad + mix)
            await service.stop()
            let again = try await FakeService.start(serving: service.feed)
            let verified = try await verify(result, again)
            #expect(verified.audit.summary?.findings.examples == [])
            #expect(verified.audit.summary?.acknowledgedVoteCount ?? 0 > 1000)
            #expect(verified.exitStatus == .success)
            #expect(verified.record == result.record)
            if let summary = result.audit.summary {
                #expect(verified.audit.summary == summary)
            }
            let text = VerificationText(verified, path: "run.json").rendered()
            #expect(text.contains("Audit        PASS"))

            service.feed.loseOneVote()
            let short = try await verify(result, again)
            if faults.dieAt == nil, faults.silentFrom == nil {
                #expect(short.audit.summary?.findings.counts[.lostVote] == 1)
                #expect(short.exitStatus == .auditFailed)
            }
            await again.stop()
        }

        @Test func seesAVoteLostThatWasAcknowledgedBeforeTheServiceDied() async throws {
            let service = try await FakeService.start(FakeFaults(dieAt: 3000))
            let result = try await load(service, shortLoad + ["-c", "1"])
            await service.stop()
            #expect(result.exitStatus == .failed)
            let again = try await FakeService.start(serving: service.feed)
            // More than the one vote that nobody knows of.
            for _ in 0..<2 { service.feed.loseOneVote() }
            let verified = try await verify(result, again)
            await again.stop()
            #expect(verified.audit.summary?.acknowledgedVoteCount == 2999)
            #expect(verified.audit.summary?.unknownVoteCount == 1)
            #expect(verified.audit.summary?.findings.counts[.lostVote] ?? 0 >= 1)
            #expect(verified.exitStatus == .auditFailed)
        }

        @Test func recordsThePostsOfARunThatDiedBeforeItsLoad() async throws {
            let service = try await FakeService.start(FakeFaults(dieAtCreate: 150))
            let result = try await load(service, shortLoad + ["--posts", "200"])
            await service.stop()
            #expect(result.exitStatus == .failed)
            let record = try #require(result.record)
            // The fewer of the last answers came, the fewer posts were sent behind them.
            #expect((150...200).contains(record.posts.count + record.unknownTitles.count))
            #expect(!record.unknownTitles.isEmpty)
            let again = try await FakeService.start(serving: service.feed)
            let verified = try await verify(result, again)
            await again.stop()
            #expect(verified.audit.summary?.findings.examples == [])
            #expect(verified.audit.summary?.listedPostCount == 150)
            #expect(verified.exitStatus == .success)
        }

        @Test func failsWhereTheServiceHasAnotherState() async throws {
            let service = try await FakeService.start()
            let result = try await load(service, shortLoad)
            service.feed.beginAnew()
            let verified = try await verify(result, service)
            await service.stop()
            #expect(verified.audit.summary?.findings.counts == [.otherState: 1])
            #expect(verified.exitStatus == .auditFailed)
        }

        @Test func refusesAFileThatIsTornOrNoReport() async throws {
            let service = try await FakeService.start()
            let result = try await load(service, shortLoad + ["-n", "100"])
            await service.stop()
            try await withReport(of: result) { path in
                let whole = try Data(contentsOf: URL(filePath: path))
                let cuts = stride(from: 0, to: whole.count - 2, by: 97).map { whole.prefix($0) }
                let foreign = ["[]", "{}", "{\"schema\": 1}", "{\"schema\": 2, \"record\": null}"]
                for bytes in cuts + foreign.map({ Data($0.utf8) }) {
                    try bytes.write(to: URL(filePath: path))
                    let failure = #expect(throws: RunFailure.self) {
                        try RunRecord(readingReport: path)
                    }
                    #expect(failure?.exitStatus == .usage)
                    #expect(failure?.description.hasPrefix("--verify-only: \(path): ") == true)
                }
            }
        }
    }
}
