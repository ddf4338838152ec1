package import Histogram

/// Latencies of many requests, in nanoseconds.
package typealias LatencyHistogram = Histogram<UInt64>

/// The range and the precision of every latency histogram, so that any two can be added.
package enum LatencyScale {
    /// Values below it share a bucket.
    package static let lowestNanoseconds: UInt64 = 64
    /// Longer latencies count as this one: no request outlives the largest `--timeout`.
    package static let highestNanoseconds: UInt64 = 120_000_000_000

    /// An empty histogram: three digits from 64 ns to 2 min.
    package static func makeHistogram() -> LatencyHistogram {
        LatencyHistogram(
            lowestDiscernibleValue: lowestNanoseconds,
            highestTrackableValue: highestNanoseconds,
            numberOfSignificantValueDigits: .three
        )
    }
}
