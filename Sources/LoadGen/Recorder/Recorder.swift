import FeedClient
import FeedProto
import Histogram

/// The numbers of one thread.
///
/// Nothing is shared while requests run; totals merge at the end.
///
/// Answers are recorded into the histograms of the current second; `closeInterval()` adds those to
/// the totals. A histogram covers one operation and one measure, and either measured requests or
/// requests outside the measured phase (the warm-up). No total includes the latter.
package final class Recorder {
    /// What is counted here as it happens; ``makeTotals()`` adds the outcomes and what is counted in slabs.
    var totals = RecorderTotals()
    // Each read and each write counts some. In the totals, parts of which change within calls, the runtime
    // would check each access for exclusivity.
    var outcomes = Outcomes()
    let isSplit: Bool

    private let measureCount: Int
    /// Where the histograms of measured requests begin, behind those of all others.
    private let firstMeasured: Int
    private let histograms: HistogramSlab
    /// How late the loop came to each request of an open loop.
    private let lateness: HistogramSlab
    private let counters = CounterSlab(count: Counter.count)
    private var latencies: [LatencyHistogram]
    private var countsAtIntervalStart = [UInt64](repeating: 0, count: Operation.allCases.count)

    package init(isOpenLoop: Bool, isSplit: Bool) {
        self.isSplit = isSplit
        totals.split = isSplit ? LatencySplit() : nil
        measureCount = isOpenLoop ? Measure.allCases.count : 1
        let count = Operation.allCases.count * measureCount
        histograms = HistogramSlab(count: 2 * count)
        lateness = HistogramSlab(count: isOpenLoop ? 1 : 0)
        firstMeasured = count
        latencies = (0..<count).map { _ in LatencyScale.makeHistogram() }
    }

    /// Counts and times one successful answer, to a request of `count` operations.
    @inline(__always)
    package func recordAnswer(
        _ operation: Operation,
        count: UInt64 = 1,
        intended: UInt64,
        sent: UInt64,
        answered: UInt64,
        phases: Phases
    ) {
        recordAnswers(
            operation,
            requestCount: 1,
            operationCount: count,
            intended: intended,
            sent: sent,
            answered: answered,
            phases: phases
        )
    }

    /// Counts and times the successful answers to `requestCount` requests with the same times, of
    /// `operationCount` operations each.
    @inline(__always)
    package func recordAnswers(
        _ operation: Operation,
        requestCount: UInt64,
        operationCount: UInt64 = 1,
        intended: UInt64,
        sent: UInt64,
        answered: UInt64,
        phases: Phases
    ) {
        let operationIndex = Int(operation.rawValue)
        let count = requestCount &* operationCount
        counters[operationIndex] += count
        if phases.isMeasured(answered) {
            counters[Counter.measured + operationIndex] += count
            counters[Counter.measuredRequests] += requestCount
        }
        let begin = phases.isMeasured(intended) ? firstMeasured : 0
        let first = begin + operationIndex * measureCount
        histograms.record(first + Measure.service.rawValue, answered &- sent, requestCount)
        guard measureCount > 1 else { return }
        histograms.record(first + Measure.response.rawValue, answered &- intended, requestCount)
        histograms.record(first + Measure.slip.rawValue, sent &- intended, requestCount)
        if sent &- intended > Self.lateSendNanoseconds && phases.isMeasured(intended) {
            counters[Counter.lateSends] += requestCount
        }
    }

    /// Takes the service's own times of a call that was answered with success.
    func recordTimes(
        _ times: CallTimes,
        intended: UInt64,
        sent: UInt64,
        answered: UInt64,
        phases: Phases
    ) {
        guard phases.isMeasured(intended) else { return }
        totals.split?.add(times, sent: sent, answered: answered)
    }

    /// Records how late the loop came to a measured request that was due; 0 for one that waited for
    /// room on a connection.
    @inline(__always)
    package func recordLateness(_ nanoseconds: UInt64) { lateness.record(0, nanoseconds, 1) }

    @inline(__always)
    func recordRead(byteCount: Int) {
        counters[Counter.reads] += 1
        counters[Counter.bytesIn] += UInt64(byteCount)
    }

    @inline(__always)
    func recordWrite(byteCount: Int) {
        counters[Counter.writes] += 1
        counters[Counter.bytesOut] += UInt64(byteCount)
    }

    /// Adds the current interval to the totals and returns it for the progress line and the charts.
    package func closeInterval() -> IntervalCounts {
        var shownLatencies = LatencyScale.makeHistogram()
        var measured: [Operation: LatencyHistogram] = [:]
        // A user waits for the response time; a closed loop knows only the service time.
        let shown = measureCount > 1 ? Measure.response.rawValue : Measure.service.rawValue
        for index in latencies.indices {
            if index % measureCount == shown {
                let operation = Operation.allCases[index / measureCount]
                measured[operation] = histograms.copy(firstMeasured + index)
                histograms.add(firstMeasured + index, to: &shownLatencies)
                histograms.add(index, to: &shownLatencies)
            }
            histograms.add(firstMeasured + index, to: &latencies[index])
            histograms.reset(firstMeasured + index)
            histograms.reset(index)
        }
        let counts = Operation.allCases.indices.map { counters[$0] }
        defer { countsAtIntervalStart = counts }
        var interval = IntervalCounts(
            answered: zip(counts, countsAtIntervalStart).map { $0 - $1 },
            latencies: shownLatencies
        )
        interval.measured = measured
        interval.outcomes = outcomes
        interval.reconnectCount = totals.retries.reconnectCount
        return interval
    }

    /// Everything recorded, after the last interval was closed.
    package func makeTotals() -> RecorderTotals {
        var result = totals
        result.outcomes = outcomes
        if measureCount > 1 {
            result.loopLate99 = lateness.copy(0).map { Double($0.valueAtPercentile(99)) }
        }
        result.lateSendCount = counters[Counter.lateSends]
        result.measuredAnswers = Operation.allCases.indices.map { counters[Counter.measured + $0] }
        result.measuredRequestCount = counters[Counter.measuredRequests]
        result.traffic = Traffic(
            readCount: counters[Counter.reads],
            writeCount: counters[Counter.writes],
            bytesIn: counters[Counter.bytesIn],
            bytesOut: counters[Counter.bytesOut]
        )
        for operation in Operation.allCases {
            for measure in Measure.allCases.prefix(measureCount) {
                let total = latencies[Int(operation.rawValue) * measureCount + measure.rawValue]
                guard total.totalCount > 0 else { continue }
                result.latencies[LatencyKey(operation, measure)] = total
            }
        }
        return result
    }

    /// A send this much behind its plan is worth a line in the report.
    private static let lateSendNanoseconds: UInt64 = 1_000_000

    /// The place of each counter; the first ones count all answers of each operation.
    private enum Counter {
        static let measured = Operation.allCases.count
        static let lateSends = 2 * Operation.allCases.count
        static let reads = lateSends + 1
        static let writes = lateSends + 2
        static let bytesIn = lateSends + 3
        static let bytesOut = lateSends + 4
        static let measuredRequests = lateSends + 5
        static let count = lateSends + 6
    }
}

/// Answers to votes that came in one read, counted and timed together where their requests left at
/// the same time.
///
/// In a closed loop the requests of a write have the same times, and most answers of a read are
/// to one write. So most reads count once and add to a histogram once.
package struct AnswerRun {
    private let answered: UInt64
    private var intended: UInt64 = 0
    private var sent: UInt64 = 0
    private var count: UInt64 = 0
    private var recordedCount: UInt64 = 0

    package init(answered: UInt64) {
        self.answered = answered
    }

    package var answerCount: UInt64 { recordedCount + count }

    /// Adds the answer to a request; records the answers before it where its times are others.
    @inline(__always)
    package mutating func add(
        intended: UInt64,
        sent: UInt64,
        to recorder: Recorder,
        _ phases: Phases
    ) {
        if sent != self.sent || intended != self.intended {
            end(recorder, phases)
            self.intended = intended
            self.sent = sent
        }
        count &+= 1
    }

    @inline(__always)
    package mutating func end(_ recorder: Recorder, _ phases: Phases) {
        record(recorder, phases)
        recordedCount &+= count
        count = 0
    }

    // Not mutating: a run that a call can change is kept in memory, and each answer would be a store.
    @inline(never)
    private func record(_ recorder: Recorder, _ phases: Phases) {
        guard count > 0 else { return }
        recorder.recordAnswers(
            .vote,
            requestCount: count,
            intended: intended,
            sent: sent,
            answered: answered,
            phases: phases
        )
    }
}

/// Chooses the calls of a thread that ask the service for its own times: one in each 64.
///
/// It is another place in each group of 64. With a fixed place, a pipeline of 64 would ask with the
/// same call of each write, and the figures would be of that call.
package struct CallSampler: Sendable {
    package static let sampledEvery = 64

    private var place = 0
    private var sampledPlace = 0

    package init() {}

    /// Whether the next call asks for the times.
    package mutating func takesNext() -> Bool {
        let isSampled = place == sampledPlace
        place += 1
        if place == Self.sampledEvery {
            place = 0
            sampledPlace = (sampledPlace + Self.step) % Self.sampledEvery
        }
        return isSampled
    }

    /// Odd, so that 64 groups have each place once, and near 64 times the golden ratio, so that
    /// neighbouring groups have places far apart.
    private static let step = 39
}
