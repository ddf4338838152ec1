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
