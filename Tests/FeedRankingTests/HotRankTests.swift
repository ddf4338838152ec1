import FeedOrders
import FeedRanking
import FeedTestSupport
import Foundation
import Glibc
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
    func boundsTheKeyFromAboveAndClosely(latest: Int64) throws {
        var random = SeededGenerator(seed: 1)
        for _ in 0..<200_000 {
            let magnitude = Int64.random(in: 0...(1 << 54), using: &random)
            let score =
                (magnitude >> Int64.random(in: 0...54, using: &random)) * (random.oneIn(2) ? 1 : -1)
            let time = random.oneIn(4) ? latest : Int64.random(in: 0...latest, using: &random)
            let key = HotRank.key(score: score, createTimeMilliseconds: time)
            let bound = HotRank.upperBound(score: score, createTimeMilliseconds: time)
            let excess = bound - Double(key)
            guard excess >= 0, score < 0 || excess <= 46_600
            else { throw Unexpected("score \(score) at \(time): key \(key), bound \(bound)") }
        }
    }
}

@Suite struct ControversyRankTests {
    /// Worked out with decimal arithmetic of 60 digits, so that each platform has the same bits.
    @Test(
        arguments: [
            (1, 1, 0x4000_0000_0000_0000),
            (3, 6, 0x4008_0000_0000_0000),
            (12, 24, 0x4018_0000_0000_0000),
            (3, 2, 0x4007_6463_6974_629C),
            (7, 1, 0x3FF5_88CE_A3F0_93BE),
            (1, 1_000, 0x3FF0_1C65_6FD9_AE29),
            (12_345, 6_789, 0x406C_4A68_940B_14E1),
            (1 << 53, 1, 0x3FF0_0000_0000_0012),
            (1 << 53, 1 << 53 - 1, 0x434F_FFFF_FFFF_FFDA),
            (999_999_937, 31_415_926, 0x3FFE_B5DC_4BDC_F8EB),
            (2, 1 << 62 - 1, 0x3FF0_0000_0000_0000),
            (5, 0, 0),
        ] as [(UInt64, UInt64, UInt64)]
    )
    func followsTheFormula(ups: UInt64, downs: UInt64, bits: UInt64) {
        #expect(ControversyRank.value(upvoteCount: ups, downvoteCount: downs).bitPattern == bits)
        #expect(ControversyRank.value(upvoteCount: downs, downvoteCount: ups).bitPattern == bits)
    }

    @Test func isTheFormulasUpToTheLastPlace() throws {
        var random = SeededGenerator(seed: 1)
        for _ in 0..<200_000 {
            func count() -> UInt64 { random.next() >> UInt64.random(in: 11...63, using: &random) }
            let (ups, downs) = (max(count(), 1), max(count(), 1))
            let value = ControversyRank.value(upvoteCount: ups, downvoteCount: downs)
            let exact = pow(
                Double(ups + downs),
                Double(min(ups, downs)) / Double(max(ups, downs))
            )
            guard abs(value - exact) <= exact.ulp
            else { throw Unexpected("\(ups) and \(downs): \(value), not \(exact)") }
        }
    }
}

/// The sum of RISING against the sum of the formula.
@Suite struct RisingSumTests {
    @Test(arguments: [UInt64](1...4))
    func staysNearTheFormula(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let created = Int64.random(in: 0...2_000_000_000_000, using: &random)
        var sum = RisingSum(upvoteCount: 40, createTimeMilliseconds: created)
        // Times the weight of the full hour of the creation.
        let start = created / 3_600_000 * 3_600_000
        func weight(_ time: Int64) -> Double { exp2(Double(time - start) / 3_600_000) }
        var exact = 41 * weight(created)
        var time = created
        for _ in 0..<100_000 {
            time += Int64.random(in: -3_000...9_000, using: &random)
            let vote = VoteWeight(milliseconds: time)
            sum = sum.adding(vote, createTimeMilliseconds: created)
            exact += weight(time)
        }
        let exponent = Double(sum.rawValue >> 32) - 1
        let mantissa = 1 + Double(sum.rawValue & 0xFFFF_FFFF) / 0x1p32
        let error = abs(log2(mantissa) + exponent - log2(exact))
        // Half a millisecond of the time of each vote.
        #expect(error < 0.5 / 3_600_000)
    }

    @Test func comparesPostsOfAllTimes() {
        let hour: Int64 = 3_600_000
        func key(_ time: Int64, _ upvotes: UInt64) -> UInt64 {
            RisingSum(upvoteCount: upvotes, createTimeMilliseconds: time)
                .key(createTimeMilliseconds: time)
        }
        // Twice the votes are worth an hour.
        #expect(key(hour, 0) == key(0, 1))
        #expect(key(10 * hour + 5, 2) == key(8 * hour + 5, 11))
        #expect(key(10 * hour + 5, 2) < key(10 * hour + 4, 2))
        #expect(key(RankingLimits.maximumTimeMilliseconds, 0) < key(hour, .max >> 10))
        #expect(key(0, 0) == UInt64.max - (1 << 32))
    }

    @Test func countsVotesOfOtherHours() {
        let hour: Int64 = 3_600_000
        let created = 40 * hour
        let post = RisingSum(upvoteCount: 0, createTimeMilliseconds: created)
        let early = VoteWeight(milliseconds: 20 * hour)
        let late = VoteWeight(milliseconds: 60 * hour)
        // 2^-20 of a sum of 2^32.
        let share: UInt64 = 1 << 12
        let withEarly = post.adding(early, createTimeMilliseconds: created).rawValue
        #expect(withEarly == post.rawValue + share)
        let withLate = post.adding(late, createTimeMilliseconds: created).rawValue
        let twentyHours: UInt64 = 21 << 32
        #expect(withLate == twentyHours + share)
    }
}

/// Each order and window of real posts, against a computation in Python from the formulas.
@Suite(.timeLimit(.minutes(10))) struct RealOrderTests {
    private static let python = Programs.command("python3")

    /// Prints the posts of a file, then for each list its name, its window and the places of its
    /// posts; the clock stands at the newest post.
    private static let script = """
        import csv, decimal, json, math, sys
        csv.field_size_limit(1 << 24)
        decimal.getcontext().prec = 60
        posts = []
        for row in csv.DictReader(open(sys.argv[1], newline='', encoding='utf-8-sig')):
            time = int(float(row['created_utc']) * 1000)
            posts.append((row['title'], time, *(int(row[n]) for n in ('ups', 'downs', 'num_comments'))))
        print(json.dumps(posts))

        def hot(title, time, ups, downs, comments):
            score = decimal.Decimal(ups - downs)
            order = max(abs(score), 1).log10().copy_sign(score) if score else decimal.Decimal(0)
            rank = order + (decimal.Decimal(time // 1000) - 1134028003) / 45000
            return -rank.quantize(decimal.Decimal('1e-7'), decimal.ROUND_HALF_EVEN)

        def best(title, time, ups, downs, comments):
            n, z = ups + downs, 1.281551565545
            if ups == 0: return 0.0
            p = ups / n
            left = p + z * z / (2 * n)
            right = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
            return -max(0.0, min(1.0, (left - right) / (1 + z * z / n)))

        def controversy(title, time, ups, downs, comments):
            if ups <= 0 or downs <= 0: return 0.0
            return -float(ups + downs) ** (min(ups, downs) / max(ups, downs))

        def rising(title, time, ups, downs, comments):
            votes = decimal.Decimal(1 + ups).ln() / decimal.Decimal(2).ln()
            return -(votes + decimal.Decimal(time) / 3600000)

        orders = {
            'top': lambda title, time, ups, downs, comments: (downs - ups, title.encode()),
            'new': lambda title, time, *rest: -time,
            'old': lambda title, time, *rest: time,
            'hot': hot, 'best': best, 'controversial': controversy, 'rising': rising,
            'discussed': lambda title, time, ups, downs, comments: -comments,
        }
        windows = {'': math.inf, 'hour': 1, 'day': 24, 'week': 168, 'month': 720, 'year': 8760}
        newest = max(post[1] for post in posts)
        for name, key in orders.items():
            for window, hours in windows.items():
                if window and name not in ('top', 'controversial', 'discussed'): continue
                young = [n for n, post in enumerate(posts) if newest - post[1] < hours * 3600000]
                ties = (lambda n: -n) if name == 'new' else (lambda n: n)
                young.sort(key=lambda n: (key(*posts[n]), ties(n)))
                print(json.dumps([name, window, *map(str, young)]))
        """

    /// A post of the file, as Python found it.
    private struct Post: Decodable {
        var title: String
        var time: Int64
        var ups: UInt64
        var downs: UInt64
        var comments: UInt64

        init(from decoder: any Decoder) throws {
            var fields = try decoder.unkeyedContainer()
            title = try fields.decode(String.self)
            time = try fields.decode(Int64.self)
            ups = try fields.decode(UInt64.self)
            downs = try fields.decode(UInt64.self)
            comments = try fields.decode(UInt64.self)
        }
    }

    @Test(
        .enabled(if: !RealPosts.files.isEmpty, "\(RealPosts.absence)"),
        .enabled(if: RealOrderTests.python != nil, "there is no python3"),
        arguments: RealPosts.files
    )
    func areThoseOfTheFormulas(file: URL) async throws {
        let python = try #require(Self.python)
        let process = try RunningProcess(python, ["-c", Self.script, file.path()])
        let (status, output) = await process.finish()
        try #require(status == 0, "\(output.suffix(3))")
        let lines = output.filter { !$0.isEmpty }.map { Data($0.utf8) }
        let posts = try JSONDecoder().decode([Post].self, from: try #require(lines.first))
        let store = try Self.store(of: posts)
        let listCount = Order.allCases.count + 3 * Window.allCases.count
        #expect(lines.count == 1 + listCount)
        for line in lines.dropFirst() {
            let list = try JSONDecoder().decode([String].self, from: line)
            let order = try #require(Order.allCases.first { "\($0)" == list[0] })
            let window = Window.allCases.first { "\($0)" == list[1] }
            let ids = try list.dropFirst(2).map { try #require(UInt64($0)) + 1 }
            let walked = try Self.walk(store, order, window)
            #expect(walked == ids, "\(file.lastPathComponent): \(list[0]) \(list[1])")
        }
    }

    /// A store with the posts under the ids from 1 on, whose clock stands at the newest post.
    private static func store(of posts: [Post]) throws -> FeedStore {
        let newest = posts.map(\.time).max() ?? 0
        let store = FeedStore(stripeCount: 16) { newest }
        let imported = posts.map { post in
            ImportedPost(
                content: PostContent(title: post.title, commentCount: post.comments),
                createTimeMilliseconds: post.time,
                upvoteCount: post.ups,
                downvoteCount: post.downs
            )
        }
        try store.importPosts(imported, in: FeedID(rawValue: 0))
        return store
    }

    /// The ids of a list, page by page.
    private static func walk(
        _ store: FeedStore,
        _ order: Order,
        _ window: Window?
    ) throws -> [UInt64] {
        var ids: [UInt64] = []
        var page = PostPage()
        let feed = FeedID(rawValue: 0)
        var query = PageQuery(feed: feed, order: order, window: window, size: 100)
        while true {
            var allowance = RefreshAllowance(keyCount: .max)
            _ = try store.page(query, into: &page, allowance: &allowance)
            ids += page.rows.map(\.id.rawValue)
            guard let next = page.next else { return ids }
            query.start = .cursor(next)
        }
    }
}
