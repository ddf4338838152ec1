import Histogram

/// The comparison with an earlier run in the report.
enum ComparisonText {
    /// Its lines; the first starts with `label`, the others with `indent`.
    static func lines(_ comparison: Comparison, label: String, indent: String) -> [String] {
        let limit = NumberFormat.percent(comparison.limit, digits: 0)
        var first = label + comparison.judgement.rawValue.uppercased()
        if let ratio = comparison.ratio {
            first += """
                  \(comparison.figure.rawValue) \(NumberFormat.fixed(ratio.ratio, 3)) of that in \
                \(comparison.path), 95% interval \(NumberFormat.fixed(ratio.low, 3)) to \
                \(NumberFormat.fixed(ratio.high, 3)) (limit \(limit))
                """
        }
        var lines = [first]
        if let ratio = comparison.serverCostRatio {
            lines.append(
                indent + """
                    server CPU \(NumberFormat.fixed(ratio, 3)) of that in \(comparison.path), one value \
                    of each run
                    """
            )
        }
        return lines + comparison.reasons.map { indent + $0 }
    }
}

extension Comparison: JSONDescribed {
    package static let members: [Member<Comparison>] = [
        .written("baseline") { $0.path },
        .written("limit") { $0.limit },
        .written("figure") { $0.figure.rawValue },
        .written("ratio") { $0.ratio?.ratio },
        .written("ratio_ci95") { $0.ratio?.interval },
        .written("server_cpu_ratio") { $0.serverCostRatio },
        .written("verdict") { $0.judgement.rawValue },
        .written("reasons") { $0.reasons },
    ]
}

extension RatioEstimate {
    /// The ends of the 95% interval.
    var interval: [Double] { [low, high] }
}

extension RunReport {
    /// The figures of this run, for a comparison with another.
    package var figures: RunFigures {
        let seconds = intervals.filter { $0.isMeasured && $0.seconds > 0.5 }
        return RunFigures(
            settings: RunSettings(configuration),
            machine: RunFigures.machine(environment.processor, environment.coreCount),
            isComparable: verdict.isValid,
            rates: measuredRates,
            response99s: seconds.compactMap { interval in
                let latencies = interval.latencies
                let isTrusted =
                    PercentileText.trust(percentile: 99, count: latencies.count) != .hidden
                return isTrusted ? latencies.percentile(99).map { Double($0) / 1e6 } : nil
            },
            serverCost: secondsPerMillion(server)
        )
    }
}
