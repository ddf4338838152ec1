package import FeedProto
import Histogram

// The members of a report that it computes, and of its latencies.

struct JudgedRun: JSONDescribed {
    private let verdict: Verdict
    private let drift: Double?
    private let crowdedCoreCount: Int?

    init(_ report: RunReport) {
        verdict = report.verdict
        drift = report.drift
        crowdedCoreCount = report.crowdedCoreCount
    }

    static let members: [Member<JudgedRun>] = [
        .written("valid") { $0.verdict.isValid },
        .written("figures") { $0.verdict.figures.rawValue },
        .written("bound") { $0.verdict.bound.rawValue },
        .written("contended") { $0.verdict.isContended },
        .written("drift") { $0.drift },
        .written("shared_cores") { $0.crowdedCoreCount },
        .written("summary") { $0.verdict.summary },
        .written("reasons") { $0.verdict.reasons },
    ]
}

extension ServiceLevelResult: JSONDescribed {
    package static let members: [Member<ServiceLevelResult>] = [
        .written("text") { $0.level.text },
        .written("value") { $0.value },
        .written("kept") { $0.isKept },
    ]
}

/// How long calls took in the service, by its own clock and since it started.
///
/// The service times a call from the arrival of its frame to its answer handed to the kernel. What
/// a client waits beyond that is the way there and back: the network, the kernels, and the time
/// until the client reads.
package struct ServerTimes: Sendable, Equatable {
    /// The calls of a load that were timed, in the order of the operations.
    package var calls: [LatencyStats]
    /// How long answers were held until they were durable; nil where none is.
    package var held: LatencyStats?

    package init(calls: [LatencyStats], held: LatencyStats?) {
        self.calls = calls
        self.held = held
    }

    /// The times of the calls that `configuration` makes, in what the service says of itself.
    init(_ stats: ServerStats, _ configuration: RunConfiguration) {
        let methods = configuration.mix.operations.map { operation in
            switch operation {
            case .vote: configuration.batchVoteCount > 1 ? "batch_cast_votes" : "cast_vote"
            case .create: "create_post"
            case .list, .page: "list_posts"
            case .get: "get_post"
            }
        }
        calls = Set(methods).sorted().compactMap { method in
            stats.latencies.first { $0.method == method }
        }
        held = stats.heldTime
    }

    /// The line of the report; nil where no call was timed.
    var text: String? {
        guard !calls.isEmpty else { return nil }
        let times = calls.map { "\($0.method) \(Self.percentiles($0))" }
        let held = held.map { "of it held until durable \(Self.percentiles($0))" }
        return (times + [held].compactMap(\.self)).joined(separator: "   ")
    }

    private static func percentiles(_ stats: LatencyStats) -> String {
        """
        p50 \(NumberFormat.milliseconds(Double(stats.medianNanoseconds)))  \
        p99 \(NumberFormat.milliseconds(Double(stats.p99Nanoseconds)))  \
        p99.9 \(NumberFormat.milliseconds(Double(stats.p999Nanoseconds))) ms
        """
    }
}

/// The times by method; those of `held` are of all methods.
extension ServerTimes: JSONDescribed {
    package static let members: [Member<ServerTimes>] = [
        .written("calls") { times in
            Dictionary(
                times.calls.map { ($0.method, Milliseconds(stats: $0)) },
                uniquingKeysWith: { first, _ in first }
            )
        },
        .written("held") { $0.held.map(Milliseconds.init) },
    ]

    private struct Milliseconds: JSONDescribed {
        let stats: LatencyStats

        static let members: [Member<Milliseconds>] = [
            .written("count") { $0.stats.answerCount },
            .written("p50") { Double($0.stats.medianNanoseconds) / 1e6 },
            .written("p90") { Double($0.stats.p90Nanoseconds) / 1e6 },
            .written("p99") { Double($0.stats.p99Nanoseconds) / 1e6 },
            .written("p999") { Double($0.stats.p999Nanoseconds) / 1e6 },
            .written("max") { Double($0.stats.maximumNanoseconds) / 1e6 },
        ]
    }
}

// The members of a report that latencies are in: intervals, operations and the split latency.

extension RunReport {
    /// What charts of a run over time are drawn from.
    static let intervalMembers = Member<RunReport>(
        write: { report, writer in
            let operations = report.configuration.mix.operations
            let changes = zip(report.intervals, [nil] + report.intervals.map(Optional.some))
                .map { IntervalChange($0, after: $1, operations) }
            try writer.encode(changes, forKey: "intervals")
        },
        read: { report, reader in
            let changes = try reader.decode([IntervalChange].self, forKey: "intervals")
            try ReportFault.check("intervals", changes.count, 0...10_000_000)
            var (outcomes, reconnectCount) = (Outcomes(), 0 as UInt64)
            report.intervals = changes.map { change in
                var interval = change.interval
                outcomes = outcomes + interval.outcomes
                reconnectCount += interval.reconnectCount
                (interval.outcomes, interval.reconnectCount) = (outcomes, reconnectCount)
                return interval
            }
        }
    )

    /// The operations of the mix; a measure that was not taken has no member.
    static let operationMembers = Member<RunReport>(
        write: { report, writer in
            var operations = writer.nestedContainer(keyedBy: MemberKey.self, forKey: "ops")
            for operation in report.configuration.mix.operations {
                var members = operations.nestedContainer(
                    keyedBy: MemberKey.self,
                    forKey: MemberKey(operation.name)
                )
                let count = report.totals.measuredAnswers[Int(operation.rawValue)]
                try members.encode(count, forKey: "count")
                try members.encode(OrNull(report.rate(count)), forKey: "per_second")
                for (measure, name) in measureNames {
                    // A closed loop measures one latency, which stands for both.
                    let isBoth = measure == .response && !report.configuration.isOpenLoop
                    let key = LatencyKey(operation, isBoth ? .service : measure)
                    guard let histogram = report.totals.latencies[key] else { continue }
                    let latencies = Latencies(histogram, report.configuration.percentiles)
                    try members.encode(latencies, forKey: name)
                }
            }
        },
        read: { report, reader in
            let operations = try reader.nestedContainer(keyedBy: MemberKey.self, forKey: "ops")
            for name in operations.allKeys {
                guard let operation = Operation(name: name.stringValue) else { continue }
                let members = try operations.nestedContainer(keyedBy: MemberKey.self, forKey: name)
                report.totals.measuredAnswers[Int(operation.rawValue)] =
                    try Form.count.read("count", members)
                for (measure, name) in measureNames
                where measure != .response || report.configuration.isOpenLoop {
                    report.totals.latencies[LatencyKey(operation, measure)] =
                        try members.decodeIfPresent(Latencies.self, forKey: name)?.histogram
                }
            }
        }
    )

    private static let measureNames: [(Measure, MemberKey)] = [
        (.service, "service_ms"), (.response, "response_ms"), (.slip, "slip_ms"),
    ]
}

/// Latencies in milliseconds: the percentiles with enough samples, the maximum, and the whole histogram, so
/// that reports can be merged.
struct Latencies: Codable {
    let histogram: LatencyHistogram
    private let percentiles: [Double]

    init(_ histogram: LatencyHistogram, _ percentiles: [Double]) {
        self.histogram = histogram
        self.percentiles = percentiles
    }

    func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: MemberKey.self)
        try members.encode(histogram.totalCount, forKey: "count")
        try members.encode(OrNull(histogram.mean / 1e6), forKey: "mean")
        try members.encode(HistogramEncoding.base64(histogram), forKey: "hdr")
        guard histogram.totalCount > 0 else { return }
        for percentile in percentiles
        where PercentileText.trust(percentile: percentile, count: histogram.totalCount) != .hidden {
            let key = MemberKey(PercentileText.name(percentile, isKey: true))
            let nanoseconds = histogram.valueAtPercentile(percentile)
            try members.encode(Double(nanoseconds) / 1e6, forKey: key)
        }
        try members.encode(Double(histogram.max) / 1e6, forKey: "max")
    }

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: MemberKey.self)
        let text = try members.decode(String.self, forKey: "hdr")
        guard let histogram = HistogramEncoding.histogram(base64: text) else {
            throw ReportFault.histogram
        }
        self.init(histogram, [])
    }
}

/// An interval in a report: its failures and reconnects are its own, and not those since the start.
private struct IntervalChange: JSONReadable {
    var interval: RunReport.Interval
    private var failedSoFar: UInt64 = 0
    private var operations: [Operation] = []

    init(
        _ interval: RunReport.Interval,
        after previous: RunReport.Interval?,
        _ operations: [Operation]
    ) {
        self.interval = interval
        self.operations = operations
        let (now, before) = (interval.outcomes, previous?.outcomes ?? Outcomes())
        failedSoFar = now.error + now.unknown
        self.interval.outcomes.error = now.error - min(before.error, now.error)
        self.interval.outcomes.timeout = now.timeout - min(before.timeout, now.timeout)
        self.interval.outcomes.lost = now.lost - min(before.lost, now.lost)
        let opened = previous?.reconnectCount ?? 0
        self.interval.reconnectCount -= min(opened, interval.reconnectCount)
    }

    /// Made once: it takes an empty histogram.
    static let unread = IntervalChange(
        RunReport.Interval(
            endSeconds: 0,
            seconds: 0,
            isMeasured: false,
            counts: IntervalCounts(
                answered: Operation.allCases.map { _ in 0 },
                latencies: LatencyScale.makeHistogram()
            )
        ),
        after: nil,
        []
    )

    static let members: [Member<IntervalChange>] = [
        .usual("end_seconds", \.interval.endSeconds, .within(0...1e9)),
        .usual("seconds", \.interval.seconds, .within(0...1e9)),
        .usual("measured", \.interval.isMeasured, .plain),
        answered,
        .written("failed_so_far") { $0.failedSoFar },
        .usual("errors", \.interval.outcomes.error, .countOfAnInterval),
        .usual("timeouts", \.interval.outcomes.timeout, .countOfAnInterval),
        .usual("lost", \.interval.outcomes.lost, .countOfAnInterval),
        .usual("reconnects", \.interval.reconnectCount, .countOfAnInterval),
        .usual("response_ms", \.interval.latencies, .plain),
        .optional("cpu", \.interval.usage, .plain),
    ]

    /// A member for each operation of the mix.
    private static let answered = Member<IntervalChange>(
        write: { change, writer in
            for operation in change.operations {
                let count = change.interval.answered[Int(operation.rawValue)]
                try writer.encode(count, forKey: MemberKey(operation.name))
            }
        },
        read: { change, reader in
            for operation in Operation.allCases {
                let name = MemberKey(operation.name)
                guard try reader.has(name) else { continue }
                change.interval.answered[Int(operation.rawValue)] =
                    try Form.countOfAnInterval.read(name, reader)
            }
        }
    )
}

extension Form<UInt64> {
    /// A count of an interval, which may have a fraction in a file.
    fileprivate static var countOfAnInterval: Self {
        Self(
            write: { Double($0) },
            read: { number, place in
                let most = Double(LatencyBuckets.mostOfAnInterval)
                try ReportFault.check(place, number, 0...most)
                return UInt64(number)
            }
        )
    }
}

extension LatencyBuckets {
    /// More than an interval counts, and few enough that those of a day add up.
    static let mostOfAnInterval: UInt64 = 1 << 36

    /// Buckets that a file has; nil where no latencies have such buckets.
    init?(first: Double, numbers: [Double]) {
        let room = Self.number(.max) + 1 - numbers.count
        guard let first = Int(exactly: first), first >= 0, first <= room,
            numbers.allSatisfy({ $0 >= 0 && $0 <= Double(Self.mostOfAnInterval) })
        else { return nil }
        self.init(first: first, counts: numbers.map { UInt64($0) })
    }
}

/// Latencies of an interval: the percentiles with enough samples, the maximum, and the counts of
/// ``LatencyBuckets``.
extension LatencySummary: Codable {
    package func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: MemberKey.self)
        try members.encode(count, forKey: "count")
        guard count > 0 else { return }
        for (level, nanoseconds) in zip(Self.levels, percentiles)
        where PercentileText.trust(percentile: level, count: count) != .hidden {
            let key = MemberKey(PercentileText.name(level, isKey: true))
            try members.encode(Double(nanoseconds) / 1e6, forKey: key)
        }
        try members.encode(Double(maximum) / 1e6, forKey: "max")
        try members.encode(buckets.first, forKey: "first_bucket")
        try members.encode(buckets.counts, forKey: "buckets")
    }

    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: MemberKey.self)
        func nanoseconds(_ name: MemberKey) throws -> UInt64 {
            guard try members.has(name) else { return 0 }
            return UInt64((try Form.within(0...1e9).read(name, members) * 1e6).rounded())
        }
        self.init()
        if try members.has("count") {
            count = try Form.countOfAnInterval.read("count", members)
        }
        percentiles = try Self.levels.map {
            try nanoseconds(MemberKey(PercentileText.name($0, isKey: true)))
        }
        maximum = try nanoseconds("max")
        let first = try members.decodeIfPresent(Double.self, forKey: "first_bucket")
        let numbers = try members.decodeIfPresent([Double].self, forKey: "buckets")
        guard let buckets = LatencyBuckets(first: first ?? 0, numbers: numbers ?? []) else {
            let place = members.place(of: "first_bucket").replacing(".first_bucket", with: "")
            throw ReportFault(
                description: "\(place): first_bucket and buckets are none that latencies have."
            )
        }
        self.buckets = buckets
    }
}

/// The parts of a split latency; one that is not known is null.
extension LatencySplit: Codable {
    package func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: MemberKey.self)
        try members.encode(sampleCount, forKey: "sample_count")
        try members.encode(otherClockCount, forKey: "other_clock_count")
        for part in Part.allCases {
            let parts = latencies(of: part).map { Latencies($0, [50, 90, 99, 99.9]) }
            try members.encode(OrNull(parts), forKey: part.member)
        }
    }

    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: MemberKey.self)
        self.init()
        sampleCount = try Form.count.read("sample_count", members)
        otherClockCount = try Form.count.read("other_clock_count", members)
        for part in Part.allCases {
            let latencies = try members.decodeIfPresent(Latencies.self, forKey: part.member)
            if let known = latencies?.histogram { histograms[part.rawValue] = known }
        }
    }
}
