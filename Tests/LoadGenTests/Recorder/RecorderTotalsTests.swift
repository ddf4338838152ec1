import Histogram
import LoadGen
import Testing

@Suite struct RecorderTotalsTests {
    private func totals(_ values: [UInt64], operation: Operation = .vote) -> RecorderTotals {
        var histogram = LatencyScale.makeHistogram()
        for value in values { histogram.record(value) }
        var totals = RecorderTotals()
        totals.latencies[LatencyKey(operation, .service)] = histogram
        totals.outcomes.sent = UInt64(values.count)
        totals.outcomes.ok = UInt64(values.count)
        totals.measuredAnswers[Int(operation.rawValue)] = UInt64(values.count)
        totals.failures.count(.reset)
        totals.failures.countServerError("A/B")
        return totals
    }

    /// The mean of two 99th percentiles is no 99th percentile; the merged histogram has the right one.
    @Test func percentilesComeFromMergedHistograms() {
        let fast = (1...9900).map { _ in 1_000_000 as UInt64 }
        let slow = (1...100).map { _ in 900_000_000 as UInt64 } + [900_000_000]
        var all = totals(fast)
        all.add(totals(slow))
        let merged = all.latencies[LatencyKey(.vote, .service)]
        #expect(merged?.totalCount == 10_001)
        let p98 = Double(merged?.valueAtPercentile(98) ?? 0)
        let p995 = Double(merged?.valueAtPercentile(99.5) ?? 0)
        #expect(abs(p98 / 1_000_000 - 1) < 0.002)
        #expect(abs(p995 / 900_000_000 - 1) < 0.002)
    }

    @Test func countsAddUp() {
        var all = totals([1, 2, 3])
        all.add(totals([4], operation: .page))
        all.add(totals([5]))
        #expect(all.outcomes.sent == 5)
        #expect(all.outcomes.isConserved)
        #expect(all.measuredAnswers[0] == 4)
        #expect(all.failures.causes == [.reset: 3])
        #expect(all.failures.serverErrors == ["A/B": 3])
        #expect(all.merged(.service)?.totalCount == 5)
        #expect(all.merged(.slip) == nil)
    }

    @Test func aRequestWithoutAnOutcomeBreaksTheConservation() {
        var outcomes = Outcomes()
        outcomes.sent = 4
        outcomes.ok = 1
        outcomes.error = 1
        outcomes.timeout = 1
        #expect(!outcomes.isConserved)
        outcomes.lost = 1
        #expect(outcomes.isConserved)
        outcomes.ok = 2
        #expect(!outcomes.isConserved)
    }
}
