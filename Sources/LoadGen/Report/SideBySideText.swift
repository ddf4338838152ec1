import Foundation

/// The report for people of two servers that were measured in turns.
package struct SideBySideText {
    private let result: SideBySideResult

    /// A report of `result`.
    package init(_ result: SideBySideResult) {
        self.result = result
    }

    /// The whole text, with a newline at its end.
    package func rendered() -> String {
        [heading, table, notes, audits].filter { !$0.isEmpty }
            .map { $0.joined(separator: "\n") }.joined(separator: "\n\n") + "\n"
    }

    private var heading: [String] {
        let given = result.configuration
        let comparison = result.comparison
        let loop =
            given.ratePerSecond.map { "open loop \(NumberFormat.rate($0))/s" } ?? "closed loop"
        return [
            """
            loadgen  A/B  seed \(given.seed)  \(given.clientCount) clients × pipeline \
            \(given.pipelineDepth) (\(given.pipelineMode.rawValue))  \(loop)  \
            \(given.threadCount == 1 ? "1 thread" : "\(given.threadCount) threads")
            """,
            """
            A \(given.target) (\(given.wireProtocol.rawValue))   B \(comparison.target) \
            (\(comparison.wireProtocol.rawValue))   \(NumberFormat.count(UInt64(given.postCount))) \
            posts  \(given.keys)  mix \(given.mix)
            """,
            """
            \(result.comparedPairs.count) of \(comparison.rounds) pairs, \
            \(result.controlPairs.count) of \(comparison.controlCount) pairs A/A, slices of \
            \(NumberFormat.duration(comparison.slice)) after \
            \(NumberFormat.duration(comparison.settle)); \(result.repeatedCount) pairs repeated, \
            \(result.keptTaintedCount) kept although others used the machine
            """,
        ] + (result.isInterrupted ? ["A signal ended the comparison early."] : [])
    }

    private var table: [String] {
        var lines = [cells("", "A", "B", "B ÷ A", "95% interval", "A/A interval", "B is")]
        for figure in ComparedFigure.allCases {
            lines.append(
                cells(
                    name(figure),
                    median(\.a) { figure.value($0) }.map { value($0, figure) } ?? "-",
                    median(\.b) { figure.value($0) }.map { value($0, figure) } ?? "-",
                    result.ratio(figure).map { NumberFormat.fixed($0.ratio, 3) } ?? "-",
                    interval(result.ratio(figure)),
                    interval(result.control(figure)),
                    result.judgement(figure).rawValue
                )
            )
        }
        lines.append(
            cells("generator CPU", cost(\.a) { $0.generatorCost }, cost(\.b) { $0.generatorCost })
        )
        lines.append(
            cells(
                "bytes an op",
                number(\.a) { $0.bytesPerOperation },
                number(\.b) { $0.bytesPerOperation }
            )
        )
        lines.append(
            cells(
                "writes an op",
                number(\.a) { $0.writesPerOperation },
                number(\.b) { $0.writesPerOperation }
            )
        )
        return lines
    }

    private var notes: [String] {
        let percent = NumberFormat.percent(result.comparison.limit, digits: 0)
        var lines = [
            """
            CPU in seconds per million operations. A word is given for a difference of more than \
            \(percent), or than the A/A interval where that reaches further.
            """
        ]
        if let a = median(\.a, { $0.generatorCost }), let b = median(\.b, { $0.generatorCost }),
            max(a, b) > 1.15 * min(a, b)
        {
            lines.append(
                """
                The generator spends more on one protocol than on the other: read the server CPU, not \
                the throughput.
                """
            )
        }
        if result.controlPairs.count < RatioEstimate.fewestPairs {
            lines.append("Without 6 pairs A/A the noise of the machine is not known.")
        }
        return lines
    }

    private var audits: [String] {
        let indent = "             "
        return AuditText.lines(result.audits.a, label: "Audit of A   ", indent: indent)
            + AuditText.lines(result.audits.b, label: "Audit of B   ", indent: indent)
            + (result.exitStatus == .success ? [] : ["exit \(result.exitStatus.rawValue)"])
    }

    private func name(_ figure: ComparedFigure) -> String {
        figure == .response99 && result.configuration.ratePerSecond == nil
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

    private func median(
        _ slice: KeyPath<SlicePair, Slice>,
        _ value: (Slice) -> Double?
    ) -> Double? {
        result.median(of: slice, value)
    }

    private func cost(_ slice: KeyPath<SlicePair, Slice>, _ value: (Slice) -> Double?) -> String {
        median(slice, value).map { NumberFormat.fixed($0, 3) } ?? "-"
    }

    private func number(_ slice: KeyPath<SlicePair, Slice>, _ value: (Slice) -> Double?) -> String {
        median(slice, value).map { NumberFormat.fixed($0, 2) } ?? "-"
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
