package import FeedClient
import FeedProto
import FeedText
import Histogram

/// Names a histogram: one operation and one measure.
package struct LatencyKey: Hashable, Sendable {
    package let operation: Operation
    package let measure: Measure

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
    package var bytesIn: UInt64 = 0
    /// Bytes passed to connections.
    package var bytesOut: UInt64 = 0

    mutating func add(_ other: Traffic) {
        readCount += other.readCount
        writeCount += other.writeCount
        bytesIn += other.bytesIn
        bytesOut += other.bytesOut
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

    package init(answered: [UInt64], latencies: LatencyHistogram) {
        self.answered = answered
        self.latencies = latencies
    }

    /// Errors, timeouts and losses since the start of the run.
    package var errorCount: UInt64 { outcomes.error + outcomes.unknown }

    package mutating func add(_ other: IntervalCounts) {
        answered = zip(answered, other.answered).map { $0 + $1 }
        latencies.add(other.latencies)
        measured.add(other.measured)
        outcomes = outcomes + other.outcomes
        reconnectCount += other.reconnectCount
    }
}

/// The numbers of one thread, or of several merged.
package struct RecorderTotals: Sendable {
    package var outcomes = Outcomes()
    package var failures = Failures()
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
    package var latencies: [LatencyKey: LatencyHistogram] = [:]
    /// The parts of the latency of the timed calls among them; nil where none was to be timed.
    package var split: LatencySplit?

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
        traffic.add(other.traffic)
        latencies.add(other.latencies)
        if let theirs = other.split {
            split = split ?? LatencySplit()
            split?.add(theirs)
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

/// The objects of a report that are counted.
extension RecorderTotals {
    static let outcomeMembers: [Member<RecorderTotals>] = [
        .required("sent", \.outcomes.sent, .count),
        .required("ok", \.outcomes.ok, .count),
        .required("error", \.outcomes.error, .count),
        .required("timeout", \.outcomes.timeout, .count),
        .required("lost", \.outcomes.lost, .count),
        .required("late_answers", \.lateAnswerCount, .count),
        .required("late_sends", \.lateSendCount, .count),
        .required("unsent", \.unsentCount, .count),
        .required("retries", \.retries.retryCount, .count),
        .required("reconnects", \.retries.reconnectCount, .count),
        .required("duplicates", \.retries.duplicateCount, .count),
        .written("conserved") { $0.outcomes.isConserved },
    ]

    static let errorMembers: [Member<RecorderTotals>] = [
        .written("total") { $0.outcomes.error + $0.outcomes.unknown },
        .required("causes", \.failures.causes.byName, .counts),
        .required("server", \.failures.serverErrors, .counts),
        .optional("first_protocol_error", \.failures.firstProtocolError, .plain),
    ]

    static let trafficMembers: [Member<RecorderTotals>] = [
        .usual("reopened", \.reopenedCount, .count),
        .required("reads", \.traffic.readCount, .count),
        .required("writes", \.traffic.writeCount, .count),
        .required("bytes_in", \.traffic.bytesIn, .count),
        .required("bytes_out", \.traffic.bytesOut, .count),
    ]
}

/// The outcomes of the requests of a run, all phases included.
package struct Outcomes: Sendable, Equatable {
    /// Passed to a connection.
    package var sent: UInt64 = 0
    /// Answered with success.
    package var ok: UInt64 = 0
    package var error: UInt64 = 0
    /// Unanswered within `--timeout`; the outcome is unknown.
    package var timeout: UInt64 = 0
    /// Unanswered when its connection or the run ended; the outcome is unknown.
    package var lost: UInt64 = 0

    package init() {}

    /// Whether every request sent has exactly one outcome.
    package var isConserved: Bool { sent == ok + error + timeout + lost }

    /// Requests whose effect is unknown.
    package var unknown: UInt64 { timeout + lost }

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

/// What went wrong, with one counter per cause.
package struct Failures: Sendable, Equatable {
    /// Causes on this side of the wire.
    package enum Cause: String, Sendable, CaseIterable {
        case tooManyOpenFiles = "EMFILE"
        case addressNotAvailable = "EADDRNOTAVAIL"
        case refused = "ECONNREFUSED"
        case reset = "ECONNRESET"
        case endOfFile = "EOF"
        case protocolError = "protocol error"
        case connectTimeout = "connect timeout"
        case requestTimeout = "request timeout"
        /// A request that could not be sent again: the service had forgotten its channel.
        case forgotten = "forgotten by the service"
        /// A connection that reached another state than the run began with.
        case stateGone = "state began anew"
        case other = "other"
    }

    package internal(set) var causes: [Cause: UInt64] = [:]
    /// Errors that the service answered, by `CODE/REASON`.
    package internal(set) var serverErrors: [String: UInt64] = [:]
    /// The text of the first protocol error, which says what was due and what arrived.
    package internal(set) var firstProtocolError: String?

    package init() {}

    /// Counts one failure on this side.
    package mutating func count(_ cause: Cause) {
        causes[cause, default: 0] += 1
    }

    /// Counts an answer that breaks the protocol and keeps the first `text`.
    package mutating func countProtocolError(_ text: String) {
        count(.protocolError)
        firstProtocolError = firstProtocolError ?? VisibleText.line(text, atMost: Self.longestText)
    }

    /// Counts one error answer of the service, which `text` names.
    ///
    /// Control characters are escaped and long texts cut, as they would break the report's lines. After
    /// many texts the others are counted together, so that no service fills the memory.
    package mutating func countServerError(_ text: String) {
        var name = VisibleText.line(text, atMost: Self.longestText)
        if serverErrors[name] == nil, serverErrors.count >= Self.mostServerErrors {
            name = Self.otherServerErrors
        }
        serverErrors[name, default: 0] += 1
    }

    /// What to do about requests over a limit of the service's, which say nothing about its speed.
    static let limitHint = """
        RATE_LIMITED is a limit of feed-service: of posts, which --service-key-file lifts, or its \
        --max-posts-per-hour host=0,device=0,user=0; or of votes and calls, which its \
        --max-votes-per-second 0 and --max-calls-per-second 0 lift.
        """
    /// Whether the service has refused requests as too many in a time.
    var areRateLimited: Bool {
        serverErrors.keys.contains { $0.hasSuffix("/\(Reason.rateLimited)") }
    }

    private static let mostServerErrors = 100
    private static let longestText = 100
    private static let otherServerErrors = "other errors"

    package mutating func add(_ other: Failures) {
        causes.merge(other.causes, uniquingKeysWith: +)
        serverErrors.merge(other.serverErrors, uniquingKeysWith: +)
        firstProtocolError = firstProtocolError ?? other.firstProtocolError
    }
}
