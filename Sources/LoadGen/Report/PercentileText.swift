import Histogram

/// Percentiles as the report prints them, marked where the number of samples is small.
package enum PercentileText {
    /// How much a percentile of a number of samples means.
    package enum Trust: Sendable, Equatable {
        /// Fewer than 10 samples lie beyond: the percentile means nothing and is not shown.
        case hidden
        /// Fewer than 100 samples lie beyond: it is shown with a `~`.
        case rough
        /// Enough samples lie beyond.
        case good
    }

    /// The trust in `percentile` of `count` samples.
    package static func trust(percentile: Double, count: UInt64) -> Trust {
        // Rounded: 1% of 1000 samples is 10, though a product of two doubles may differ slightly.
        let beyond = (Double(count) * (100 - percentile) / 100 * 1e6).rounded() / 1e6
        if beyond < 10 { return .hidden }
        return beyond < 100 ? .rough : .good
    }

    /// The cell of a table: milliseconds, `~` before what is rough, `-` for what is hidden.
    package static func cell(_ histogram: LatencyHistogram, percentile: Double) -> String {
        let value = NumberFormat.milliseconds(Double(histogram.valueAtPercentile(percentile)))
        switch trust(percentile: percentile, count: histogram.totalCount) {
        case .hidden: return "-"
        case .rough: return "~\(value)"
        case .good: return value
        }
    }

    /// The name of a percentile in a table, as `p99.9`, or in JSON, as `p999`.
    package static func name(_ percentile: Double, isKey: Bool = false) -> String {
        let text = percentile == percentile.rounded() ? "\(Int(percentile))" : "\(percentile)"
        return "p" + (isKey ? text.replacing(".", with: "") : text)
    }
}
