import Foundation
import Histogram

package struct SeriesResult: Sendable {
    package enum Kind: String, Sendable {
        case search, steps, runs
    }

    package struct Entry: Sendable {
        /// What it was for, as `climb` or `step`.
        package var phase: String
        /// Requests a second by the plan; nil in a closed loop.
        package var offered: Double?
        /// Requests a second answered with success.
        package var achieved: Double
        /// The response times; nil where nothing was answered.
        private var latencies: LatencySummary?
        /// The share of requests that were not answered with success.
        private var errorShare: Double
        /// CPU-seconds of the service per million operations; nil where it was not seen.
        package var serverSecondsPerMillion: Double?
        /// How a trial ended: `passed`, `failed` or `generator limit`; nil outside a search.
        package var outcome: String?
        /// Why a trial did not pass, or why the figures of a run may not be trusted.
        package var reasons: [String]
        /// The exit code that the run would have alone.
        package var exitStatus: ExitStatus
    }

    package var kind: Kind
    /// What a search must keep, as typed.
    package var goal: String?
    package var entries: [Entry] = []
    /// The highest confirmed rate of a search; nil where there is none.
    package var capacity: Double?
    /// Whether the generator kept the capacity from being higher.
    package var isGeneratorLimit = false
    /// Whether others used the machine in the trial that bounds the capacity, so that the search cannot
    /// tell it.
    package var isBusy = false

    package init(kind: Kind, goal: String? = nil) {
        self.kind = kind
        self.goal = goal
    }

    /// The least and the greatest p99 of the trials that confirmed the capacity, in nanoseconds.
    package var confirmed99: ClosedRange<Double>? {
        let values = entries.filter {
            $0.phase == "confirm" && $0.outcome == "passed" && $0.offered == capacity
        }.compactMap { $0.nanoseconds(99) }
        guard let low = values.min(), let high = values.max() else { return nil }
        return low...high
    }

    /// The exit code: that of the worst run; the trials of a search may miss their levels.
    package var exitStatus: ExitStatus {
        let statuses = entries.map(\.exitStatus)
        if let found = [ExitStatus.auditFailed, .failed].first(where: statuses.contains) {
            return found
        }
        if isBusy { return .invalid }
        guard kind != .search else { return capacity == nil ? .sloMissed : .success }
        return [ExitStatus.invalid, .sloMissed].first(where: statuses.contains) ?? .success
    }
}

extension SeriesResult.Entry {
    package init(
        _ result: RunReport,
        phase: String,
        outcome: String? = nil,
        reasons: [String]? = nil
    ) {
        self.init(
            phase: phase,
            offered: result.configuration.ratePerSecond,
            achieved: result.requestsPerSecond,
            latencies: result.totals.merged(result.shownMeasure).map(LatencySummary.init),
            errorShare: result.failedShare,
            serverSecondsPerMillion: result.secondsPerMillion(result.server),
            outcome: outcome,
            reasons: reasons ?? result.verdict.reasons,
            exitStatus: result.exitStatus
        )
    }

    /// A percentile of the response time, one of ``LatencySummary/levels``.
    fileprivate func nanoseconds(_ level: Double) -> Double? {
        latencies?.percentile(level).map { Double($0) }
    }

    fileprivate var longest: Double? { latencies.map { Double($0.maximum) } }
}

/// The mean of a few runs and how far it may be from the truth.
package struct MeanEstimate: Sendable, Equatable {
    package let mean: Double
    /// Half of the 95% interval around it, by Student's t over the runs; nil for a single run.
    package let halfWidth: Double?

    /// The estimate from one value a run; nil without values.
    package init?(_ values: [Double]) {
        guard !values.isEmpty else { return nil }
        let count = Double(values.count)
        mean = values.reduce(0, +) / count
        guard values.count > 1 else {
            halfWidth = nil
            return
        }
        let mean = mean
        let squares = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
        halfWidth = Self.quantile(values.count - 1) * (squares / (count - 1) / count).squareRoot()
    }

    /// The 97.5% quantile of Student's t, tabulated up to 10 degrees of freedom and approximated
    /// beyond (Cornish and Fisher, 1938; error under 0.001).
    private static func quantile(_ degrees: Int) -> Double {
        let exact = [
            12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
        ]
        if degrees <= exact.count { return exact[degrees - 1] }
        let z = 1.959964
        let n = Double(degrees)
        return z + (pow(z, 3) + z) / (4 * n) + (5 * pow(z, 5) + 16 * pow(z, 3) + 3 * z)
            / (96 * n * n)
    }
}

extension SeriesResult: JSONDescribed {
    package static let members: [Member<SeriesResult>] = [
        .written("kind") { $0.kind.rawValue },
        .written("goal") { $0.goal },
        .written("capacity_per_second") { $0.isBusy ? nil : $0.capacity },
        .written("generator_limit") { $0.isGeneratorLimit },
        .written("at_least_per_second") { $0.isBusy ? $0.capacity : nil },
        .written("busy_machine") { $0.isBusy },
        .written("per_second") { $0.estimate { $0.achieved } },
        .written("p99_ms") { $0.estimate { $0.nanoseconds(99).map { $0 / 1e6 } } },
        .written("server_seconds_per_million") { $0.estimate { $0.serverSecondsPerMillion } },
        .written("runs") { $0.entries },
    ]

    /// The mean of a figure over the runs; nil where they are not repetitions of one.
    private func estimate(_ figure: (Entry) -> Double?) -> MeanEstimate? {
        kind == .runs ? MeanEstimate(entries.compactMap(figure)) : nil
    }
}

extension SeriesResult.Entry: JSONDescribed {
    package static let members: [Member<SeriesResult.Entry>] = [
        .written("phase") { $0.phase },
        .written("offered_per_second") { $0.offered },
        .written("per_second") { $0.achieved },
        .written("p50_ms") { $0.nanoseconds(50).map { $0 / 1e6 } },
        .written("p99_ms") { $0.nanoseconds(99).map { $0 / 1e6 } },
        .written("p999_ms") { $0.nanoseconds(99.9).map { $0 / 1e6 } },
        .written("max_ms") { $0.longest.map { $0 / 1e6 } },
        .written("error_share") { $0.errorShare },
        .written("server_seconds_per_million") { $0.serverSecondsPerMillion },
        .written("outcome") { $0.outcome },
        .written("reasons") { $0.reasons },
        .written("exit") { $0.exitStatus.rawValue },
    ]
}

extension MeanEstimate: JSONDescribed {
    package static let members: [Member<MeanEstimate>] = [
        .written("mean") { $0.mean },
        .written("half_width") { $0.halfWidth },
    ]
}

extension SeriesResult {
    /// What all runs show, then a line for each under its heads.
    var lines: [String] {
        let heads = Self.columns(
            ["", "offered/s", "achieved/s", "p50", "p99", "p99.9", "max ms", "s/Mop"]
        )
        return [summary, heads] + entries.map(Self.row)
    }

    private var summary: String {
        switch kind {
        case .search: found
        case .steps: "\(entries.count) steps"
        case .runs: repetitions
        }
    }

    private var found: String {
        let goal = goal ?? ""
        let busy = "others used the machine in the trials that failed"
        guard let capacity else {
            let lowest = entries.compactMap(\.offered).min()
            return "\(goal) was kept at no rate"
                + (lowest.map { ", down to \(NumberFormat.rate($0))/s" } ?? "")
                + (isBusy ? "  CANNOT TELL (\(busy))" : "")
        }
        let sign = isBusy || isGeneratorLimit ? "≥ " : ""
        let limit =
            isBusy ? "  CANNOT TELL more (\(busy))" : isGeneratorLimit ? " (generator limit)" : ""
        let range =
            confirmed99.map { range in
                """
                  p99 \(NumberFormat.milliseconds(range.lowerBound)) to \
                \(NumberFormat.milliseconds(range.upperBound)) ms there
                """
            } ?? ""
        return "capacity at \(goal)  \(sign)\(NumberFormat.rate(capacity))/s\(limit)\(range)"
    }

    private var repetitions: String {
        func text(_ values: [Double], _ format: (Double) -> String) -> String? {
            MeanEstimate(values).map {
                format($0.mean) + ($0.halfWidth.map { " ± \(format($0))" } ?? "")
            }
        }
        let rate = text(entries.map(\.achieved), NumberFormat.rate)
        let p99 = text(entries.compactMap { $0.nanoseconds(99) }, NumberFormat.milliseconds)
        let cost = text(entries.compactMap(\.serverSecondsPerMillion)) {
            NumberFormat.fixed($0, 3)
        }
        return [
            "\(entries.count) run\(entries.count == 1 ? "" : "s")", rate.map { $0 + " requests/s" },
            p99.map { "p99 \($0) ms" }, cost.map { "server \($0) CPU-s/Mop" },
        ].compactMap(\.self).joined(separator: "   ")
    }

    private static func row(_ entry: Entry) -> String {
        let latencies = [50, 99, 99.9].map(entry.nanoseconds) + [entry.longest]
        let cost = entry.serverSecondsPerMillion.map { NumberFormat.fixed($0, 3) } ?? "-"
        let offered = entry.offered.map(NumberFormat.rate) ?? "-"
        let rest = [entry.outcome].compactMap(\.self) + [entry.reasons.joined(separator: "; ")]
        return columns(
            [entry.phase, offered, NumberFormat.rate(entry.achieved)]
                + latencies.map { $0.map(NumberFormat.milliseconds) ?? "-" } + [cost]
        ) + "  " + rest.filter { !$0.isEmpty }.joined(separator: ": ")
    }

    /// A phase, and its numbers at the right of their columns.
    private static func columns(_ texts: [String]) -> String {
        texts[0].column(8)
            + zip(texts.dropFirst(), [10, 11, 8, 8, 8, 8, 8]).map { $0.right($1) }.joined()
    }
}
