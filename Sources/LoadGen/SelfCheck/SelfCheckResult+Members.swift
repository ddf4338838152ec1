import Histogram

/// The JSON document of a self-check; docs/LOADGEN.md says what each member means.
extension SelfCheckResult: JSONDescribed {
    package static let members: [Member<SelfCheckResult>] = [
        .object(
            "self_check",
            [
                .written("schema") { _ in 1 },
                .written("passed") { $0.isPassed },
                .written("seed") { $0.seed },
                .written("delays") { $0.delays },
                .written("stall") { $0.stall },
                .object("pacing", pacingMembers),
                .object("speed", speedMembers),
            ]
        )
    ]

    private static let pacingMembers: [Member<SelfCheckResult>] = [
        .written("p50_ms") { Double($0.pacing.valueAtPercentile(50)) / 1e6 },
        .written("p99_ms") { Double($0.pacing.valueAtPercentile(99)) / 1e6 },
        .written("max_ms") { Double($0.pacing.max) / 1e6 },
        .written("late_sends") { $0.lateSendCount },
        .written("requests") { $0.pacing.totalCount },
    ]

    private static let speedMembers: [Member<SelfCheckResult>] = [
        .written("per_second") { $0.speed.ratePerSecond },
        .written("busy_share") { $0.speed.busyShare },
        .written("limit_per_second") { $0.speed.limitPerSecond },
    ]
}

extension LatencyComparison: JSONDescribed {
    package static let members: [Member<LatencyComparison>] = [
        .written("matches") { $0.isMatch },
        .written("measured") { $0.measured.totalCount },
        .written("answered") { $0.truth.totalCount },
        .written("percentiles") { comparison in
            levels.map { Level(comparison: comparison, percentile: $0) }
        },
        .object(
            "long_waits",
            [
                .written("answered") { stalledCount($0.truth) },
                .written("measured") { stalledCount($0.measured) },
                .written("from_send") { $0.fromSend.map(stalledCount) },
            ]
        ),
    ]

    /// One percentile.
    private struct Level: JSONDescribed {
        let comparison: LatencyComparison
        let percentile: Double

        static let members: [Member<Level>] = [
            .written("percentile") { $0.percentile },
            .written("answered_ms") { $0.milliseconds($0.comparison.truth) },
            .written("measured_ms") { $0.milliseconds($0.comparison.measured) },
            .written("from_send_ms") { $0.comparison.fromSend.map($0.milliseconds) },
            .written("matches") { $0.comparison.matches($0.percentile) },
        ]

        private func milliseconds(_ histogram: LatencyHistogram) -> Double {
            Double(histogram.valueAtPercentile(percentile)) / 1e6
        }
    }
}
