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
        (.max, 0, -251_816_573_992),
        (.min, 0, -252_195_871_786),
    ])
    func followsTheFormula(score: Int64, time: Int64, key: Int64) {
        #expect(HotRank.key(score: score, createTimeMilliseconds: time) == key)
    }

    /// Sums that lie close to a half of the seventh decimal, by 10^-5 to 10^-16 of it.
    ///
    /// Doubles round some of them to the wrong side. Worked out with 160 bits, among 1.7 million such
    /// pairs.
    @Test(arguments: [
        (Int64(-48_629), Int64(1_532_654_027_132), Int64(88_536_691_936)),
        (284_360, 832_088_184_952, -67_043_198_870),
        (-1_922, 1_189_140_877_274, 12_214_467_800),
        (293_161, 720_797_024_690, -91_774_435_383),
        (9_629_536, 838_635_749_421, -65_572_887_057),
        (21_236, 1_717_459_588_954, 129_694_734_061),
        (-3_279, 74_393_971_089, -235_509_386_748),
        (2_016, 1_497_885_566_474, 80_890_281_127),
        (-70_625, 2_131_254_090_774_118, 473_359_965_459_527),
        (40_664, 2_060_564_065_139_040, 457_651_165_455_657),
        (-27_657_007_284, 1_782_119_416_735_259, 395_774_426_411_281),
        (812_716_262_317, 1_343_622_343_378, 46_695_619_390),
        (-807_022_037_873, 1_640_772_672_672, 112_490_857_590),
        (-225_234_345_919, 979_986_886_892, -34_344_885_679),
        (443_012_865_676, 167_295_528_926, -214_712_974_726),
        (-577_352_100_252_104_052, 321_285_244_966, -180_787_116_408),
        (6_842_251_060_303_311_758, 989_925_639_848, -31_834_395_565),
        (-546_422_106_385_717_349, 1_527_842_682_250, 87_336_997_828),
        (3_457_774_540_053_513_116, 1_301_924_334_881, 37_495_683_744),
        (-7_184_109_060_848_774_849, 26_595_817_865, -246_284_605_063),
        (-4_944_027_184_101_281_606, 1_471_646_821_747, 74_839_463_191),
        (5_175_707_537_510_890_366, 1_242_605_786_154, 24_315_535_920),
        (-77_557_407_460_981_911, 661_228_822_126, -105_235_380_899),
    ])
    func roundsExactlyNearAHalf(score: Int64, time: Int64, key: Int64) {
        #expect(HotRank.key(score: score, createTimeMilliseconds: time) == key)
    }

    @Test func aGreaterScoreNeverHasALesserKey() {
        for time in [
            0, 1_134_028_004_000, 1_700_000_003_000, RankingLimits.maximumTimeMilliseconds,
        ]
            as [Int64]
        {
            var last = HotRank.key(score: -100_000, createTimeMilliseconds: time)
            for score in -99_999...100_000 as ClosedRange<Int64> {
                let key = HotRank.key(score: score, createTimeMilliseconds: time)
                #expect(key >= last, "\(score) at \(time)")
                if key < last { return }
                last = key
            }
        }
    }

    @Test func twelveAndAHalfHoursWeighAsMuchAsAFactorOfTen() {
        let older = HotRank.key(score: 1_000, createTimeMilliseconds: 1_700_000_000_000)
        let newer = HotRank.key(score: 100, createTimeMilliseconds: 1_700_045_000_000)
        #expect(older == newer)
    }

    /// A bound below its key would leave a post that a first page shows in the stale tail.
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
            let excess = bound - Double(key)
            guard excess >= 0, score < 0 || excess <= 46_600 else {
                Issue.record("score \(score) at \(time): key \(key), bound \(bound)")
                return
            }
        }
    }
}
