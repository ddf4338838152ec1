import Foundation
import Histogram

/// The latencies of one interval in a few numbers, which a long run keeps for each of its seconds.
package struct LatencySummary: Sendable, Equatable {
    /// How many latencies there were.
    package var count: UInt64
    /// The percentiles of `levels`, in nanoseconds.
    package var percentiles: [UInt64]
    /// The longest latency, in nanoseconds.
    package var maximum: UInt64
    /// How the latencies spread over a logarithmic scale.
    package var buckets: LatencyBuckets

    /// The percentiles that a summary has.
    package static let levels: [Double] = [50, 90, 99, 99.9]

    /// The percentile `level`, in nanoseconds; nil where it is none of `levels`.
    package func percentile(_ level: Double) -> UInt64? {
        Self.levels.firstIndex(of: level).map { percentiles[$0] }
    }

    /// No latency.
    package init() {
        count = 0
        percentiles = Self.levels.map { _ in 0 }
        maximum = 0
        buckets = LatencyBuckets()
    }

    /// The summary of `histogram`; O(buckets of the histogram).
    package init(_ histogram: LatencyHistogram) {
        self.init()
        guard histogram.totalCount > 0 else { return }
        count = histogram.totalCount
        percentiles = Self.levels.map { histogram.valueAtPercentile($0) }
        maximum = histogram.max
        buckets = LatencyBuckets(histogram)
    }
}

/// Counts of latencies on a logarithmic scale with four buckets an octave: number `i` begins at
/// 2^(i/4) ns, and each bucket is 19% wide.
package struct LatencyBuckets: Sendable, Equatable {
    /// The number of the first bucket that is kept.
    package private(set) var first = 0
    /// The counts from the first bucket that is not empty to the last.
    package private(set) var counts: [UInt64] = []

    /// Buckets an octave.
    package static let perOctave = 4.0

    /// No latency.
    package init() {}

    /// The counts from bucket `first` on.
    package init(first: Int, counts: [UInt64]) {
        self.first = first
        self.counts = counts
    }

    /// The latencies of `histogram`.
    package init(_ histogram: LatencyHistogram) {
        for value in histogram.recordedValues() { add(value.count, at: Self.number(value.value)) }
    }

    /// The number of the bucket that has `nanoseconds`.
    package static func number(_ nanoseconds: UInt64) -> Int {
        Int(log2(Double(max(nanoseconds, 1))) * perOctave)
    }

    /// Adds the counts of other buckets.
    package mutating func add(_ other: LatencyBuckets) {
        for (offset, count) in other.counts.enumerated() where count > 0 {
            add(count, at: other.first + offset)
        }
    }

    private mutating func add(_ count: UInt64, at number: Int) {
        if counts.isEmpty { first = number }
        if number < first {
            counts.insert(contentsOf: repeatElement(0, count: first - number), at: 0)
            first = number
        }
        let missing = number - first - counts.count + 1
        if missing > 0 { counts.append(contentsOf: repeatElement(0, count: missing)) }
        counts[number - first] += count
    }
}
