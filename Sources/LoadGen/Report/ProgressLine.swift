import Histogram

/// One line of progress during a run.
struct ProgressLine {
    /// The time of the load so far, and of all of it; nil where a number of requests ends it.
    var elapsedSeconds: Double
    /// See `elapsedSeconds`.
    var totalSeconds: Double?
    /// How long the interval was.
    var seconds: Double
    var counts: IntervalCounts
    var operations: [Operation]
    /// Cores that the service and the generator used in the interval.
    var serverCores: Double?
    /// See `serverCores`.
    var generatorCores: Double?
    /// Time the host gave to others in the interval.
    var stealShare: Double?

    /// The line, without a newline.
    func rendered() -> String {
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
}

/// Collects intervals until the next progress line is due.
struct ProgressState {
    private var counts: IntervalCounts?
    private var usage = IntervalUsage()
    private var coreCount: Int
    private var seconds = 0.0

    init(coreCount: Int) {
        self.coreCount = coreCount
    }

    /// Adds `interval`, with its counts; returns the line, if one is due.
    mutating func line(
        for interval: RunReport.Interval,
        _ added: IntervalCounts,
        _ configuration: RunConfiguration
    ) -> String? {
        guard let due = configuration.progressInterval else { return nil }
        if counts == nil { counts = added } else { counts?.add(added) }
        // Outcomes are counted from the start, so the last interval knows them all.
        counts?.outcomes = added.outcomes
        if let more = interval.usage { usage.add(more) }
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
        let elapsed = max(usage.seconds, 1e-9)
        line.serverCores = usage.serverSeconds.map { $0 / elapsed }
        line.generatorCores = usage.generatorSeconds.map { $0 / elapsed }
        line.stealShare = usage.stealSeconds.map { $0 / elapsed / Double(coreCount) }
        usage = IntervalUsage()
        self.counts = nil
        seconds = 0
        return line.rendered()
    }
}
