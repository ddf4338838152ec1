import FeedRanking
import FeedRankingModel
import FeedTestSupport
import Testing

/// Replay one seed with `FEED_SEED=<seed> swift test --filter FeedStoreModelTests`.
@Suite struct FeedStoreModelTests {
    /// On a thread of its own, one after the other: a minute's computing, beside which other tests
    /// wait for sockets.
    @Test(.serialized, arguments: TestEnvironment.seeds(1...40))
    func behavesAsTheModel(seed: UInt64) async throws {
        let difference: String? = try await offload {
            var run = try ModelRun(seed: seed)
            do {
                try run.run(TestEnvironment.modelOperations(1_200_000) / 40)
                return nil
            } catch {
                return "FEED_SEED=\(seed), \(run.shape.stripeCount) stripes: \(error)"
            }
        }
        #expect(difference == nil)
    }

    /// Large runs have heads that most votes do not reach.
    @Test func keptPagesOutliveVotesBehindThem() throws {
        var outlivedCount = 0
        for seed in 1...12 as ClosedRange<UInt64> {
            var run = try ModelRun(seed: seed)
            try run.run(5_000)
            outlivedCount += run.outlivedCount
        }
        #expect(outlivedCount > 100)
    }

    @Test func seesAWrongTime() throws {
        var run = try ModelRun(seed: 3)
        run.model.ignoresImportedTimes = true
        #expect(throws: Difference.self) {
            try run.run(20_000)
        }
    }

    @Test func seesAWrongTie() throws {
        var run = try ModelRun(seed: 3)
        run.model.ignoresTitles = true
        #expect(throws: Difference.self) {
            try run.run(20_000)
        }
    }
}
