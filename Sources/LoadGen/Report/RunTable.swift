import Histogram

/// Several runs side by side, a row each.
package struct RunTable {
    private let runs: [(name: String, result: RunReport)]

    /// A table of runs and their names.
    package init(_ runs: [(name: String, result: RunReport)]) {
        self.runs = runs
    }

    /// The text, with a newline at its end.
    package func rendered() -> String {
        let levels: [Double] = [50, 99, 99.9]
        let heads =
            ["run", "figures", "op/s"] + levels.map { "\(PercentileText.name($0)) ms" }
            + ["max ms", "CPU-s/M", "audit"]
        let rows = [heads] + runs.map { row($0.name, $0.result, levels) }
        let widths = heads.indices.map { place in rows.map { $0[place].count }.max() ?? 0 }
        return rows.map { row in
            zip(row, widths).enumerated().map { place, cell in
                let space = String(repeating: " ", count: cell.1 - cell.0.count)
                return place == 0 ? cell.0 + space : space + cell.0
            }.joined(separator: "   ")
        }.joined(separator: "\n") + "\n"
    }

    private func row(_ name: String, _ result: RunReport, _ levels: [Double]) -> [String] {
        let latencies = result.totals.merged(result.shownMeasure)
        let percentiles = levels.map { level in
            latencies.map { PercentileText.cell($0, percentile: level) } ?? "-"
        }
        let audit =
            switch result.audit {
            case .done(let summary): summary.findings.isEmpty ? "PASS" : "FAIL"
            case .skipped, .impossible: "-"
            }
        return [name, result.verdict.figures.rawValue, NumberFormat.rate(result.ratePerSecond)]
            + percentiles
            + [
                latencies.map { NumberFormat.milliseconds(Double($0.max)) } ?? "-",
                result.secondsPerMillion(result.server).map { NumberFormat.fixed($0, 2) } ?? "-",
                audit,
            ]
    }
}
