import FeedRanking
import FeedTestSupport
import Testing

@Suite struct HotRankTests {
    /// Worked out beside the formula, with decimal arithmetic.
    @Test(arguments: [
        (Int64(0), Int64(1_134_028_003_000), Int64(0)),
        (1, 1_134_028_003_000, 0),
        (10, 1_134_028_003_999, 10_000_000),
        (-10, 1_134_028_003_000, -10_000_000),
        (2, 1_134_028_003_000, 3_010_300),
        (-2, 1_134_073_003_000, 6_989_700),
        (1_000_000, 1_134_028_003_000, 60_000_000),
        (0, 1_134_028_002_999, -222),
    ])
    func followsTheFormula(score: Int64, time: Int64, key: Int64) {
        #expect(HotRank.key(score: score, createTimeMilliseconds: time) == key)
    }

    @Test func twelveAndAHalfHoursWeighAsMuchAsAFactorOfTen() {
        let older = HotRank.key(score: 1_000, createTimeMilliseconds: 1_700_000_000_000)
        let newer = HotRank.key(score: 100, createTimeMilliseconds: 1_700_045_000_000)
        #expect(older == newer)
    }

    /// A bound below its key would take a post for far that a first page shows.
    @Test(arguments: [2_000_000_000_000, RankingLimits.maximumTimeMilliseconds])
    func boundsTheKeyFromAboveAndClosely(latest: Int64) {
        var random = SeededGenerator(seed: 1)
        for _ in 0..<200_000 {
            let magnitude = Int64.random(in: 0...(1 << 54), using: &random)
            let score =
                (magnitude >> Int64.random(in: 0...54, using: &random)) * (random.oneIn(2) ? 1 : -1)
            let time = random.oneIn(4) ? latest : Int64.random(in: 0...latest, using: &random)
            let key = HotRank.key(score: score, createTimeMilliseconds: time)
            let bound = HotRank.upperBound(score: score, createTimeMilliseconds: time)
            guard (key...key + 3).contains(bound) else {
                Issue.record("score \(score) at \(time): key \(key), bound \(bound)")
                return
            }
        }
    }
}
