import FeedTestSupport
import Histogram
import LoadGen
import Testing

extension LiveTests {
    @Suite struct SelfCheckTests {
        /// One second without answers, and room for few of the requests that are due in it.
        @Test func seesAStallAtItsTrueWeight() async throws {
            let stall = try await offload { try SelfCheck(seed: 1).stall() }
            #expect(stall.measured.totalCount == stall.truth.totalCount)
            #expect(LatencyComparison.stalledCount(stall.truth) > 400)
            #expect(stall.hasTrueWeight)
            // What a generator measures that times from the send.
            var faulty = stall
            faulty.measured = try #require(stall.fromSend)
            #expect(!faulty.hasTrueWeight)
            #expect(
                LatencyComparison.stalledCount(faulty.measured)
                    < LatencyComparison.stalledCount(stall.truth) / 2
            )
        }
    }
}

@Suite struct LatencyComparisonTests {
    private func histogram(_ nanoseconds: UInt64, _ rare: UInt64) -> LatencyHistogram {
        var histogram = LatencyScale.makeHistogram()
        histogram.record(nanoseconds, count: 9_800)
        histogram.record(rare, count: 200)
        return histogram
    }

    private func matches(_ measured: LatencyHistogram) -> Bool {
        LatencyComparison(measured: measured, truth: histogram(10_000_000, 600_000_000)).isMatch
    }

    @Test func allowsTwoPercent() {
        #expect(matches(histogram(10_150_000, 609_000_000)))
        #expect(!matches(histogram(10_350_000, 600_000_000)))
        #expect(!matches(histogram(9_650_000, 600_000_000)))
        #expect(!matches(histogram(10_000_000, 620_000_000)))
    }

    @Test func missesNoRequest() {
        var fewer = LatencyScale.makeHistogram()
        fewer.record(10_000_000, count: 9_799)
        fewer.record(600_000_000, count: 200)
        #expect(!matches(fewer))
        #expect(!matches(LatencyScale.makeHistogram()))
    }

    @Test func countsLongWaits() {
        var comparison = LatencyComparison(
            measured: histogram(10_000_000, 600_000_000),
            truth: histogram(10_000_000, 600_000_000)
        )
        #expect(LatencyComparison.stalledCount(comparison.truth) == 200)
        #expect(comparison.hasTrueWeight)
        comparison.measured.record(700_000_000, count: 5)
        #expect(!comparison.hasTrueWeight)
        // Where nothing waited long, there was no stall to be seen.
        comparison.measured = histogram(10_000_000, 20_000_000)
        comparison.truth = comparison.measured
        #expect(!comparison.hasTrueWeight)
    }
}
