package import FeedProto
import Foundation
package import Histogram

/// The stretch of a request's life that a latency covers.
package enum Measure: Int, Sendable, CaseIterable {
    /// From sent to answered: the time that the service took.
    case service
    /// From the intended start to answered: the time that a user waits. In a closed loop it equals
    /// `service`.
    case response
    /// From the intended start to sent: the delay of the generator.
    case slip

    package var name: String {
        switch self {
        case .service: "service"
        case .response: "response"
        case .slip: "generator slip"
        }
    }
}

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

extension Dictionary where Value == LatencyHistogram {
    /// Adds histograms of others to those with the same keys.
    mutating func add(_ others: Self) {
        merge(others) { mine, theirs in
            var sum = mine
            sum.add(theirs)
            return sum
        }
    }
}

/// The latencies of timed calls, divided into parts.
///
/// A timed call has two instants of the generator, sent and answered, and three of the service:
/// received, executed and released. On one machine all five are of one clock, in this order.
package struct LatencySplit: Sendable, Equatable {
    package enum Part: Int, Sendable, CaseIterable {
        case there
        case execution
        /// From executed to released: the wait until the answer is durable.
        case held
        case back
        /// The ways there and back together, which need no common clock.
        case bothWays

        /// Its member in a report.
        var member: MemberKey { ["there", "execution", "held", "back", "both_ways"][rawValue] }
    }

    package internal(set) var sampleCount: UInt64 = 0
    /// How many of them have times that do not lie in order between sent and answered.
    package internal(set) var otherClockCount: UInt64 = 0
    // Found by number: a hash of each of five parts would cost an answer more than its record.
    var histograms = Part.allCases.map { _ in LatencyScale.makeHistogram() }

    package init() {}

    /// Whether service and generator have one clock: all but one in a hundred times are in order.
    package var isOneClock: Bool { otherClockCount * 100 <= sampleCount }

    /// The latencies of a part; nil where there are none, and for one way where a clock is another.
    package func latencies(of part: Part) -> LatencyHistogram? {
        let isKnown = isOneClock || part != .there && part != .back
        let histogram = histograms[part.rawValue]
        return isKnown && histogram.totalCount > 0 ? histogram : nil
    }

    package mutating func add(_ times: CallTimes, sent: UInt64, answered: UInt64) {
        let received = times.receivedNanoseconds
        let executed = times.executedNanoseconds
        let released = times.releasedNanoseconds
        let isOrdered = received <= executed && executed <= released
        sampleCount += 1
        if isOrdered, sent <= received, released <= answered {
            record(.there, received - sent)
            record(.back, answered - released)
        } else {
            otherClockCount += 1
        }
        guard isOrdered else { return }
        record(.execution, executed - received)
        record(.held, released - executed)
        let latency = answered &- sent
        if released - received <= latency { record(.bothWays, latency - (released - received)) }
    }

    package mutating func add(_ other: LatencySplit) {
        sampleCount += other.sampleCount
        otherClockCount += other.otherClockCount
        for index in histograms.indices { histograms[index].add(other.histograms[index]) }
    }

    private mutating func record(_ part: Part, _ nanoseconds: UInt64) {
        histograms[part.rawValue].record(min(nanoseconds, LatencyScale.highestNanoseconds))
    }
}

/// The latencies of one interval in a few numbers, which a long run keeps for each of its seconds.
package struct LatencySummary: Sendable, Equatable {
    package var count: UInt64
    /// The percentiles of `levels`, in nanoseconds.
    package var percentiles: [UInt64]
    /// The longest latency, in nanoseconds.
    package var maximum: UInt64
    /// How the latencies spread over a logarithmic scale.
    package var buckets: LatencyBuckets

    package static let levels: [Double] = [50, 90, 99, 99.9]

    /// The percentile `level`, in nanoseconds; nil where it is none of `levels`.
    package func percentile(_ level: Double) -> UInt64? {
        Self.levels.firstIndex(of: level).map { percentiles[$0] }
    }

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
    package private(set) var first = 0
    /// The counts from the first bucket that is not empty to the last.
    package private(set) var counts: [UInt64] = []

    package static let perOctave = 4.0

    package init() {}

    package init(first: Int, counts: [UInt64]) {
        self.first = first
        self.counts = counts
    }

    package init(_ histogram: LatencyHistogram) {
        for value in histogram.recordedValues() { add(value.count, at: Self.number(value.value)) }
    }

    package static func number(_ nanoseconds: UInt64) -> Int {
        Int(log2(Double(max(nanoseconds, 1))) * perOctave)
    }

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
