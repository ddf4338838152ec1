import FeedRanking
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
}
