import FeedClient
import Histogram

/// Everything a run found out; every report is made from it alone.
///
/// It is the JSON document too, schema 1: `members` says how each figure is written and read, and
/// docs/LOADGEN.md what it means. What the text report does not show is not read again.
package struct RunReport: Sendable {
    /// One second, or what was left of it.
    package struct Interval: Sendable {
        /// Seconds from the start of the load to the interval's end.
        package var endSeconds: Double
        package var seconds: Double
        package var isMeasured: Bool
        /// Successful answers, by the operation's raw value.
        package var answered: [UInt64]
        /// The time that users waited, over all operations.
        package var latencies: LatencySummary
        /// The outcomes since the start of the run.
        package var outcomes: Outcomes
        /// Connections that were opened again since the start of the run.
        package var reconnectCount: UInt64
        /// What the processes and the machine used; nil where it was not seen.
        package var usage: IntervalUsage?
        /// With `--hdr`, the measured latencies of each operation as a histogram in base 64.
        package var encoded: [Operation: LoggedHistogram] = [:]

        /// An interval, without the latencies that only a progress line needs.
        package init(endSeconds: Double, seconds: Double, isMeasured: Bool, counts: IntervalCounts)
        {
            self.endSeconds = endSeconds
            self.seconds = seconds
            self.isMeasured = isMeasured
            answered = counts.answered
            latencies = LatencySummary(counts.latencies)
            outcomes = counts.outcomes
            reconnectCount = counts.reconnectCount
        }
    }

    package var configuration: RunConfiguration
    package var environment: Environment
    /// The files of the run; nil where it had none.
    package var dataset: DatasetResult?
    package var totals = RecorderTotals()
    /// Second by second, warm-up included.
    package var intervals: [Interval] = []
    /// When the load began, in nanoseconds of the monotonic clock.
    package var startNanoseconds: UInt64 = 0
    /// The same in microseconds since 1970.
    package var startMicroseconds: UInt64 = 0
    /// The measured time, by the clock and not by the flag.
    package var measuredSeconds = 0.0
    /// The share of requests that the most requested post got by its distribution.
    package var hottestShare = 0.0
    package var openedConnectionCount = 0
    /// Connections that never opened, or ended before the run did.
    package var lostConnectionCount = 0
    package var generator: ProcessUsage?
    /// The share of time that each loop slept while measuring.
    package var loopIdleShares: [Double] = []
    package var serverPID: Int?
    package var server: ProcessUsage?
    package var machine: MachineUsage?
    /// The service's own times; nil where it was not asked or did not say them.
    package var serverTimes: ServerTimes?
    package var isInterrupted = false
    /// What was seen of the failures of several services; nil of one.
    package var failover: Failover?
    /// What the other runs of a series showed; nil where this one was alone.
    package var series: SeriesResult?
    /// What the run knows of its posts, for a later audit; nil where it made none.
    package var record: RunRecord?
    /// Whether the run only audited the record of an earlier run.
    package var isVerification = false
    /// The comparison with an earlier run; nil where none was asked for.
    package var comparison: Comparison?
    /// What `--cleanup` deleted; nil where it was not asked for, or where the audit was not possible.
    package var cleanup: CleanupOutcome?
    package var audit: AuditOutcome = .skipped

    package init(configuration: RunConfiguration, environment: Environment) {
        self.configuration = configuration
        self.environment = environment
    }
}

extension RunReport: JSONReadable {
    package static var unread: RunReport {
        var configuration = RunConfiguration(target: "")
        configuration.percentiles = [50, 90, 99, 99.9, 99.99]
        return RunReport(configuration: configuration, environment: Environment())
    }

    package static let members: [Member<RunReport>] = [
        .written("schema") { _ in 1 },
        .object("config", configurationMembers),
        .required("env", \.environment, .plain),
        .optional("dataset", \.dataset, .plain),
        .usual("measured_seconds", \.measuredSeconds, .within(0...1e9)),
        .written("per_second") { $0.ratePerSecond },
        requestsPerSecond,
        .required("interrupted", \.isInterrupted, .plain),
        intervalMembers,
        operationMembers,
        .object("outcomes", RecorderTotals.outcomeMembers.map { $0.of(\.totals) }),
        .object("errors", RecorderTotals.errorMembers.map { $0.of(\.totals) }),
        .object("connections", connectionMembers),
        .object("cpu", processorMembers),
        .required("audit", \.audit, .plain),
        .written("record") { $0.record.map(RunRecordJSON.init) },
        .written("cleanup") { $0.cleanup?.text },
        .written("verdict") { JudgedRun($0) },
        .written("server_times_ms") { $0.serverTimes },
        .optional("latency_split_ms", \.totals.split, .plain),
        failoverMember,
        .written("series") { $0.series },
        serviceLevelMember,
        .written("compare") { $0.comparison },
        .written("exit") { $0.exitStatus.rawValue },
    ]

    /// A document of one service does not have it.
    private static let failoverMember = Member<RunReport>(
        write: { report, writer in
            guard let failover = report.failover else { return }
            var object = writer.nestedContainer(keyedBy: MemberKey.self, forKey: "failover")
            for member in Failover.members { try member.write(failover, &object) }
        },
        read: { report, reader in
            guard try reader.has("failover") else { return }
            let object = try reader.nestedContainer(keyedBy: MemberKey.self, forKey: "failover")
            var failover = Failover()
            for member in Failover.members { try member.read(&failover, object) }
            report.failover = failover
        }
    )

    private static let configurationMembers: [Member<RunReport>] =
        [.usual("hottest_post_share", \.hottestShare, .plain)]
        + RunConfiguration.members.map { $0.of(\.configuration) }

    private static let connectionMembers: [Member<RunReport>] =
        [
            .required("opened", \.openedConnectionCount, .within(0...1 << 50)),
            .required("lost", \.lostConnectionCount, .within(0...1 << 50)),
        ] + RecorderTotals.trafficMembers.map { $0.of(\.totals) }

    /// Of it and the measured time, which is read before, a reader makes the number of requests.
    private static let requestsPerSecond = Member<RunReport>(
        write: { try $1.encode(OrNull($0.requestsPerSecond), forKey: "requests_per_second") },
        read: { report, reader in
            guard try reader.has("requests_per_second") else { return }
            let rate = try Form<Double>.within(0...1e12).read("requests_per_second", reader)
            let count = (rate * report.measuredSeconds).rounded()
            report.totals.measuredRequestCount = UInt64(min(count, Double(Form.mostCounted)))
        }
    )

    private static let processorMembers: [Member<RunReport>] = [
        .optional("server_pid", \.serverPID, .plain),
        .written("server_seconds_per_million") { $0.secondsPerMillion($0.server) },
        .written("generator_seconds_per_million") { $0.secondsPerMillion($0.generator) },
        .optional("server", \.server, .plain),
        .optional("generator", \.generator, .plain),
        .required(
            "loop_idle_shares",
            \.loopIdleShares,
            Form(
                write: { $0.map { OrNull($0) } },
                read: { shares, _ in shares.compactMap(\.value) }
            )
        ),
        .optional(
            "loop_late_p99_ms",
            \.totals.loopLate99,
            Form(write: { $0 / 1e6 }, read: { milliseconds, _ in milliseconds * 1e6 })
        ),
        .written("busy_share") { $0.machine?.busyShare },
        machine,
        .written("other_share") { report in report.server.map { _ in report.otherShare } },
        .written("little_in_flight") { $0.littleInFlight },
    ]

    /// The machine was seen where its steal was.
    private static let machine = Member<RunReport>(
        write: { try $1.encode(OrNull($0.machine?.stealShare), forKey: "steal_share") },
        read: { report, reader in
            report.machine = try reader.decodeIfPresent(Double.self, forKey: "steal_share").map {
                let busy = try reader.decodeIfPresent(Double.self, forKey: "busy_share")
                return MachineUsage(busyShare: busy ?? 0, stealShare: $0)
            }
        }
    )

    /// The service levels that were asked for are read, and judged again.
    private static let serviceLevelMember = Member<RunReport>(
        write: { try $1.encode($0.serviceLevels, forKey: "slo") },
        read: { report, reader in
            let levels = try reader.decode([LevelText].self, forKey: "slo")
            report.configuration.serviceLevels = levels.compactMap {
                ServiceLevel(parsing: $0.text)
            }
        }
    )

    private struct LevelText: Decodable {
        var text: String
    }
}

extension RunReport {
    /// Operations answered with success within the measured time; each vote of a batch is one.
    package var measuredAnswerCount: UInt64 { totals.measuredAnswers.reduce(0, +) }

    /// Requests answered with success a second; a batch of votes is one.
    package var requestsPerSecond: Double { rate(totals.measuredRequestCount) }

    /// Operations answered with success a second, over the time that was really measured.
    package var ratePerSecond: Double { rate(measuredAnswerCount) }

    package func rate(_ count: UInt64) -> Double {
        measuredSeconds > 0 ? Double(count) / measuredSeconds : 0
    }

    /// The measure that users see: the response time, which equals the service time in a closed
    /// loop.
    package var shownMeasure: Measure { configuration.isOpenLoop ? .response : .service }

    /// CPU-seconds of `usage` per million measured answers; nil without answers.
    package func secondsPerMillion(_ usage: ProcessUsage?) -> Double? {
        guard let usage, measuredAnswerCount > 0 else { return nil }
        return usage.seconds / Double(measuredAnswerCount) * 1e6
    }

    /// The share of requests, all phases included, that were not answered with success.
    package var failedShare: Double {
        let outcomes = totals.outcomes
        return outcomes.sent > 0 ? 1 - Double(outcomes.ok) / Double(outcomes.sent) : 0
    }

    /// Successful answers a second of each whole measured second, in the order of time.
    package var measuredRates: [Double] {
        intervals.filter { $0.isMeasured && $0.seconds > 0.5 }
            .map { Double($0.answered.reduce(0, +)) / $0.seconds }
    }

    /// How much faster the last third of the seconds was than the first; nil under six seconds.
    package var drift: Double? {
        let rates = measuredRates
        guard rates.count >= 6 else { return nil }
        let third = rates.count / 3
        let first = rates.prefix(third).reduce(0, +)
        return first > 0 ? rates.suffix(third).reduce(0, +) / first - 1 : nil
    }

    /// Requests in flight by Little's law: throughput times mean service time.
    package var littleInFlight: Double? {
        totals.merged(.service).map { requestsPerSecond * $0.mean / 1e9 }
    }

    /// The share of all cores that neither the service, nor the generator, nor idleness took.
    package var otherShare: Double {
        guard let machine, let generator, measuredSeconds > 0 else { return 0 }
        let own = generator.seconds + (server?.seconds ?? 0)
        return max(0, machine.busyShare - own / measuredSeconds / Double(environment.coreCount))
    }

    package var verdict: Verdict {
        var inputs = Verdict.Inputs()
        inputs.generatorThreadShare = generator?.busiestThreadShare ?? 0
        inputs.loopIdleShare = loopIdleShares.min()
        inputs.serverThreadShare = server?.busiestThreadShare
        inputs.serverWaitShare = server?.waitShare
        inputs.stealShare = machine?.stealShare ?? 0
        // A service that is not visible would count among the other processes.
        inputs.otherShare = server == nil ? 0 : otherShare
        inputs.crowdedCoreCount = crowdedCoreCount
        if let slip = totals.merged(.slip), let response = totals.merged(.response) {
            inputs.slip99AndResponse99 = (
                Double(slip.valueAtPercentile(99)), Double(response.valueAtPercentile(99))
            )
        }
        inputs.loopLate99 = totals.loopLate99
        inputs.sampleCount = totals.merged(shownMeasure)?.totalCount ?? 0
        inputs.offeredAndAchieved = configuration.ratePerSecond.map { ($0, requestsPerSecond) }
        inputs.chanceOfPlan = chanceOfPlan
        inputs.unansweredCount = totals.outcomes.unknown
        inputs.sentCount = totals.outcomes.sent
        inputs.lostConnectionCount = UInt64(max(0, lostConnectionCount)) + recoveredLossCount
        // The rate of a ramp drifts on purpose.
        inputs.drift = configuration.ramp == nil ? drift : nil
        return Verdict(inputs)
    }

    /// Connections that were lost and opened again; with retries the ends of lives count among them.
    private var recoveredLossCount: UInt64 {
        let reconnectCount = totals.retries.reconnectCount
        return reconnectCount - min(totals.reopenedCount, reconnectCount)
    }

    /// How many requests a second fewer than planned a random plan may have by chance: three standard
    /// deviations of Poisson's distribution.
    private var chanceOfPlan: Double {
        guard let rate = configuration.ratePerSecond, configuration.arrival == .poisson else {
            return 0
        }
        return 3 * (rate / max(measuredSeconds, 1e-9)).squareRoot()
    }

    /// Whether other programs, or other machines of the host, took more of the machine than figures allow.
    package var isMachineBusy: Bool {
        Verdict.isBusy(steal: machine?.stealShare ?? 0, other: server == nil ? 0 : otherShare)
    }

    /// Whether a thread of the generator had no time left, so that the run shows nothing of the
    /// service.
    package var isGeneratorSaturated: Bool {
        Verdict.isSaturated(
            threadShare: generator?.busiestThreadShare ?? 0,
            loopIdleShare: loopIdleShares.min()
        )
    }

    /// The number of cores that service and generator share, where they, or all programs of the
    /// machine, left less than a fifth of the time unused.
    ///
    /// It is nil where they share none or had room.
    package var crowdedCoreCount: Int? {
        guard let server, let generator, measuredSeconds > 0 else { return nil }
        let shared = server.cores.intersection(generator.cores)
        guard !shared.isEmpty else { return nil }
        let all = server.cores.union(generator.cores)
        let own = (server.seconds + generator.seconds) / measuredSeconds / Double(all.count)
        let whole = machine.map { $0.busyShare + $0.stealShare } ?? 0
        return max(own, whole) > 0.8 ? shared.count : nil
    }

    package var figures: RunFigures {
        let seconds = intervals.filter { $0.isMeasured && $0.seconds > 0.5 }
        return RunFigures(
            settings: RunSettings(configuration),
            machine: RunFigures.machine(environment.processor, environment.coreCount),
            isComparable: verdict.isValid,
            rates: measuredRates,
            response99s: seconds.compactMap { interval in
                let latencies = interval.latencies
                let isTrusted =
                    PercentileText.trust(percentile: 99, count: latencies.count) != .hidden
                return isTrusted ? latencies.percentile(99).map { Double($0) / 1e6 } : nil
            },
            serverCost: secondsPerMillion(server)
        )
    }

    package var serviceLevels: [ServiceLevelResult] {
        configuration.serviceLevels.map {
            var result = ServiceLevelResult(level: $0, value: value(of: $0.subject))
            result.sampleCount = latencies($0.subject.operation)?.totalCount ?? 0
            return result
        }
    }

    /// The exit code: a contradiction outranks an incomplete run, which outranks a missed level.
    ///
    /// With a series it is that of all its runs.
    package var exitStatus: ExitStatus {
        if let series { return series.exitStatus }
        if audit.isFailed || !totals.outcomes.isConserved { return .auditFailed }
        if case .impossible = audit { return .failed }
        if cleanup?.isFailed == true { return .failed }
        if isVerification { return .success }
        if lostConnectionCount > 0 || openedConnectionCount == 0 { return .failed }
        if refusal != nil { return .failed }
        if configuration.isStrict, !verdict.isValid { return .invalid }
        if comparison?.judgement == .slower { return .regression }
        return serviceLevels.allSatisfy(\.isKept) ? .success : .sloMissed
    }

    /// The reason that the service gave most often, where it refused every vote; otherwise nil.
    package var refusal: String? {
        let vote = Int(Operation.vote.rawValue)
        let answered = intervals.reduce(0) { $0 + $1.answered[vote] }
        guard configuration.mix.weights[vote] > 0, answered == 0, totals.outcomes.error > 0 else {
            return nil
        }
        return totals.failures.serverErrors.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key
    }

    private func value(of subject: ServiceLevel.Subject) -> Double? {
        switch subject {
        case .percentile(let percentile, let operation):
            latencies(operation).map { Double($0.valueAtPercentile(percentile)) }
        case .maximum(let operation): latencies(operation).map { Double($0.max) }
        case .rate: ratePerSecond
        case .errors: failedShare * 100
        case .serverCPU: secondsPerMillion(server)
        case .audit: audit.isPassed ? 1 : 0
        }
    }

    private func latencies(_ operation: Operation?) -> LatencyHistogram? {
        guard let operation else { return totals.merged(shownMeasure) }
        return totals.latencies[LatencyKey(operation, shownMeasure)]
    }
}

/// A service level and whether the run kept it.
package struct ServiceLevelResult: Sendable, Equatable {
    package let level: ServiceLevel
    /// What was measured, in the subject's unit; nil where there is nothing.
    package let value: Double?
    /// The response times that a percentile is of.
    package var sampleCount: UInt64 = 0

    /// Whether it was kept; a level that was not measured was not kept.
    package var isKept: Bool { level.holds(value) }

    var valueText: String {
        guard let value else { return "not measured" }
        switch level.subject {
        case .percentile(let percentile, _):
            let text = "\(NumberFormat.milliseconds(value)) ms"
            switch PercentileText.trust(percentile: percentile, count: sampleCount) {
            case .good: return text
            case .rough: return "~" + text
            case .hidden: return "\(text), of only \(NumberFormat.count(sampleCount)) samples"
            }
        case .maximum: return "\(NumberFormat.milliseconds(value)) ms"
        case .rate: return "\(NumberFormat.rate(value))/s"
        case .errors: return NumberFormat.percent(value / 100, digits: 3)
        case .serverCPU: return "\(NumberFormat.fixed(value, 2)) s/M"
        case .audit: return value == 1 ? "ok" : "not ok"
        }
    }
}
