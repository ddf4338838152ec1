package import FeedProto
import Histogram

/// The latencies of timed calls, divided into parts.
///
/// A timed call has two instants of the generator, sent and answered, and three of the service:
/// received, executed and released. On one machine all five are of one clock, in this order.
package struct LatencySplit: Sendable, Equatable {
    /// A part of the latency of a call.
    package enum Part: Int, Sendable, CaseIterable {
        /// From sent to received.
        case there
        /// From received to executed.
        case execution
        /// From executed to released: the wait until the answer is durable.
        case held
        /// From released to answered.
        case back
        /// The ways there and back together, which need no common clock.
        case bothWays
    }

    /// How many calls were timed.
    package private(set) var sampleCount: UInt64 = 0
    /// How many of them have times that do not lie in order between sent and answered.
    package private(set) var otherClockCount: UInt64 = 0
    private var histograms = Part.allCases.map { _ in LatencyScale.makeHistogram() }

    /// No call.
    package init() {}

    /// Counts and latencies that were recorded before.
    init(sampleCount: UInt64, otherClockCount: UInt64, _ latencies: [Part: LatencyHistogram]) {
        self.sampleCount = sampleCount
        self.otherClockCount = otherClockCount
        for (part, histogram) in latencies { histograms[part.rawValue] = histogram }
    }

    /// Whether service and generator have one clock: all but one in a hundred times are in order.
    package var isOneClock: Bool { otherClockCount * 100 <= sampleCount }

    /// The latencies of a part; nil where there are none, and for one way where a clock is another.
    package func latencies(of part: Part) -> LatencyHistogram? {
        let isKnown = isOneClock || part != .there && part != .back
        let histogram = histograms[part.rawValue]
        return isKnown && histogram.totalCount > 0 ? histogram : nil
    }

    /// Adds a call that was sent and answered at these instants.
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

    /// Adds the calls of another thread.
    package mutating func add(_ other: LatencySplit) {
        sampleCount += other.sampleCount
        otherClockCount += other.otherClockCount
        for index in histograms.indices { histograms[index].add(other.histograms[index]) }
    }

    private mutating func record(_ part: Part, _ nanoseconds: UInt64) {
        histograms[part.rawValue].record(min(nanoseconds, LatencyScale.highestNanoseconds))
    }
}
