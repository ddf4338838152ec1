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
        .written("throughput") { Figure($0, .throughput) },
        .written("server_cpu") { Figure($0, .serverCost) },
        .written("response_p99_ms") { Figure($0, .response99, unit: 1e6) },
        .written("pairs") { $0.pairs },
        .written("repeated") { $0.repeatedCount },
        .written("kept_tainted") { $0.keptTaintedCount },
    ]

    /// A figure of both servers.
    private struct Figure: JSONDescribed {
        private let result: SideBySideResult
        private let figure: ComparedFigure
        private let unit: Double

        init(_ result: SideBySideResult, _ figure: ComparedFigure, unit: Double = 1) {
            self.result = result
            self.figure = figure
            self.unit = unit
        }

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
