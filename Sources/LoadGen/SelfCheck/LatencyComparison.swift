import Histogram

/// The latencies that a run measured beside those that there were.
package struct LatencyComparison: Sendable {
    /// What the generator measured.
    package var measured: LatencyHistogram
    /// Where `measured` counts from the intended start: the same requests timed from their send, as
    /// closed-loop tools do.
    package var fromSend: LatencyHistogram?
    /// What there was.
    package var truth: LatencyHistogram

    /// The percentiles that are compared.
    package static let levels: [Double] = [50, 99, 99.9]
    /// A wait of at least this long is one that only a stall makes.
    package static let stallNanoseconds: UInt64 = 500_000_000
    /// A percentile may differ by this share of its value, or by ``slackNanoseconds``.
    private static let share = 0.02
    /// The time that the kernel may take to bring an answer and to wake a thread.
    private static let slackNanoseconds = 20_000.0

    /// Latencies that were measured beside those that there were.
    package init(
        measured: LatencyHistogram,
        fromSend: LatencyHistogram? = nil,
        truth: LatencyHistogram
    ) {
        self.measured = measured
        self.fromSend = fromSend
        self.truth = truth
    }

    /// What was measured less what there was, in nanoseconds.
    package func difference(_ level: Double) -> Double {
        Double(measured.valueAtPercentile(level)) - Double(truth.valueAtPercentile(level))
    }

    /// Whether a percentile is as close as it has to be.
    package func matches(_ level: Double) -> Bool {
        let allowed = max(
            Self.slackNanoseconds,
            Self.share * Double(truth.valueAtPercentile(level))
        )
        return abs(difference(level)) <= allowed
    }

    /// Whether all requests were measured, and all percentiles match.
    package var isMatch: Bool {
        measured.totalCount == truth.totalCount && measured.totalCount > 0
            && Self.levels.allSatisfy(matches)
    }

    /// How many requests of a histogram waited as long as only a stall makes them wait.
    package static func stalledCount(_ histogram: LatencyHistogram) -> UInt64 {
        histogram.count(within: stallNanoseconds...LatencyScale.highestNanoseconds)
    }

    /// Whether the stall has its true weight, to 2%.
    package var hasTrueWeight: Bool {
        let (seen, there) = (Self.stalledCount(measured), Self.stalledCount(truth))
        return there > 0 && abs(Double(seen) - Double(there)) <= Self.share * Double(there)
    }
}
