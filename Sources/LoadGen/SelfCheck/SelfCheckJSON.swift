import Histogram

/// The result of a self-check for programs; docs/LOADGEN.md says what each member means.
package struct SelfCheckJSON {
    private let result: SelfCheckResult

    /// A report of `result`.
    package init(_ result: SelfCheckResult) {
        self.result = result
    }

    /// The text, always valid JSON with sorted members, with a newline at its end.
    package func rendered() -> String {
        JSONText.rendered(["self_check": Members(result)])
    }
}

private struct Members: Encodable {
    let schema = 1
    let passed: Bool
    let seed: UInt64
    let delays: Comparison
    let stall: Comparison
    let pacing: Pacing
    let speed: Speed

    init(_ result: SelfCheckResult) {
        passed = result.isPassed
        seed = result.seed
        delays = Comparison(result.delays)
        stall = Comparison(result.stall)
        pacing = Pacing(
            p50Ms: Double(result.pacing.valueAtPercentile(50)) / 1e6,
            p99Ms: Double(result.pacing.valueAtPercentile(99)) / 1e6,
            maxMs: Double(result.pacing.max) / 1e6,
            lateSends: result.lateSendCount,
            requests: result.pacing.totalCount
        )
        speed = Speed(
            perSecond: result.speed.ratePerSecond,
            busyShare: OrNull(finite: result.speed.busyShare),
            limitPerSecond: OrNull(finite: result.speed.limitPerSecond)
        )
    }

    struct Comparison: Encodable {
        let matches: Bool
        let measured: UInt64
        let answered: UInt64
        let percentiles: [Level]
        let longWaits: LongWaits

        init(_ comparison: LatencyComparison) {
            matches = comparison.isMatch
            measured = comparison.measured.totalCount
            answered = comparison.truth.totalCount
            percentiles = LatencyComparison.levels.map { Level(comparison, $0) }
            longWaits = LongWaits(
                answered: LatencyComparison.stalledCount(comparison.truth),
                measured: LatencyComparison.stalledCount(comparison.measured),
                fromSend: OrNull(comparison.fromSend.map(LatencyComparison.stalledCount))
            )
        }
    }

    struct Level: Encodable {
        let percentile: Double
        let answeredMs: Double
        let measuredMs: Double
        let fromSendMs: OrNull<Double>
        let matches: Bool

        init(_ comparison: LatencyComparison, _ level: Double) {
            percentile = level
            answeredMs = Double(comparison.truth.valueAtPercentile(level)) / 1e6
            measuredMs = Double(comparison.measured.valueAtPercentile(level)) / 1e6
            fromSendMs = OrNull(
                comparison.fromSend.map { Double($0.valueAtPercentile(level)) / 1e6 }
            )
            matches = comparison.matches(level)
        }
    }

    struct LongWaits: Encodable {
        let answered: UInt64
        let measured: UInt64
        let fromSend: OrNull<UInt64>
    }

    struct Pacing: Encodable {
        let p50Ms: Double
        let p99Ms: Double
        let maxMs: Double
        let lateSends: UInt64
        let requests: UInt64
    }

    struct Speed: Encodable {
        let perSecond: Double
        let busyShare: OrNull<Double>
        let limitPerSecond: OrNull<Double>
    }
}
