internal import Foundation

/// The runs of a series in the report.
enum SeriesText {
    /// What all runs show, then a line for each; the first line starts with `label`, the others
    /// with `indent`.
    static func lines(_ series: SeriesResult, label: String, indent: String) -> [String] {
        [label + summary(series), indent + header] + series.entries.map { indent + row($0) }
    }

    private static func summary(_ series: SeriesResult) -> String {
        switch series.kind {
        case .search: capacity(series)
        case .steps: "\(series.entries.count) steps"
        case .runs: repetitions(series)
        }
    }

    private static func capacity(_ series: SeriesResult) -> String {
        let goal = series.goal ?? ""
        guard let capacity = series.capacity else {
            let lowest = series.entries.compactMap(\.offered).min()
            return "\(goal) was kept at no rate"
                + (lowest.map { ", down to \(NumberFormat.rate($0))/s" } ?? "")
                + (series.isBusy ? "  CANNOT TELL (\(busy))" : "")
        }
        let sign = series.isBusy || series.isGeneratorLimit ? "≥ " : ""
        let limit =
            series.isBusy
            ? "  CANNOT TELL more (\(busy))" : series.isGeneratorLimit ? " (generator limit)" : ""
        let range =
            series.confirmed99.map { range in
                """
                  p99 \(NumberFormat.milliseconds(range.lowerBound)) to \
                \(NumberFormat.milliseconds(range.upperBound)) ms there
                """
            } ?? ""
        return "capacity at \(goal)  \(sign)\(NumberFormat.rate(capacity))/s\(limit)\(range)"
    }

    private static let busy = "others used the machine in the trials that failed"

    private static func repetitions(_ series: SeriesResult) -> String {
        let count = series.entries.count
        let runs = "\(count) run\(count == 1 ? "" : "s")"
        let rate = MeanEstimate(series.entries.map(\.achieved)).map {
            text($0, unit: " requests/s", NumberFormat.rate)
        }
        let p99 = MeanEstimate(series.entries.compactMap(\.latencies?.p99)).map {
            "p99 " + text($0, unit: " ms", NumberFormat.milliseconds)
        }
        let cost = MeanEstimate(series.entries.compactMap(\.serverSecondsPerMillion)).map {
            "server " + text($0, unit: " CPU-s/Mop") { NumberFormat.fixed($0, 3) }
        }
        return ([runs] + [rate, p99, cost].compactMap(\.self)).joined(separator: "   ")
    }

    private static func text(
        _ estimate: MeanEstimate,
        unit: String,
        _ format: (Double) -> String
    ) -> String {
        let width = estimate.halfWidth.map { " ± \(format($0))" } ?? ""
        return format(estimate.mean) + width + unit
    }

    private static let header =
        columns("", "offered/s", "achieved/s", ["p50", "p99", "p99.9", "max ms"], "s/Mop")

    private static func row(_ entry: SeriesResult.Entry) -> String {
        let latencies = entry.latencies.map { [$0.p50, $0.p99, $0.p999, $0.max] } ?? []
        let figures =
            latencies.isEmpty
            ? ["-", "-", "-", "-"] : latencies.map(NumberFormat.milliseconds)
        let cost = entry.serverSecondsPerMillion.map { NumberFormat.fixed($0, 3) } ?? "-"
        let offered = entry.offered.map(NumberFormat.rate) ?? "-"
        let rest = [entry.outcome].compactMap(\.self) + [entry.reasons.joined(separator: "; ")]
        return columns(entry.phase, offered, NumberFormat.rate(entry.achieved), figures, cost)
            + "  " + rest.filter { !$0.isEmpty }.joined(separator: ": ")
    }

    private static func columns(
        _ phase: String,
        _ offered: String,
        _ achieved: String,
        _ latencies: [String],
        _ cost: String
    ) -> String {
        let numbers = [(offered, 10), (achieved, 11)] + latencies.map { ($0, 8) } + [(cost, 8)]
        return phase.padding(toLength: 8, withPad: " ", startingAt: 0)
            + numbers.map { String(repeating: " ", count: max(0, $1 - $0.count)) + $0 }.joined()
    }
}
