import FeedRanking
import FeedTestSupport
import Glibc
import Testing

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
