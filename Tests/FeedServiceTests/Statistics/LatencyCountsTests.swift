import FeedService
import FeedTestSupport
import Testing

/// The buckets and percentiles of times, beside a model that keeps every time.
struct LatencyCountsTests {
    /// The percentiles that statistics name.
    static let shares: [UInt64] = [0, 1, 5_000, 9_000, 9_900, 9_990, 10_000]

    /// The time of the exact rank in a sorted list.
    static func exact(_ sorted: [UInt64], tenThousandths: UInt64) -> UInt64 {
        let rank = (Double(sorted.count) * Double(tenThousandths) / 10_000).rounded(.up)
        return sorted[max(1, Int(rank)) - 1]
    }

    @Test func bucketsFollowOneAnotherWithoutAGap() {
        var bucket = 0
        while let last = LatencyHistogram.lastNanosecond(of: bucket) {
            #expect(LatencyHistogram.bucket(of: last) == bucket)
            #expect(LatencyHistogram.bucket(of: last + 1) == bucket + 1)
            bucket += 1
        }
        #expect(bucket == LatencyHistogram.bucketCount - 1)
        #expect(LatencyHistogram.bucket(of: .max) == bucket)
        #expect(LatencyHistogram.bucket(of: 0) == 0)
    }

    @Test(arguments: TestEnvironment.seeds(1...20))
    func percentilesAreThoseOfAnExactModel(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let loops = (0..<3).map { _ in LatencyHistogram() }
        var times: [UInt64] = []
        for _ in 0..<Int.random(in: 1...3_000, using: &generator) {
            // From nanoseconds to minutes, each order of magnitude as often as the others.
            let bits = UInt64.random(in: 0...36, using: &generator)
            let time = UInt64.random(in: 0...(1 << bits), using: &generator)
            let count = Int.random(in: 1...64, using: &generator)
            loops[Int.random(in: 0..<3, using: &generator)].count(count, nanoseconds: time)
            times += repeatElement(time, count: count)
        }
        times.sort()
        let counts = LatencyCounts(loops)
        #expect(counts.count == UInt64(times.count))
        #expect(counts.sumNanoseconds == times.reduce(0, +))
        #expect(counts.maximumNanoseconds == times.last)
        for share in Self.shares {
            let told = counts.nanoseconds(tenThousandths: share)
            let exact = Self.exact(times, tenThousandths: share)
            let error = max(exact / 16, LatencyHistogram.unitNanoseconds)
            #expect(
                told >= exact && told <= min(exact + error, times.last ?? 0),
                "FEED_SEED=\(seed): \(share) is \(told), exactly \(exact)"
            )
        }
    }

    @Test func nothingTakesNoTime() {
        let counts = LatencyCounts([LatencyHistogram()])
        #expect(Self.shares.allSatisfy { counts.nanoseconds(tenThousandths: $0) == 0 })
    }
}
