import Foundation
import Histogram

/// A table of latencies, a row each.
///
/// That of a run has a row for each operation, and in an open loop one for each measure.
struct LatencyTable {
    /// The latencies of one row.
    struct Row {
        /// The name before them.
        var name: String
        /// The latencies.
        var histogram: LatencyHistogram
        /// What stands behind them; often nothing.
        var note: String
    }

    private let title: String
    private let rows: [Row]
    private let percentiles: [Double]

    /// A table of these rows; names have at most 16 characters.
    init(title: String, rows: [Row], percentiles: [Double]) {
        self.title = title
        self.rows = rows
        self.percentiles = percentiles
    }

    /// The latencies of `result`.
    init(_ result: RunReport) {
        title = "Latency [ms]"
        percentiles = result.configuration.percentiles
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
        self.rows = rows
    }

    /// Whether nothing was measured.
    var isEmpty: Bool { rows.isEmpty }

    /// The heading, with `notes` behind it, and the rows.
    func lines(_ notes: [String]) -> [String] {
        let names = ["mean"] + percentiles.map { PercentileText.name($0) } + ["max"]
        let heading = title.padding(toLength: 18, withPad: " ", startingAt: 0)
        let head = ([heading + names.map(cell).joined()] + notes).joined(separator: "   ")
        return [head]
            + rows.map { row in
                var values = [NumberFormat.milliseconds(row.histogram.mean)]
                values += percentiles.map { PercentileText.cell(row.histogram, percentile: $0) }
                values.append(NumberFormat.milliseconds(Double(row.histogram.max)))
                let name = "  \(row.name)".padding(toLength: 18, withPad: " ", startingAt: 0)
                let note = row.note.isEmpty ? "" : "   \(row.note)"
                return name + values.map(cell).joined() + note
            }
    }

    private static func note(_ measure: Measure) -> String {
        switch measure {
        case .response: "from the intended start: what a user sees"
        case .service: "from the send: what closed-loop tools print"
        case .slip: "ours: if this grows, distrust the rest"
        }
    }

    private func cell(_ text: String) -> String {
        String(repeating: " ", count: max(1, 9 - text.count)) + text
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
        /// Enough samples lie beyond.
        case good
    }

    /// The trust in `percentile` of `count` samples.
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
