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

/// The comparison with an earlier run in the JSON report.
struct ComparisonJSON: Encodable {
    let baseline: String
    let limit: Double
    let figure: String
    let ratio: OrNull<Double>
    let ratioCi95: OrNull<[Double]>
    let serverCPURatio: OrNull<Double>
    let verdict: String
    let reasons: [String]

    init(_ comparison: Comparison) {
        baseline = comparison.path
        limit = comparison.limit
        figure = comparison.figure.rawValue
        ratio = OrNull(finite: comparison.ratio?.ratio)
        ratioCi95 = OrNull(comparison.ratio.map { [$0.low, $0.high] })
        serverCPURatio = OrNull(finite: comparison.serverCostRatio)
        verdict = comparison.judgement.rawValue
        reasons = comparison.reasons
    }
}

extension RunResult {
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
