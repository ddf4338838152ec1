package import FeedClient
import Histogram

/// Names a histogram: one operation and one measure.
package struct LatencyKey: Hashable, Sendable {
    /// What was asked for.
    package let operation: Operation
    /// The stretch that was timed.
    package let measure: Measure

    /// The histogram of `measure` for `operation`.
    package init(_ operation: Operation, _ measure: Measure) {
        self.operation = operation
        self.measure = measure
    }
}

/// What went over the wire, all phases included.
package struct Traffic: Sendable, Equatable {
    /// How often the loop delivered bytes.
    package var readCount: UInt64 = 0
    /// How often a connection was given bytes to write.
    package var writeCount: UInt64 = 0
    /// Bytes received.
    package var bytesIn: UInt64 = 0
    /// Bytes passed to connections.
    package var bytesOut: UInt64 = 0

    /// The traffic of both.
    package static func + (one: Traffic, other: Traffic) -> Traffic {
        Traffic(
            readCount: one.readCount + other.readCount,
            writeCount: one.writeCount + other.writeCount,
            bytesIn: one.bytesIn + other.bytesIn,
            bytesOut: one.bytesOut + other.bytesOut
        )
    }
}

/// One interval of one thread, of all phases.
package struct IntervalCounts: Sendable {
    /// Successful answers, by the operation's raw value.
    package var answered: [UInt64]
    /// The time that users waited (closed loop: the time of the service), over all operations.
    package var latencies: LatencyHistogram
    /// The part of `latencies` that the totals include, by operation.
    package var measured: [Operation: LatencyHistogram] = [:]
    /// The outcomes since the start of the run.
    package var outcomes = Outcomes()
    /// Connections that were opened again since the start of the run.
    package var reconnectCount: UInt64 = 0

    /// An interval with these counts.
    package init(answered: [UInt64], latencies: LatencyHistogram) {
        self.answered = answered
        self.latencies = latencies
    }

    /// Errors, timeouts and losses since the start of the run.
    package var errorCount: UInt64 { outcomes.error + outcomes.unknown }

    /// Adds the same interval of another thread.
    package mutating func add(_ other: IntervalCounts) {
        answered = zip(answered, other.answered).map { $0 + $1 }
        latencies.add(other.latencies)
        measured.merge(other.measured) { mine, theirs in
            var sum = mine
            sum.add(theirs)
            return sum
        }
        outcomes = outcomes + other.outcomes
        reconnectCount += other.reconnectCount
    }
}

/// The numbers of one thread, or of several merged.
package struct RecorderTotals: Sendable {
    /// The outcomes of the requests.
    package var outcomes = Outcomes()
    /// What went wrong.
    package var failures = Failures()
    /// What was sent more than once.
    package var retries = RetryCounts()
    /// Connections that were closed and opened again on purpose.
    package var reopenedCount: UInt64 = 0
    /// Answers that came after their request had timed out.
    package var lateAnswerCount: UInt64 = 0
    /// Measured requests that left more than 1 ms behind the plan.
    package var lateSendCount: UInt64 = 0
    /// How late the loop of the latest thread came to the requests of an open loop, as a 99th
    /// percentile in nanoseconds; nil where nobody knows.
    ///
    /// Requests that waited for room count as 0.
    package var loopLate99: Double?
    /// Requests of an open loop that were due and found no room before the end.
    package var unsentCount: UInt64 = 0
    /// Requests answered with success within the measured phase: a batch of votes is one.
    package var measuredRequestCount: UInt64 = 0
    /// Operations answered with success within the measured phase, by their raw value: each vote of
    /// a batch is one.
    package var measuredAnswers = [UInt64](repeating: 0, count: Operation.allCases.count)
    /// What went over the wire.
    package var traffic = Traffic()
    /// The latencies of the measured requests.
    package var latencies: [LatencyKey: LatencyHistogram] = [:]
    /// The parts of the latency of the timed calls among them; nil where none was to be timed.
    package var split: LatencySplit?

    /// Nothing recorded.
    package init() {}

    /// Adds the numbers of another thread; percentiles come from the merged histograms alone.
    package mutating func add(_ other: RecorderTotals) {
        outcomes = outcomes + other.outcomes
        failures.add(other.failures)
        retries.add(other.retries)
        reopenedCount += other.reopenedCount
        lateAnswerCount += other.lateAnswerCount
        lateSendCount += other.lateSendCount
        loopLate99 = [loopLate99, other.loopLate99].compactMap(\.self).max()
        unsentCount += other.unsentCount
        measuredRequestCount += other.measuredRequestCount
        measuredAnswers = zip(measuredAnswers, other.measuredAnswers).map { $0 + $1 }
        traffic = traffic + other.traffic
        latencies.merge(other.latencies) { mine, theirs in
            var sum = mine
            sum.add(theirs)
            return sum
        }
        if let theirs = other.split {
            var sum = split ?? LatencySplit()
            sum.add(theirs)
            split = sum
        }
    }

    /// The latencies of all operations together, or nil where there are none.
    package func merged(_ measure: Measure) -> LatencyHistogram? {
        var sum: LatencyHistogram?
        for (key, histogram) in latencies where key.measure == measure {
            if sum == nil { sum = histogram } else { sum?.add(histogram) }
        }
        return sum
    }
}

/// The outcomes of the requests of a run, all phases included.
package struct Outcomes: Sendable, Equatable {
    /// Passed to a connection.
    package var sent: UInt64 = 0
    /// Answered with success.
    package var ok: UInt64 = 0
    /// Answered with an error.
    package var error: UInt64 = 0
    /// Unanswered within `--timeout`; the outcome is unknown.
    package var timeout: UInt64 = 0
    /// Unanswered when its connection or the run ended; the outcome is unknown.
    package var lost: UInt64 = 0

    /// Nothing sent.
    package init() {}

    /// Whether every request sent has exactly one outcome.
    package var isConserved: Bool { sent == ok + error + timeout + lost }

    /// Requests whose effect is unknown.
    package var unknown: UInt64 { timeout + lost }

    /// The requests of both.
    package static func + (one: Outcomes, other: Outcomes) -> Outcomes {
        var sum = one
        sum.sent += other.sent
        sum.ok += other.ok
        sum.error += other.error
        sum.timeout += other.timeout
        sum.lost += other.lost
        return sum
    }
}
