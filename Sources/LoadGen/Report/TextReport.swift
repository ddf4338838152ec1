import FeedClient
import FeedImport
import Foundation
import Histogram

/// The report for people: what was asked, what was measured, and how far to trust it.
package struct TextReport {
    private let result: RunReport
    private var configuration: RunConfiguration { result.configuration }

    package init(_ result: RunReport) {
        self.result = result
    }

    package func rendered() -> String {
        let parts = [
            heading, series, dataset, throughput, latency + split + serverTimes, processors,
            outcomes, result.auditLines, comparison, serviceLevels,
        ]
        return parts.filter { !$0.isEmpty }.map { $0.joined(separator: "\n") }
            .joined(separator: "\n\n") + "\n"
    }

    private var heading: [String] {
        let loop =
            configuration.ratePerSecond.map {
                "open loop \(ramp ?? NumberFormat.rate($0))/s (\(configuration.arrival.rawValue))"
            } ?? "closed loop"
        let process = result.serverPID.map { " (pid \($0))" } ?? ""
        let hottest = NumberFormat.percent(result.hottestShare)
        let subject =
            result.dataset?.heading ?? """
                \(configuration.wireProtocol == .resp ? "RESP, sorted set" : "feed") \
                \(configuration.feed)  \(count(configuration.postCount, "post"))  \
                \(configuration.keys)\(voters)
                """
        let verdict = result.verdict
        let marks =
            [verdictWord(verdict), verdict.bound.rawValue]
            + (verdict.isContended ? ["CONTENDED"] : [])
        let warmup = NumberFormat.duration(configuration.warmup)
        let measured = NumberFormat.fixed(result.measuredSeconds, 2)
        var lines = [
            """
            loadgen  seed \(configuration.seed)  \(count(configuration.clientCount, "client")) × \
            pipeline \(configuration.pipelineDepth) (\(configuration.pipelineMode.rawValue))  \
            \(loop)  \(count(configuration.threadCount, "thread"))
            """,
            """
            target \(configuration.target)\(process)  \(subject) (hottest post \(hottest))\
            \(result.dataset == nil ? "  mix \(configuration.mix)" : "")\(batches)
            """,
            "warm-up \(warmup), measured \(measured) s    VERDICT  \(marks.joined(separator: ", "))",
        ]
        lines += ([verdict.summary].compactMap(\.self) + verdict.reasons).map { "  \($0)" }
        if result.isInterrupted { lines.append("  A signal ended the run early.") }
        if Environment.isDebugBuild {
            lines.append(
                "  This is a debug build: build with -c release before reading any figure."
            )
        }
        return lines
    }

    /// What the figures are good for; with `--strict`, whether they may be compared.
    private func verdictWord(_ verdict: Verdict) -> String {
        switch verdict.figures {
        case .comparable: "VALID"
        case .lowerBound, .notComparable:
            configuration.isStrict ? "INVALID" : verdict.figures.rawValue.uppercased()
        }
    }

    /// The users who vote, and the memory in which the audit keeps their ballots.
    private var voters: String {
        guard configuration.voterCount > 0 else { return "" }
        let memory = NumberFormat.megabytes(Double(configuration.ballotByteCount))
        return "  \(count(configuration.voterCount, "voter")) (audit \(memory))"
    }

    /// The number of votes in a request, where it is not one.
    private var batches: String {
        configuration.batchVoteCount > 1 ? "  batches of \(configuration.batchVoteCount) votes" : ""
    }

    private var ramp: String? {
        configuration.ramp.map { "\(NumberFormat.rate($0.first)) to \(NumberFormat.rate($0.last))" }
    }

    private var series: [String] {
        guard let series = result.series else { return [] }
        let shown = series.kind == .search ? "trial that confirmed the capacity" : "last run"
        let lines = series.lines + ["The figures below are of the \(shown)."]
        return [series.kind.rawValue.capitalized.column(13) + lines[0]]
            + lines.dropFirst().map { "  " + $0 }
    }

    private var dataset: [String] { (result.dataset?.lines ?? []).labelled("Dataset") }

    private var throughput: [String] {
        var first = "\(NumberFormat.rate(result.ratePerSecond)) op/s"
        let rates = result.measuredRates.sorted()
        if rates.count >= 3 {
            first += """
                   per-second min \(NumberFormat.rate(rates[0]))  \
                p50 \(NumberFormat.rate(rates[rates.count / 2]))  \
                max \(NumberFormat.rate(rates[rates.count - 1]))
                """
        }
        if let drift = result.drift { first += "   drift \(NumberFormat.percent(drift))" }
        var parts = configuration.mix.operations.map { operation in
            let count = result.totals.measuredAnswers[Int(operation.rawValue)]
            return "\(operation.name) \(NumberFormat.rate(result.rate(count)))/s"
        }
        if configuration.batchVoteCount > 1 {
            parts.append("requests \(NumberFormat.rate(result.requestsPerSecond))/s")
        }
        let seconds = result.intervals.last?.endSeconds ?? 0
        let traffic = result.totals.traffic
        if seconds > 0 {
            parts.append("in \(NumberFormat.megabytes(Double(traffic.bytesIn) / seconds))/s")
            let out = NumberFormat.megabytes(Double(traffic.bytesOut) / seconds)
            parts.append("out \(out)/s (with the warm-up)")
        }
        return [first, parts.joined(separator: "   ")].labelled("Throughput")
    }

    private var latency: [String] {
        let table = LatencyTable(result)
        guard !table.isEmpty else { return ["no request was answered"].labelled("Latency") }
        guard let rate = configuration.ratePerSecond else {
            return table.lines(["(closed loop: response = service)"])
        }
        let late = result.totals.lateSendCount
        let answered = result.totals.merged(.response)?.totalCount ?? 0
        let share = answered > 0 ? Double(late) / Double(answered) : 0
        return [
            """
            Offered \(NumberFormat.rate(rate))/s (\(configuration.arrival.rawValue))   achieved \
            \(NumberFormat.rate(result.requestsPerSecond))/s   unsent \
            \(NumberFormat.count(result.totals.unsentCount))   late sends >1 ms \
            \(NumberFormat.percent(share, digits: 2))
            """
        ] + table.lines([])
    }

    private var split: [String] {
        result.totals.split.map {
            $0.lines(percentiles: configuration.percentiles)
        } ?? []
    }

    private var serverTimes: [String] {
        guard let text = result.serverTimes?.text else { return [] }
        return ["  in the service, by its clock and since it started: \(text)"]
    }

    private var processors: [String] {
        var lines = (result.server.map { ["server     " + usage($0)] } ?? [])
        if let generator = result.generator {
            let idle = result.loopIdleShares.min().map { ", loop idle \(percent($0))" } ?? ""
            lines.append("generator  " + usage(generator) + idle)
        }
        let label = lines.isEmpty ? "" : "CPU"
        var parts: [String] = []
        if let machine = result.machine {
            parts.append("steal \(NumberFormat.percent(machine.stealShare))")
            if result.server != nil {
                parts.append("other processes \(NumberFormat.percent(result.otherShare))")
            }
        }
        if let inFlight = result.littleInFlight {
            let limit = configuration.clientCount * configuration.pipelineDepth
            parts.append("Little: X·W = \(NumberFormat.fixed(inFlight, 1)) of \(limit) in flight")
        }
        if !parts.isEmpty { lines.append(parts.joined(separator: "   ")) }
        return lines.labelled(label)
    }

    private func usage(_ usage: ProcessUsage) -> String {
        // The kernel's accounts are as of its last tick, which is some milliseconds ago.
        let isLong = result.measuredSeconds > 0.1
        let cores = isLong ? NumberFormat.fixed(usage.seconds / result.measuredSeconds, 2) : "-"
        let perMillion = isLong ? result.secondsPerMillion(usage) : nil
        let cost = perMillion.map { NumberFormat.fixed($0, 3) } ?? "-"
        let memory = NumberFormat.megabytes(Double(usage.residentByteCount))
        return """
            \(cores) cores  \(cost) CPU-s/Mop (user \(percent(usage.userShare)))  \(memory) resident
            """
    }

    private var outcomes: [String] {
        let outcomes = result.totals.outcomes
        let sign = outcomes.isConserved ? "=" : "≠"
        var lines = [
            """
            sent \(NumberFormat.count(outcomes.sent)) \(sign) \
            ok \(NumberFormat.count(outcomes.ok)) + error \(NumberFormat.count(outcomes.error)) \
            + timeout \(NumberFormat.count(outcomes.timeout)) \
            + lost \(NumberFormat.count(outcomes.lost))   \
            connections \(result.openedConnectionCount), lost \(result.lostConnectionCount)\
            \(reopened)
            """
        ]
        if !outcomes.isConserved {
            lines.append("The generator's own count does not add up: trust no figure.")
        }
        if configuration.retryLimit > 0 {
            let retries = result.totals.retries
            lines.append(
                """
                retries \(NumberFormat.count(retries.retryCount))   \
                reconnects \(NumberFormat.count(retries.reconnectCount))   \
                duplicates \(NumberFormat.count(retries.duplicateCount))
                """
            )
        }
        if let failover = result.failover {
            lines.append(
                """
                longest gap \(NumberFormat.milliseconds(Double(failover.longestGap))) ms   \
                changes of the leader \(NumberFormat.count(failover.leaderChangeCount))
                """
            )
        }
        let failures = result.totals.failures
        var causes = failures.causes.map { "\($0.rawValue) \(NumberFormat.count($1))" }.sorted()
        causes += failures.serverErrors.map { "\($0) \(NumberFormat.count($1))" }.sorted()
        if result.totals.lateAnswerCount > 0 {
            causes.append("late answers \(NumberFormat.count(result.totals.lateAnswerCount))")
        }
        if let refusal = result.refusal {
            lines.append("The service refused every vote: \(refusal).")
        }
        if !causes.isEmpty { lines.append(causes.joined(separator: "   ")) }
        if failures.areRateLimited { lines.append(Failures.limitHint) }
        if let text = failures.firstProtocolError { lines.append(text) }
        return lines.labelled("Outcomes")
    }

    private var reopened: String {
        let count = result.totals.reopenedCount
        return count == 0 ? "" : ", reopened \(NumberFormat.count(count))"
    }

    private var comparison: [String] { (result.comparison?.lines ?? []).labelled("Compare") }

    private var serviceLevels: [String] {
        let status = result.exitStatus
        let levels = result.serviceLevels.map { kept in
            "\(kept.level.text) \(kept.isKept ? "PASS" : "MISS") (\(kept.valueText))"
        }
        guard !levels.isEmpty || status != .success else { return [] }
        let head =
            levels.isEmpty ? "" : "SLO".column(13) + levels.joined(separator: "   ") + "   "
        return ["\(head)exit \(status.rawValue)"]
    }

    private func percent(_ share: Double) -> String { NumberFormat.percent(share, digits: 0) }

    private func count(_ value: Int, _ noun: String) -> String {
        "\(value) \(noun)\(value == 1 ? "" : "s")"
    }
}

/// A table of latencies, a row each.
///
/// That of a run has a row for each operation, and in an open loop one for each measure.
struct LatencyTable {
    struct Row {
        var name: String
        var histogram: LatencyHistogram
        /// What stands behind them; often nothing.
        var note: String
    }

    fileprivate let title: String
    /// Their names have at most 16 characters.
    fileprivate let rows: [Row]
    fileprivate let percentiles: [Double]
}

extension LatencyTable {
    init(_ result: RunReport) {
        let operations = result.configuration.mix.operations
        let measures: [Measure] =
            result.configuration.isOpenLoop ? [.response, .service, .slip] : [.service]
        var rows: [Row] = []
        for measure in measures {
            if result.configuration.isOpenLoop, let merged = result.totals.merged(measure) {
                rows.append(Row(name: measure.name, histogram: merged, note: Self.note(measure)))
            }
            // With one operation, its row would only repeat the row of the measure.
            guard !result.configuration.isOpenLoop || operations.count > 1 && measure != .slip
            else {
                continue
            }
            for operation in operations {
                guard let found = result.totals.latencies[LatencyKey(operation, measure)] else {
                    continue
                }
                let indent = result.configuration.isOpenLoop ? "  " : ""
                let batch = result.configuration.batchVoteCount
                let name = operation == .vote && batch > 1 ? "batch of \(batch)" : operation.name
                rows.append(Row(name: indent + name, histogram: found, note: ""))
            }
        }
        self.init(
            title: "Latency [ms]",
            rows: rows,
            percentiles: result.configuration.percentiles
        )
    }

    var isEmpty: Bool { rows.isEmpty }

    /// The heading, with `notes` behind it, and the rows.
    func lines(_ notes: [String]) -> [String] {
        let names = ["mean"] + percentiles.map { PercentileText.name($0) } + ["max"]
        let head = ([title.column(18) + names.map(cell).joined()] + notes)
            .joined(separator: "   ")
        return [head]
            + rows.map { row in
                var values = [NumberFormat.milliseconds(row.histogram.mean)]
                values += percentiles.map { PercentileText.cell(row.histogram, percentile: $0) }
                values.append(NumberFormat.milliseconds(Double(row.histogram.max)))
                let note = row.note.isEmpty ? "" : "   \(row.note)"
                return "  \(row.name)".column(18) + values.map(cell).joined() + note
            }
    }

    private static func note(_ measure: Measure) -> String {
        switch measure {
        case .response: "from the intended start: what a user sees"
        case .service: "from the send: what closed-loop tools print"
        case .slip: "ours: if this grows, distrust the rest"
        }
    }

    private func cell(_ text: String) -> String { " " + text.right(8) }
}

extension String {
    /// The text at the left of a column of a table; what it has beyond the width is cut.
    func column(_ width: Int) -> String {
        padding(toLength: width, withPad: " ", startingAt: 0)
    }

    /// The text at the right of a column, which is wider for a longer text.
    func right(_ width: Int) -> String {
        String(repeating: " ", count: max(0, width - count)) + self
    }
}

extension [String] {
    /// These lines with a label before the first, and as much space before the others.
    func labelled(_ label: String) -> [String] {
        enumerated().map { ($0 == 0 ? label : "").column(13) + $1 }
    }
}

/// Percentiles as the report prints them, marked where the number of samples is small.
package enum PercentileText {
    /// How much a percentile of a number of samples means.
    package enum Trust: Sendable, Equatable {
        /// Fewer than 10 samples lie beyond: the percentile means nothing and is not shown.
        case hidden
        /// Fewer than 100 samples lie beyond: it is shown with a `~`.
        case rough
        case good
    }

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

extension LatencySplit {
    /// A table with a row for each part; one line where no measured call has times.
    fileprivate func lines(percentiles: [Double]) -> [String] {
        guard sampleCount > 0 else {
            return ["  --split: no measured call was answered with the service's times."]
        }
        let parts: [Part] =
            isOneClock ? [.there, .execution, .held, .back] : [.execution, .held, .bothWays]
        let rows = parts.compactMap { part in
            latencies(of: part).map {
                LatencyTable.Row(name: part.name, histogram: $0, note: part.note)
            }
        }
        let count = NumberFormat.count(sampleCount)
        let clock = isOneClock ? "" : "; the service has another clock"
        let table = LatencyTable(title: "Split [ms]", rows: rows, percentiles: percentiles)
        return table.lines(["(\(count) calls, one in \(CallSampler.sampledEvery)\(clock))"])
    }
}

extension LatencySplit.Part {
    fileprivate var name: String {
        switch self {
        case .there: "on the way there"
        case .execution: "executing"
        case .held: "held"
        case .back: "on the way back"
        case .bothWays: "both ways"
        }
    }

    /// What the name leaves out.
    fileprivate var note: String {
        switch self {
        case .there, .execution, .back: ""
        case .held: "until durable"
        case .bothWays: "there and back together"
        }
    }
}

extension DatasetResult {
    /// What replaces the feed and the posts of a run in the heading.
    fileprivate var heading: String {
        let feeds = files.count == 1 ? "feed \(files[0].feed)" : "\(files.count) feeds"
        return """
            \(feeds)  \(NumberFormat.count(UInt64(postCount))) posts  \
            \(NumberFormat.count(upvoteCount)) votes up and \
            \(NumberFormat.count(downvoteCount)) down\
            \(repeatCount == 1 ? "" : " (the files' × \(repeatCount))")
            """
    }

    /// The files and what was left out of them.
    fileprivate var lines: [String] {
        let leftOut = files.flatMap { file in
            file.leftOut.map { "\(file.name):\($0.line) left out: \($0.message)" }
        }
        let more = leftOut.count - Self.maximumLeftOutCount
        return [
            """
            \(NumberFormat.count(UInt64(postCount))) posts imported in \
            \(NumberFormat.fixed(importSeconds, 2)) s, \
            \(NumberFormat.count(UInt64(leftOutCount))) left out
            """
        ]
            + files.map { file in
                """
                \(file.name) → \(file.feed)   \(NumberFormat.count(UInt64(file.postCount))) \
                posts, \(NumberFormat.count(file.upvoteCount)) up, \
                \(NumberFormat.count(file.downvoteCount)) down
                """
            } + leftOut.prefix(Self.maximumLeftOutCount)
            + (more > 0 ? ["and \(more) more, which --json lists"] : [])
    }

    /// The most lines that people read on a screen.
    private static let maximumLeftOutCount = 200
}

extension AuditOutcome {
    var lines: [String] {
        switch self {
        case .skipped: return ["not done (--no-verify)"]
        case .impossible(let reason): return ["NOT POSSIBLE  \(reason)"]
        case .done(let summary):
            let findings = summary.findings
            let counted = summary.countedVoteCount
            let lines = [
                """
                \(findings.isEmpty ? "PASS" : "FAIL")  \
                votes acked \(NumberFormat.count(summary.acknowledgedVoteCount))  \
                unknown \(NumberFormat.count(summary.unknownVoteCount))  \
                failed \(NumberFormat.count(summary.failedVoteCount))  \
                counted by server \(counted < 0 ? "\(counted)" : NumberFormat.count(UInt64(counted)))
                """,
                """
                \(summary.exactPostCount) of \(summary.postCount) posts exact   \
                \(summary.createdPostCount) created   \(summary.listedPostCount) listed
                """,
            ]
            let counts = findings.counts.sorted { $0.key.rawValue < $1.key.rawValue }
            return lines + counts.map { "\($0.key.rawValue): \(NumberFormat.count($0.value))" }
                + findings.examples.map { "  " + $0 }
        }
    }
}

extension RunReport {
    /// The report of an audit of an earlier run, which is recorded in the file at `path`.
    package func verificationText(_ path: String) -> String {
        let end = exitStatus == .success ? [] : ["", "exit \(exitStatus.rawValue)"]
        return
            (["loadgen  audit of \(path)  target \(configuration.target)", ""] + auditLines + end)
            .joined(separator: "\n") + "\n"
    }

    fileprivate var auditLines: [String] {
        audit.lines.labelled("Audit") + (cleanup.map { [$0.text] } ?? []).labelled("Cleanup")
    }
}

extension Comparison {
    /// The comparison with an earlier run in the report.
    fileprivate var lines: [String] {
        var first = judgement.rawValue.uppercased()
        if let ratio {
            first += """
                  \(figure.rawValue) \(NumberFormat.fixed(ratio.ratio, 3)) of that in \
                \(path), 95% interval \(NumberFormat.fixed(ratio.low, 3)) to \
                \(NumberFormat.fixed(ratio.high, 3)) (limit \(NumberFormat.percent(limit, digits: 0)))
                """
        }
        let cost = serverCostRatio.map { ratio in
            "server CPU \(NumberFormat.fixed(ratio, 3)) of that in \(path), one value of each run"
        }
        return [first] + [cost].compactMap(\.self) + reasons
    }
}
