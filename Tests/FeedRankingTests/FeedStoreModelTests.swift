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

    /// Votes on many posts and short heads: most pages stay as they are for a while.
    @Test(arguments: TestEnvironment.seeds(1...6))
    func keepsPagesUntilTheyChange(seed: UInt64) throws {
        var run = try ModelRun(seed: seed) { shape in
            shape.stripeCount = [1, 2, 4][Int(seed % 3)]
            shape.postLimit = 2_000
            shape.allowanceKeyCount = 1_000_000
            shape.pace.headPostCount = 1
            (shape.readShare, shape.otherShare, shape.keptShare) = (50, 50, 8)
        }
        for _ in 0..<800 { try run.create() }
        do {
            try run.run(4_000)
        } catch {
            Issue.record("FEED_SEED=\(seed): \(error)")
        }
        #expect(run.outlivedCount > 5, "Some pages stay while posts change; seed \(seed).")
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
