internal import FeedImport
import Foundation

// The parts of a result, made from the members of a report.

extension LatencySummary {
    /// The latencies of an interval in a report, in milliseconds there; `place` names them in an
    /// error.
    init(_ value: JSONValue, in place: String) throws(ReportFault) {
        func nanoseconds(_ key: String) throws(ReportFault) -> UInt64 {
            UInt64((try value.number(key, 0...1e9, in: place) * 1e6).rounded())
        }
        self.init()
        count = try value.count("count", in: place)
        for (index, level) in Self.levels.enumerated() {
            percentiles[index] = try nanoseconds(PercentileText.name(level, isKey: true))
        }
        maximum = try nanoseconds("max")
        guard let buckets = LatencyBuckets(value) else {
            throw ReportFault(
                description: "\(place): first_bucket and buckets are none that latencies have."
            )
        }
        self.buckets = buckets
    }
}

extension LatencySplit {
    /// The split latency of a report; nil where a histogram is none that loadgen encodes.
    init?(_ split: ReportMembers.Split) {
        let members: [(Part, ReportMembers.Operation.Latency?)] = [
            (.there, split.there), (.execution, split.execution), (.held, split.held),
            (.back, split.back), (.bothWays, split.bothWays),
        ]
        var latencies: [Part: LatencyHistogram] = [:]
        for case (let part, let member?) in members {
            guard let histogram = HistogramEncoding.histogram(base64: member.hdr) else {
                return nil
            }
            latencies[part] = histogram
        }
        self.init(
            sampleCount: split.sampleCount,
            otherClockCount: split.otherClockCount,
            latencies
        )
    }
}

extension IntervalUsage {
    /// The cores in use in a report, over `seconds`; nil where the report has none.
    init?(_ value: JSONValue, seconds: Double) {
        guard value != .null else { return nil }
        self.init()
        self.seconds = seconds
        serverSeconds = value["server"]?.double.map { $0 * seconds }
        generatorSeconds = value["generator"]?.double.map { $0 * seconds }
        busySeconds = value["busy"]?.double.map { $0 * seconds }
        stealSeconds = value["steal"]?.double.map { $0 * seconds }
    }
}

extension Environment {
    /// The machine of a report.
    init(_ machine: ReportMembers.Machine) {
        self.init()
        processor = machine.processor
        coreCount = machine.cores
        kernel = machine.kernel
        command = machine.command
        startTime = machine.startTime
    }
}

extension ProcessUsage {
    /// A process of a report.
    init(_ usage: ReportMembers.Processors.Usage) {
        self.init(
            seconds: usage.seconds ?? 0,
            userShare: usage.userShare ?? 0,
            busiestThreadShare: usage.busiestThreadShare ?? 0,
            waitShare: usage.waitShare ?? 0,
            residentByteCount: usage.residentBytes,
            cores: Set(usage.cores ?? [])
        )
    }
}

extension AuditOutcome {
    /// The audit of a report.
    init(_ audit: ReportMembers.Audit) {
        guard audit.passed != nil else {
            let reason = audit.reason ?? ""
            self = reason == AuditJSON.notAskedFor ? .skipped : .impossible(reason)
            return
        }
        var summary = AuditSummary()
        summary.acknowledgedVoteCount = audit.votesAcknowledged ?? 0
        summary.unknownVoteCount = audit.votesUnknown ?? 0
        summary.failedVoteCount = audit.votesFailed ?? 0
        summary.countedVoteCount = audit.votesCounted ?? 0
        summary.postCount = audit.posts ?? 0
        summary.exactPostCount = audit.postsExact ?? 0
        summary.createdPostCount = audit.postsCreated ?? 0
        summary.listedPostCount = audit.postsListed ?? 0
        let counts = (audit.violations ?? [:]).compactMap { name, count in
            Violation(rawValue: name).map { ($0, count) }
        }
        summary.findings = Findings(
            counts: Dictionary(uniqueKeysWithValues: counts),
            examples: audit.examples ?? []
        )
        self = .done(summary)
    }
}

extension DatasetResult {
    /// The files of a report.
    init(_ dataset: ReportMembers.Dataset) {
        let files = dataset.files.map { file in
            File(
                path: file.path,
                name: URL(filePath: file.path).lastPathComponent,
                feed: file.feed,
                postCount: file.posts,
                upvoteCount: file.upvotes,
                downvoteCount: file.downvotes,
                leftOut: file.leftOut.map {
                    LeftOutPost(
                        line: $0.line,
                        field: $0.field,
                        reason: $0.reason,
                        value: $0.value,
                        actual: $0.actual,
                        limit: $0.limit,
                        message: $0.message
                    )
                }
            )
        }
        self.init(files: files, importSeconds: dataset.importSeconds ?? 0)
    }
}
