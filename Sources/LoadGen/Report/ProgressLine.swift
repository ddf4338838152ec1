import FeedConcurrency
import Histogram

/// One line of progress during a run.
package struct ProgressLine {
    /// The time of the load so far, and of all of it; nil where a number of requests ends it.
    package var elapsedSeconds: Double
    /// See `elapsedSeconds`.
    package var totalSeconds: Double?
    /// How long the interval was.
    package var seconds: Double
    /// What was answered in it.
    package var counts: IntervalCounts
    /// The operations of the mix.
    package var operations: [Operation]
    /// Cores that the service and the generator used in the interval.
    package var serverCores: Double?
    /// See `serverCores`.
    package var generatorCores: Double?
    /// Time the host gave to others in the interval.
    package var stealShare: Double?

    /// The line, without a newline.
    package func rendered() -> String {
        let total = totalSeconds.map { "/\(Int($0.rounded()))s" } ?? ""
        let answered = counts.answered.reduce(0, +)
        var parts = ["\(Int(elapsedSeconds.rounded()))s\(total)", "\(rate(answered)) op/s"]
        if operations.count > 1 {
            let each = operations.map { "\($0.name) \(rate(counts.answered[Int($0.rawValue)]))" }
            parts[1] += " (\(each.joined(separator: " ")))"
        }
        if counts.latencies.totalCount > 0 {
            let p50 = PercentileText.cell(counts.latencies, percentile: 50)
            let p99 = PercentileText.cell(counts.latencies, percentile: 99)
            let maximum = NumberFormat.milliseconds(Double(counts.latencies.max))
            parts.append("p50 \(p50)  p99 \(p99)  max \(maximum) ms")
        }
        parts.append("err \(counts.errorCount)")
        if let serverCores { parts.append("srv \(NumberFormat.fixed(serverCores, 2)) cpu") }
        if let generatorCores { parts.append("gen \(NumberFormat.fixed(generatorCores, 2)) cpu") }
        if let stealShare { parts.append("steal \(NumberFormat.percent(stealShare))") }
        return parts.joined(separator: "  ")
    }

    private func rate(_ count: UInt64) -> String {
        NumberFormat.rate(seconds > 0 ? Double(count) / seconds : 0)
    }

    /// A line of these numbers.
    package init(
        elapsedSeconds: Double,
        totalSeconds: Double?,
        seconds: Double,
        counts: IntervalCounts,
        operations: [Operation]
    ) {
        self.elapsedSeconds = elapsedSeconds
        self.totalSeconds = totalSeconds
        self.seconds = seconds
        self.counts = counts
        self.operations = operations
    }
}

/// Collects intervals until the next progress line is due.
struct ProgressState {
    private var counts: IntervalCounts?
    private var seconds = 0.0
    private var lastSample: Probe.Sample?

    /// Nothing collected.
    init() {}

    /// Adds `interval`; returns the line, if one is due.
    mutating func line(
        for interval: RunResult.Interval,
        _ configuration: RunConfiguration,
        _ probe: Probe
    ) -> String? {
        guard let due = configuration.progressInterval else { return nil }
        if counts == nil { counts = interval.counts } else { counts?.add(interval.counts) }
        // Failures are counted from the start, so the last interval knows them all.
        counts?.errorCount = interval.counts.errorCount
        seconds += interval.seconds
        // Intervals are seconds: half of one covers a timer that fires a little early.
        guard let counts, seconds + 0.5 > Double(due.nanoseconds) / 1e9 else { return nil }
        let warmup = Double(configuration.warmup.nanoseconds) / 1e9
        let measured = configuration.duration.map { Double($0.nanoseconds) / 1e9 }
        var line = ProgressLine(
            elapsedSeconds: interval.endSeconds,
            totalSeconds: measured.map { $0 + warmup },
            seconds: seconds,
            counts: counts,
            operations: configuration.mix.operations
        )
        let sample = probe.sample()
        if let lastSample {
            let usage = Probe.usage(from: lastSample, to: sample)
            let elapsed = sample.instant.duration(since: lastSample.instant)
            let elapsedSeconds = max(Double(elapsed.nanoseconds) / 1e9, 1e-9)
            line.serverCores = usage.server.map { $0.seconds / elapsedSeconds }
            line.generatorCores = usage.generator.map { $0.seconds / elapsedSeconds }
            line.stealShare = usage.machine?.stealShare
        }
        lastSample = sample
        self.counts = nil
        seconds = 0
        return line.rendered()
    }
}
