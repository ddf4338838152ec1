import Histogram
import LoadGen
import Testing

@Suite struct HistogramEncodingTests {
    /// Latencies from below the scale to its end, drawn from `seed`.
    private func histogram(_ seed: UInt64) -> LatencyHistogram {
        var stream = RandomStream(seed: seed, thread: 0, client: 0)
        var histogram = LatencyScale.makeHistogram()
        for _ in 0..<500 {
            let value = UInt64(1) << UInt64(stream.nextIndex(below: 37))
            // The sum of all latencies stays below 2^64 ns, as Histogram adds them up.
            let count = UInt64(1) << UInt64(stream.nextIndex(below: 17))
            histogram.record(
                min(
                    value + UInt64(stream.nextIndex(below: Int(value))),
                    LatencyScale.highestNanoseconds
                ),
                count: count
            )
        }
        histogram.record(0)
        histogram.record(LatencyScale.highestNanoseconds)
        return histogram
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func readsWhatItWrote(_ seed: UInt64) throws {
        let whole = histogram(seed)
        let read = try #require(
            HistogramEncoding.histogram(base64: HistogramEncoding.base64(whole))
        )
        #expect(read.totalCount == whole.totalCount)
        let counts = whole.recordedValues().map { [$0.value, $0.count] }
        #expect(read.recordedValues().map { [$0.value, $0.count] } == counts)
        #expect(read.max == whole.max)
    }

    @Test func readsAnEmptyOne() throws {
        let empty = HistogramEncoding.base64(LatencyScale.makeHistogram())
        #expect(try #require(HistogramEncoding.histogram(base64: empty)).totalCount == 0)
    }

    @Test func refusesWhatIsCutOrChanged() throws {
        let bytes = HistogramEncoding.encoded(histogram(3))
        for length in 0..<40 { #expect(HistogramEncoding.decoded(Array(bytes[..<length])) == nil) }
        for place in 0..<32 where place < 4 || place > 7 {
            var changed = bytes
            changed[place] ^= 0x01
            #expect(HistogramEncoding.decoded(changed) == nil, "\(place)")
        }
        // A number without its end, a count of 0, and more empty buckets than there are.
        #expect(HistogramEncoding.decoded(Array(bytes[..<40]) + [0x80]) == nil)
        #expect(HistogramEncoding.decoded(Array(bytes[..<40]) + [0x00]) == nil)
        #expect(HistogramEncoding.decoded(Array(bytes[..<40]) + [0xFF, 0xFF, 0x7F, 0x02]) == nil)
        for text in ["", "HISTFAAA", "no base 64", "AAAA"] {
            #expect(HistogramEncoding.histogram(base64: text) == nil)
        }
    }

    /// Histogram adds the latencies up in 64 bits.
    @Test func refusesLatenciesWhoseSumIsTooLong() {
        for (count, isRead) in [(1 << 24, true), (1 << 25, false), (1 << 26, false)] {
            var histogram = LatencyScale.makeHistogram()
            histogram.record(LatencyScale.highestNanoseconds, count: UInt64(count))
            let bytes = HistogramEncoding.encoded(histogram)
            #expect((HistogramEncoding.decoded(bytes) != nil) == isRead, "\(count)")
        }
    }

    /// No bytes make a trap, whatever they are.
    @Test func survivesEveryCount() {
        var stream = RandomStream(seed: 9, thread: 0, client: 0)
        let head = Array(HistogramEncoding.encoded(LatencyScale.makeHistogram())[..<40])
        for _ in 0..<2_000 {
            let body = (0..<stream.nextIndex(below: 40)).map { _ in
                UInt8(truncatingIfNeeded: stream.next())
            }
            let read = HistogramEncoding.decoded(head + body)
            if let read { #expect(read.totalCount <= UInt64(Int64.max)) }
        }
    }
}

@Suite struct LatencySummaryTests {
    @Test func hasThePercentilesAndTheSpread() {
        var histogram = LatencyScale.makeHistogram()
        histogram.record(1 << 20, count: 990)
        histogram.record(1 << 24, count: 10)
        let summary = LatencySummary(histogram)
        #expect(summary.count == 1000)
        #expect(summary.percentiles[0] == histogram.valueAtPercentile(50))
        #expect(summary.percentiles[3] == histogram.valueAtPercentile(99.9))
        #expect(summary.maximum == histogram.max)
        #expect(summary.buckets.first == 80)
        #expect(summary.buckets.counts.count == 17)
        #expect(summary.buckets.counts[0] == 990)
        #expect(summary.buckets.counts[16] == 10)
    }

    @Test func addsSpreadsOnBothSides() {
        var sum = LatencyBuckets(first: 5, counts: [1, 2])
        sum.add(LatencyBuckets(first: 2, counts: [7, 0, 0, 10]))
        sum.add(LatencyBuckets(first: 9, counts: [4]))
        sum.add(LatencyBuckets())
        #expect(sum == LatencyBuckets(first: 2, counts: [7, 0, 0, 11, 2, 0, 0, 4]))
    }
}
