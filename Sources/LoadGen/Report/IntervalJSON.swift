/// One interval in the JSON report: what the charts of a run over time are drawn from.
///
/// It has a member for each operation, with the number of its answers. Failures and reconnects are
/// those of the interval, and `failed_so_far` those since the start of the run.
struct IntervalJSON: Encodable {
    let interval: RunResult.Interval
    let previous: RunResult.Interval?
    let operations: [Operation]

    /// `interval`, which follows `previous`.
    init(
        _ interval: RunResult.Interval,
        after previous: RunResult.Interval?,
        _ operations: [Operation]
    ) {
        self.interval = interval
        self.previous = previous
        self.operations = operations
    }

    func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: MemberKey.self)
        try members.encode(OrNull(finite: interval.endSeconds), forKey: "end_seconds")
        try members.encode(OrNull(finite: interval.seconds), forKey: "seconds")
        try members.encode(interval.isMeasured, forKey: "measured")
        for operation in operations {
            let count = interval.answered[Int(operation.rawValue)]
            try members.encode(count, forKey: MemberKey(operation.name))
        }
        let (now, before) = (interval.outcomes, previous?.outcomes ?? Outcomes())
        try members.encode(now.error + now.unknown, forKey: "failed_so_far")
        try members.encode(now.error - min(before.error, now.error), forKey: "errors")
        try members.encode(now.timeout - min(before.timeout, now.timeout), forKey: "timeouts")
        try members.encode(now.lost - min(before.lost, now.lost), forKey: "lost")
        let opened = previous?.reconnectCount ?? 0
        let reconnects = interval.reconnectCount - min(opened, interval.reconnectCount)
        try members.encode(reconnects, forKey: "reconnects")
        try members.encode(SummaryJSON(summary: interval.latencies), forKey: "response_ms")
        try members.encode(OrNull(interval.usage.map(UsageJSON.init)), forKey: "cpu")
    }
}

/// Latencies of an interval: the percentiles with enough samples, the maximum, and the counts of
/// ``LatencyBuckets``.
private struct SummaryJSON: Encodable {
    let summary: LatencySummary

    func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: MemberKey.self)
        try members.encode(summary.count, forKey: "count")
        guard summary.count > 0 else { return }
        for (level, nanoseconds) in zip(LatencySummary.levels, summary.percentiles)
        where PercentileText.trust(percentile: level, count: summary.count) != .hidden {
            let key = MemberKey(PercentileText.name(level, isKey: true))
            try members.encode(Double(nanoseconds) / 1e6, forKey: key)
        }
        try members.encode(Double(summary.maximum) / 1e6, forKey: "max")
        try members.encode(summary.buckets.first, forKey: "first_bucket")
        try members.encode(summary.buckets.counts, forKey: "buckets")
    }
}

/// Cores that were used in an interval.
private struct UsageJSON: Encodable {
    let server: OrNull<Double>
    let generator: OrNull<Double>
    let busy: OrNull<Double>
    let steal: OrNull<Double>

    init(_ usage: IntervalUsage) {
        let seconds = max(usage.seconds, 1e-9)
        server = OrNull(finite: usage.serverSeconds.map { $0 / seconds })
        generator = OrNull(finite: usage.generatorSeconds.map { $0 / seconds })
        busy = OrNull(finite: usage.busySeconds.map { $0 / seconds })
        steal = OrNull(finite: usage.stealSeconds.map { $0 / seconds })
    }
}
