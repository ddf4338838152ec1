import FeedTransport
import Foundation
import Histogram

/// Three runs against a responder whose delays are known, to see whether the generator measures them.
///
/// The responder is in this process, with a thread of its own, behind real sockets. It records when
/// each vote arrived and when its answer left, on the clock that the generator reads.
///
/// 1. **Delays**: an open loop with room for all requests, and delays from a known distribution. The
///    generator's service times have to be the times for which the responder held the votes.
/// 2. **Stall**: an open loop with room for 64 requests, and one second without answers. Most
///    requests of that second leave late, so only times from the intended start show the stall. The
///    generator's response times have to be the instants of the answers less those of the plan.
/// 3. **Speed**: a closed loop against a responder without delays.
package struct SelfCheck {
    private let seed: UInt64
    private let showProgress: (String) -> Void

    /// A check whose delays and arrivals are drawn from `seed`.
    package init(seed: UInt64, showProgress: @escaping (String) -> Void = { _ in }) {
        self.seed = seed
        self.showProgress = showProgress
    }

    /// Makes the three runs; blocks the calling thread for some 15 seconds.
    package func execute() throws(RunFailure) -> SelfCheckResult {
        let (delayed, held) = try run("delays", delaysLoad, delaysPlan)
        let stall = try stall()
        let (fast, _) = try run("speed", speedLoad, ResponderPlan(seed: seed))
        showProgress("")
        return SelfCheckResult(
            seed: seed,
            delays: LatencyComparison(measured: delayed.latencies(.service), truth: held.held),
            stall: stall,
            pacing: delayed.latencies(.slip),
            lateSendCount: delayed.totals.lateSendCount,
            speed: SelfCheckResult.Speed(fast)
        )
    }

    /// Makes the run with the stall alone; blocks for some 5 seconds.
    package func stall() throws(RunFailure) -> LatencyComparison {
        let (result, record) = try run("stall", stallLoad, stallPlan)
        return LatencyComparison(
            measured: result.latencies(.response),
            fromSend: result.latencies(.service),
            truth: Self.responses(stallLoad, result, record.answerInstants)
        )
    }

    /// The response times that the plan of a load and the instants of the answers give.
    ///
    /// The responder answers in the order of the requests, and all of them wait equally long, so
    /// answer number `i` is the one to request number `i` of the plan.
    private static func responses(
        _ load: RunConfiguration,
        _ result: RunReport,
        _ answerInstants: [UInt64]
    ) -> LatencyHistogram {
        var plan = ArrivalPlan(
            load.arrival,
            ratePerSecond: load.ratePerSecond ?? 1,
            thread: 0,
            threadCount: 1,
            seed: load.seed
        )
        var responses = LatencyScale.makeHistogram()
        for instant in answerInstants.sorted() {
            let intended = result.startNanoseconds + plan.nextNanoseconds
            responses.record(min(instant - min(intended, instant), LatencyScale.highestNanoseconds))
            plan.advance()
        }
        return responses
    }

    private func run(
        _ name: String,
        _ load: RunConfiguration,
        _ plan: ResponderPlan
    ) throws(RunFailure) -> (RunReport, ResponderRecord) {
        showProgress("self-check: \(name)")
        let responder = try Responder(plan)
        let result: RunReport
        do throws(RunFailure) {
            var load = load
            load.target = "\(responder.address)"
            result = try Run(load).execute()
        } catch {
            _ = responder.stop()
            throw error
        }
        let record = responder.stop()
        guard !result.isInterrupted else { throw .interrupted }
        return (result, record)
    }

    // At the median 27 ms and at 99.9% some 90 ms: 2% of them is more than what a busy machine of
    // two cores takes to wake a thread.
    private var delaysPlan: ResponderPlan {
        ResponderPlan(shortest: .milliseconds(20), mean: .milliseconds(10), seed: seed)
    }

    private var delaysLoad: RunConfiguration {
        var load = base
        load.clientCount = 100
        load.pipelineDepth = 8
        load.ratePerSecond = 2_000
        load.duration = .seconds(6)
        return load
    }

    private var stallPlan: ResponderPlan {
        ResponderPlan(
            shortest: .milliseconds(20),
            stallAfter: .milliseconds(1_500),
            stall: .seconds(1),
            seed: seed
        )
    }

    // Room for 64 votes of 20 ms: 3,200 a second, so the votes of the stall are answered soon.
    private var stallLoad: RunConfiguration {
        var load = base
        load.clientCount = 64
        load.ratePerSecond = 1_000
        load.duration = .seconds(5)
        return load
    }

    private var speedLoad: RunConfiguration {
        var load = base
        load.clientCount = 50
        load.pipelineDepth = 64
        load.warmup = .milliseconds(500)
        load.duration = .seconds(2)
        return load
    }

    private var base: RunConfiguration {
        var load = RunConfiguration(target: "")
        load.feed = ResponderLoop.feed
        load.postCount = 100
        load.seed = seed
        load.timeout = .seconds(10)
        load.isVerified = false
        return load
    }
}

extension RunReport {
    /// The latencies of all operations; empty where nothing was measured.
    fileprivate func latencies(_ measure: Measure) -> LatencyHistogram {
        totals.merged(measure) ?? LatencyScale.makeHistogram()
    }
}

package struct SelfCheckResult: Sendable {
    package struct Speed: Sendable {
        package var ratePerSecond: Double
        /// The share of the time that the generator's loop worked; nil where it could not be seen.
        package var busyShare: Double?

        init(_ result: RunReport) {
            ratePerSecond = result.ratePerSecond
            busyShare = result.loopIdleShares.min().map { 1 - $0 }
        }

        /// What one thread of the generator could send if the responder and the machine let it; nil
        /// where `busyShare` is.
        package var limitPerSecond: Double? {
            busyShare.map { $0 > 0 ? ratePerSecond / $0 : 0 }
        }
    }

    package var seed: UInt64
    package var delays: LatencyComparison
    package var stall: LatencyComparison
    /// How late the requests of the first run left.
    package var pacing: LatencyHistogram
    /// How many of them left more than 1 ms late.
    package var lateSendCount: UInt64
    package var speed: Speed

    package var isPassed: Bool { delays.isMatch && stall.isMatch && stall.hasTrueWeight }

    package var exitStatus: ExitStatus { isPassed ? .success : .invalid }

    /// The report for people, with a newline at its end.
    package var text: String {
        let ends = [
            "  \(isPassed ? "PASS" : "FAIL")",
            isPassed
                ? "the generator measures what is there, also through a stall"
                : "trust no latency that loadgen measures here, as busy as the machine is",
        ]
        return
            (["loadgen  self-check  seed \(seed)" + ends.joined(separator: "  ")]
            + ["", table("Delays", delays), ""]
            + [table("Stall of 1 s", stall), weight, "", pacingLine, speedLine])
            .joined(separator: "\n") + "\n"
    }

    private func table(_ name: String, _ comparison: LatencyComparison) -> String {
        let columns =
            ["there [ms]", "measured", "difference"]
            + (comparison.fromSend == nil ? [] : ["from the send"])
        let rows = LatencyComparison.levels.map { level in
            let percent =
                comparison.difference(level)
                / max(1, Double(comparison.truth.valueAtPercentile(level)))
            var values = [
                milliseconds(comparison.truth, level), milliseconds(comparison.measured, level),
                NumberFormat.percent(percent, digits: 2),
            ]
            if let fromSend = comparison.fromSend { values.append(milliseconds(fromSend, level)) }
            return "  \(PercentileText.name(level))".column(14) + values.map(cell).joined()
                + (comparison.matches(level) ? "  ok" : "  OFF")
        }
        let (seen, there) = (comparison.measured.totalCount, comparison.truth.totalCount)
        let count = "  \(NumberFormat.count(seen)) of \(NumberFormat.count(there)) answers measured"
        return ([name.column(14) + columns.map(cell).joined()] + rows + [count])
            .joined(separator: "\n")
    }

    private var weight: String {
        func count(_ histogram: LatencyHistogram?) -> String {
            NumberFormat.count(histogram.map(LatencyComparison.stalledCount) ?? 0)
        }
        return """
              waits of 0.5 s or more: \(count(stall.truth)) there, \(count(stall.measured)) measured \
            (\(stall.hasTrueWeight ? "ok" : "OFF")), \(count(stall.fromSend)) from the send
            """
    }

    private var pacingLine: String {
        """
        Pacing        late by p50 \(milliseconds(pacing, 50)), p99 \(milliseconds(pacing, 99)), \
        max \(NumberFormat.milliseconds(Double(pacing.max))) ms; over 1 ms late: \
        \(NumberFormat.count(lateSendCount)) of \(NumberFormat.count(pacing.totalCount))
        """
    }

    private var speedLine: String {
        let rate = "Speed         \(NumberFormat.rate(speed.ratePerSecond)) votes/s from one thread"
        guard let busy = speed.busyShare, let limit = speed.limitPerSecond else {
            return "\(rate); how busy it was is not seen here"
        }
        return """
            \(rate), busy \(NumberFormat.percent(busy, digits: 0)) of the time: at most \
            \(NumberFormat.rate(limit))/s a thread
            """
    }

    private func milliseconds(_ histogram: LatencyHistogram, _ level: Double) -> String {
        NumberFormat.milliseconds(Double(histogram.valueAtPercentile(level)))
    }

    private func cell(_ text: String) -> String { " " + text.right(13) }
}

/// The latencies that a run measured beside those that there were.
package struct LatencyComparison: Sendable {
    package var measured: LatencyHistogram
    /// Where `measured` counts from the intended start: the same requests timed from their send, as
    /// closed-loop tools do.
    package var fromSend: LatencyHistogram?
    package var truth: LatencyHistogram

    package static let levels: [Double] = [50, 99, 99.9]
    /// A wait of at least this long is one that only a stall makes.
    private static let stallNanoseconds: UInt64 = 500_000_000
    /// A percentile may differ by this share of its value, or by ``slackNanoseconds``.
    private static let share = 0.02
    /// The time that the kernel may take to bring an answer and to wake a thread.
    private static let slackNanoseconds = 20_000.0

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

/// The JSON document of a self-check; docs/LOADGEN.md says what each member means.
extension SelfCheckResult: JSONDescribed {
    package static let members: [Member<SelfCheckResult>] = [
        .object(
            "self_check",
            [
                .written("schema") { _ in 1 },
                .written("passed") { $0.isPassed },
                .written("seed") { $0.seed },
                .written("delays") { $0.delays },
                .written("stall") { $0.stall },
                .object("pacing", pacingMembers),
                .object("speed", speedMembers),
            ]
        )
    ]

    private static let pacingMembers: [Member<SelfCheckResult>] = [
        .written("p50_ms") { Double($0.pacing.valueAtPercentile(50)) / 1e6 },
        .written("p99_ms") { Double($0.pacing.valueAtPercentile(99)) / 1e6 },
        .written("max_ms") { Double($0.pacing.max) / 1e6 },
        .written("late_sends") { $0.lateSendCount },
        .written("requests") { $0.pacing.totalCount },
    ]

    private static let speedMembers: [Member<SelfCheckResult>] = [
        .written("per_second") { $0.speed.ratePerSecond },
        .written("busy_share") { $0.speed.busyShare },
        .written("limit_per_second") { $0.speed.limitPerSecond },
    ]
}

extension LatencyComparison: JSONDescribed {
    package static let members: [Member<LatencyComparison>] = [
        .written("matches") { $0.isMatch },
        .written("measured") { $0.measured.totalCount },
        .written("answered") { $0.truth.totalCount },
        .written("percentiles") { comparison in
            levels.map { Level(comparison: comparison, percentile: $0) }
        },
        .object(
            "long_waits",
            [
                .written("answered") { stalledCount($0.truth) },
                .written("measured") { stalledCount($0.measured) },
                .written("from_send") { $0.fromSend.map(stalledCount) },
            ]
        ),
    ]

    private struct Level: JSONDescribed {
        let comparison: LatencyComparison
        let percentile: Double

        static let members: [Member<Level>] = [
            .written("percentile") { $0.percentile },
            .written("answered_ms") { $0.milliseconds($0.comparison.truth) },
            .written("measured_ms") { $0.milliseconds($0.comparison.measured) },
            .written("from_send_ms") { $0.comparison.fromSend.map($0.milliseconds) },
            .written("matches") { $0.comparison.matches($0.percentile) },
        ]

        private func milliseconds(_ histogram: LatencyHistogram) -> Double {
            Double(histogram.valueAtPercentile(percentile)) / 1e6
        }
    }
}
