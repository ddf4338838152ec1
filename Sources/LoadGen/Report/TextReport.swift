internal import FeedClient
import Foundation
import Histogram

/// The report for people: what was asked, what was measured, and how far to trust it.
package struct TextReport {
    private let result: RunReport
    private var configuration: RunConfiguration { result.configuration }

    /// A report of `result`.
    package init(_ result: RunReport) {
        self.result = result
    }

    /// The whole text, with a newline at its end.
    package func rendered() -> String {
        let parts = [
            heading, series, dataset, throughput, latency + split + serverTimes, processors,
            outcomes, audit, comparison, serviceLevels,
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
            result.dataset.map(DatasetText.heading) ?? """
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

    /// The rates of a ramp.
    private var ramp: String? {
        configuration.ramp.map { "\(NumberFormat.rate($0.first)) to \(NumberFormat.rate($0.last))" }
    }

    private var series: [String] {
        guard let series = result.series else { return [] }
        let label = row(series.kind.rawValue.capitalized)
        let title: String
        switch series.kind {
        case .search: title = "The figures below are of the trial that confirmed the capacity."
        case .steps, .runs: title = "The figures below are of the last run."
        }
        return SeriesText.lines(series, label: label, indent: "  ") + ["  " + title]
    }

    private var dataset: [String] {
        result.dataset.map {
            DatasetText.lines($0, label: row("Dataset"), indent: row(""))
        } ?? []
    }

    private var throughput: [String] {
        var first = row("Throughput") + "\(NumberFormat.rate(result.ratePerSecond)) op/s"
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
        return [first, row("") + parts.joined(separator: "   ")]
    }

    private var latency: [String] {
        let table = LatencyTable(result)
        guard !table.isEmpty else { return [row("Latency") + "no request was answered"] }
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
            LatencySplitText.lines($0, percentiles: configuration.percentiles)
        } ?? []
    }

    private var serverTimes: [String] {
        guard let text = result.serverTimes?.text else { return [] }
        return ["  in the service, by its clock and since it started: \(text)"]
    }

    private var processors: [String] {
        var lines: [String] = []
        if let server = result.server {
            lines.append(row(lines.isEmpty ? "CPU" : "") + "server     " + usage(server))
        }
        if let generator = result.generator {
            let idle = result.loopIdleShares.min().map { ", loop idle \(percent($0))" } ?? ""
            lines.append(row(lines.isEmpty ? "CPU" : "") + "generator  " + usage(generator) + idle)
        }
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
        if !parts.isEmpty { lines.append(row("") + parts.joined(separator: "   ")) }
        return lines
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
            row("Outcomes") + """
                sent \(NumberFormat.count(outcomes.sent)) \(sign) \
                ok \(NumberFormat.count(outcomes.ok)) + error \(NumberFormat.count(outcomes.error)) \
                + timeout \(NumberFormat.count(outcomes.timeout)) \
                + lost \(NumberFormat.count(outcomes.lost))   \
                connections \(result.openedConnectionCount), lost \(result.lostConnectionCount)\
                \(reopened)
                """
        ]
        if !outcomes.isConserved {
            lines.append(row("") + "The generator's own count does not add up: trust no figure.")
        }
        if configuration.retryLimit > 0 {
            let retries = result.totals.retries
            lines.append(
                row("") + """
                    retries \(NumberFormat.count(retries.retryCount))   \
                    reconnects \(NumberFormat.count(retries.reconnectCount))   \
                    duplicates \(NumberFormat.count(retries.duplicateCount))
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
            lines.append(row("") + "The service refused every vote: \(refusal).")
        }
        if !causes.isEmpty { lines.append(row("") + causes.joined(separator: "   ")) }
        if failures.areRateLimited { lines.append(row("") + Failures.limitHint) }
        if let text = failures.firstProtocolError { lines.append(row("") + text) }
        return lines
    }

    private var reopened: String {
        let count = result.totals.reopenedCount
        return count == 0 ? "" : ", reopened \(NumberFormat.count(count))"
    }

    private var audit: [String] {
        AuditText.lines(result.audit, label: row("Audit"), indent: row(""))
            + (result.cleanup.map { [row("Cleanup") + $0.text] } ?? [])
    }

    private var comparison: [String] {
        result.comparison.map {
            ComparisonText.lines($0, label: row("Compare"), indent: row(""))
        } ?? []
    }

    private var serviceLevels: [String] {
        let status = result.exitStatus
        let levels = result.serviceLevels.map { kept in
            "\(kept.level.text) \(kept.isKept ? "PASS" : "MISS") (\(kept.valueText))"
        }
        guard !levels.isEmpty || status != .success else { return [] }
        let head = levels.isEmpty ? "" : row("SLO") + levels.joined(separator: "   ") + "   "
        return ["\(head)exit \(status.rawValue)"]
    }

    private func row(_ label: String) -> String {
        label.padding(toLength: 13, withPad: " ", startingAt: 0)
    }

    private func percent(_ share: Double) -> String { NumberFormat.percent(share, digits: 0) }

    private func count(_ value: Int, _ noun: String) -> String {
        "\(value) \(noun)\(value == 1 ? "" : "s")"
    }
}
