import Foundation

extension SideBySideResult {
    /// The report for people, with a newline at its end.
    package var text: String {
        [heading, table, notes, auditLines].filter { !$0.isEmpty }
            .map { $0.joined(separator: "\n") }.joined(separator: "\n\n") + "\n"
    }

    private var heading: [String] {
        let loop =
            configuration.ratePerSecond.map { "open loop \(NumberFormat.rate($0))/s" }
            ?? "closed loop"
        return [
            """
            loadgen  A/B  seed \(configuration.seed)  \(configuration.clientCount) clients × pipeline \
            \(configuration.pipelineDepth) (\(configuration.pipelineMode.rawValue))  \(loop)  \
            \(configuration.threadCount == 1 ? "1 thread" : "\(configuration.threadCount) threads")
            """,
            """
            A \(configuration.target) (\(configuration.wireProtocol.rawValue))   B \(comparison.target) \
            (\(comparison.wireProtocol.rawValue))   \(NumberFormat.count(UInt64(configuration.postCount))) \
            posts  \(configuration.keys)  mix \(configuration.mix)
            """,
            """
            \(comparedPairs.count) of \(comparison.rounds) pairs, \
            \(controlPairs.count) of \(comparison.controlCount) pairs A/A, slices of \
            \(NumberFormat.duration(comparison.slice)) after \
            \(NumberFormat.duration(comparison.settle)); \(repeatedCount) pairs repeated, \
            \(keptTaintedCount) kept although others used the machine
            """,
        ] + (isInterrupted ? ["A signal ended the comparison early."] : [])
    }

    private var table: [String] {
        var lines = [cells("", "A", "B", "B ÷ A", "95% interval", "A/A interval", "B is")]
        for figure in ComparedFigure.allCases {
            lines.append(
                cells(
                    name(figure),
                    median(of: \.a, figure.value).map { value($0, figure) } ?? "-",
                    median(of: \.b, figure.value).map { value($0, figure) } ?? "-",
                    ratio(figure).map { NumberFormat.fixed($0.ratio, 3) } ?? "-",
                    interval(ratio(figure)),
                    interval(control(figure)),
                    judgement(figure).rawValue
                )
            )
        }
        return lines + [
            medians("generator CPU", digits: 3) { $0.generatorCost },
            medians("bytes an op", digits: 2) { $0.bytesPerOperation },
            medians("writes an op", digits: 2) { $0.writesPerOperation },
        ]
    }

    private var notes: [String] {
        let percent = NumberFormat.percent(comparison.limit, digits: 0)
        var lines = [
            """
            CPU in seconds per million operations. A word is given for a difference of more than \
            \(percent), or than the A/A interval where that reaches further.
            """
        ]
        if let a = median(of: \.a, { $0.generatorCost }),
            let b = median(of: \.b, { $0.generatorCost }), max(a, b) > 1.15 * min(a, b)
        {
            lines.append(
                """
                The generator spends more on one protocol than on the other: read the server CPU, not \
                the throughput.
                """
            )
        }
        if controlPairs.count < RatioEstimate.fewestPairs {
            lines.append("Without 6 pairs A/A the noise of the machine is not known.")
        }
        return lines
    }

    private var auditLines: [String] {
        audits.a.lines.labelled("Audit of A")
            + audits.b.lines.labelled("Audit of B")
            + (exitStatus == .success ? [] : ["exit \(exitStatus.rawValue)"])
    }

    private func name(_ figure: ComparedFigure) -> String {
        figure == .response99 && configuration.ratePerSecond == nil
            ? "service p99" : figure.rawValue
    }

    private func value(_ value: Double, _ figure: ComparedFigure) -> String {
        switch figure {
        case .throughput: "\(NumberFormat.rate(value))/s"
        case .serverCost: NumberFormat.fixed(value, 3)
        case .response99: "\(NumberFormat.milliseconds(value)) ms"
        }
    }

    private func interval(_ ratio: RatioEstimate?) -> String {
        ratio.map { "\(NumberFormat.fixed($0.low, 3)) to \(NumberFormat.fixed($0.high, 3))" } ?? "-"
    }

    /// The line of a figure that is not judged.
    private func medians(
        _ name: String,
        digits: Int,
        _ value: (Slice) -> Double?
    ) -> String {
        func text(_ slice: KeyPath<SlicePair, Slice>) -> String {
            median(of: slice, value).map { NumberFormat.fixed($0, digits) } ?? "-"
        }
        return cells(name, text(\.a), text(\.b))
    }

    private func cells(_ texts: String...) -> String {
        let widths = [15, 12, 12, 9, 17, 17, 0]
        let line = zip(texts, widths).map { text, width in
            text.padding(toLength: max(width, text.count), withPad: " ", startingAt: 0)
        }
        var whole = line.joined()[...]
        while whole.last == " " { whole.removeLast() }
        return String(whole)
    }
}

/// The JSON document of two servers that were measured in turns; docs/LOADGEN.md says what each member
/// means.
extension SideBySideResult: JSONDescribed {
    package static let members: [Member<SideBySideResult>] = [
        .written("schema") { _ in 1 },
        .object("config", configurationMembers),
        .written("env") { $0.environment },
        .object("ab", comparisonMembers),
        .written("audits") { ["a": $0.audits.a, "b": $0.audits.b] },
        .written("interrupted") { $0.isInterrupted },
        .written("exit") { $0.exitStatus.rawValue },
    ]

    private static let configurationMembers: [Member<SideBySideResult>] = [
        .written("target_a") { $0.configuration.target },
        .written("target_b") { $0.comparison.target },
        .written("protocol_a") { $0.configuration.wireProtocol.rawValue },
        .written("protocol_b") { $0.comparison.wireProtocol.rawValue },
        .written("clients") { $0.configuration.clientCount },
        .written("threads") { $0.configuration.threadCount },
        .written("pipeline") { $0.configuration.pipelineDepth },
        .written("pipeline_mode") { $0.configuration.pipelineMode.rawValue },
        .written("rate") { $0.configuration.ratePerSecond },
        .written("mix") { $0.configuration.mix.description },
        .written("posts") { $0.configuration.postCount },
        .written("keys") { $0.configuration.keys.description },
        .written("seed") { $0.configuration.seed },
        .written("slice_seconds") { $0.comparison.slice / .seconds(1) },
        .written("settle_seconds") { $0.comparison.settle / .seconds(1) },
        .written("rounds") { $0.comparison.rounds },
        .written("aa") { $0.comparison.controlCount },
        .written("limit") { $0.comparison.limit },
    ]

    private static let comparisonMembers: [Member<SideBySideResult>] = [
        .written("throughput") { Figure(result: $0, figure: .throughput) },
        .written("server_cpu") { Figure(result: $0, figure: .serverCost) },
        .written("response_p99_ms") { Figure(result: $0, figure: .response99, unit: 1e6) },
        .written("pairs") { $0.pairs },
        .written("repeated") { $0.repeatedCount },
        .written("kept_tainted") { $0.keptTaintedCount },
    ]

    private struct Figure: JSONDescribed {
        let result: SideBySideResult
        let figure: ComparedFigure
        var unit = 1.0

        static let members: [Member<Figure>] = [
            .written("a") { $0.median(of: \.a) },
            .written("b") { $0.median(of: \.b) },
            .written("ratio") { $0.result.ratio($0.figure)?.ratio },
            .written("ratio_ci95") { $0.result.ratio($0.figure)?.interval },
            .written("aa_ratio_ci95") { $0.result.control($0.figure)?.interval },
            .written("verdict") { $0.result.judgement($0.figure).rawValue },
        ]

        private func median(of slice: KeyPath<SlicePair, Slice>) -> Double? {
            result.median(of: slice, figure.value).map { $0 / unit }
        }
    }
}

extension SlicePair: JSONDescribed {
    package static let members: [Member<SlicePair>] = [
        .written("control") { $0.pair == .control },
        .written("first") { $0.pair == .firstB ? "b" : "a" },
        .written("a") { $0.a },
        .written("b") { $0.b },
    ]
}

extension Slice: JSONDescribed {
    package static let members: [Member<Slice>] = [
        .written("per_second") { $0.perSecond },
        .written("server_seconds_per_million") { $0.serverCost },
        .written("generator_seconds_per_million") { $0.generatorCost },
        .written("response_p99_ms") { slice in slice.response99.map { $0 / 1e6 } },
        .written("bytes_per_operation") { $0.bytesPerOperation },
        .written("writes_per_operation") { $0.writesPerOperation },
        .written("foreign_share") { $0.foreignShare },
        .written("tainted") { $0.isTainted },
    ]
}
