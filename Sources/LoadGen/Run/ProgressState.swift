import FeedTransport

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
