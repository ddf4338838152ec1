import Foundation
import Histogram

/// What a self-check found.
package struct SelfCheckResult: Sendable {
    /// The run without delays.
    package struct Speed: Sendable {
        /// Votes answered a second.
        package var ratePerSecond: Double
        /// The share of the time that the generator's loop worked; nil where it could not be seen.
        package var busyShare: Double?

        /// The speed of `result`, a run with one thread.
        init(_ result: RunReport) {
            ratePerSecond = result.ratePerSecond
            busyShare = result.loopIdleShares.min().map { 1 - $0 }
        }

        /// What one thread of the generator could send if the responder and the machine let it; nil
        /// where `busyShare` is.
        package var limitPerSecond: Double? {
            busyShare.map { $0 > 0 ? ratePerSecond / $0 : 0 }
        }
    }

    /// What the delays and arrivals were drawn from.
    package var seed: UInt64
    /// The run with known delays.
    package var delays: LatencyComparison
    /// The run with a stall.
    package var stall: LatencyComparison
    /// How late the requests of the first run left.
    package var pacing: LatencyHistogram
    /// How many of them left more than 1 ms late.
    package var lateSendCount: UInt64
    /// The run without delays.
    package var speed: Speed

    /// Whether the generator measured what was there.
    package var isPassed: Bool { delays.isMatch && stall.isMatch && stall.hasTrueWeight }

    /// The exit code.
    package var exitStatus: ExitStatus { isPassed ? .success : .invalid }
}

extension SelfCheckResult {
    /// The report for people, with a newline at its end.
    package var text: String {
        let ends = [
            "  \(isPassed ? "PASS" : "FAIL")",
            isPassed
                ? "the generator measures what is there, also through a stall"
                : "trust no latency that loadgen measures here, as busy as the machine is",
        ]
        return
            (["loadgen  self-check  seed \(seed)" + ends.joined(separator: "  ")]
            + ["", table("Delays", delays), ""]
            + [table("Stall of 1 s", stall), weight, "", pacingLine, speedLine])
            .joined(separator: "\n") + "\n"
    }

    private func table(_ name: String, _ comparison: LatencyComparison) -> String {
        let head = name.padding(toLength: 14, withPad: " ", startingAt: 0)
        let columns =
            ["there [ms]", "measured", "difference"]
            + (comparison.fromSend == nil ? [] : ["from the send"])
        let rows = LatencyComparison.levels.map { level in
            let percent =
                comparison.difference(level)
                / max(1, Double(comparison.truth.valueAtPercentile(level)))
            var values = [
                milliseconds(comparison.truth, level), milliseconds(comparison.measured, level),
                NumberFormat.percent(percent, digits: 2),
            ]
            if let fromSend = comparison.fromSend { values.append(milliseconds(fromSend, level)) }
            let label = "  \(PercentileText.name(level))"
                .padding(toLength: 14, withPad: " ", startingAt: 0)
            return label + values.map(cell).joined()
                + (comparison.matches(level) ? "  ok" : "  OFF")
        }
        let (seen, there) = (comparison.measured.totalCount, comparison.truth.totalCount)
        let count = "  \(NumberFormat.count(seen)) of \(NumberFormat.count(there)) answers measured"
        return ([head + columns.map(cell).joined()] + rows + [count]).joined(separator: "\n")
    }

    private var weight: String {
        func count(_ histogram: LatencyHistogram?) -> String {
            NumberFormat.count(histogram.map(LatencyComparison.stalledCount) ?? 0)
        }
        return """
              waits of 0.5 s or more: \(count(stall.truth)) there, \(count(stall.measured)) measured \
            (\(stall.hasTrueWeight ? "ok" : "OFF")), \(count(stall.fromSend)) from the send
            """
    }

    private var pacingLine: String {
        """
        Pacing        late by p50 \(milliseconds(pacing, 50)), p99 \(milliseconds(pacing, 99)), \
        max \(NumberFormat.milliseconds(Double(pacing.max))) ms; over 1 ms late: \
        \(NumberFormat.count(lateSendCount)) of \(NumberFormat.count(pacing.totalCount))
        """
    }

    private var speedLine: String {
        let rate = "Speed         \(NumberFormat.rate(speed.ratePerSecond)) votes/s from one thread"
        guard let busy = speed.busyShare, let limit = speed.limitPerSecond else {
            return "\(rate); how busy it was is not seen here"
        }
        return """
            \(rate), busy \(NumberFormat.percent(busy, digits: 0)) of the time: at most \
            \(NumberFormat.rate(limit))/s a thread
            """
    }

    private func milliseconds(_ histogram: LatencyHistogram, _ level: Double) -> String {
        NumberFormat.milliseconds(Double(histogram.valueAtPercentile(level)))
    }

    private func cell(_ text: String) -> String {
        String(repeating: " ", count: max(1, 14 - text.count)) + text
    }
}
