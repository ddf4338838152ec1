import Foundation
import Histogram

/// The table of latencies: a row for each operation, and in an open loop one for each measure.
struct LatencyTable {
    private struct Row {
        var name: String
        var histogram: LatencyHistogram
        var note: String
    }

    private let rows: [Row]
    private let percentiles: [Double]

    /// The latencies of `result`.
    init(_ result: RunResult) {
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
        let heading = "Latency [ms]".padding(toLength: 18, withPad: " ", startingAt: 0)
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
