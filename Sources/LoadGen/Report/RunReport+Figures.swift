internal import FeedClient
import Histogram

extension RunReport {
    /// Operations answered with success within the measured time; each vote of a batch is one.
    package var measuredAnswerCount: UInt64 { totals.measuredAnswers.reduce(0, +) }

    /// Requests answered with success a second; a batch of votes is one.
    package var requestsPerSecond: Double { rate(totals.measuredRequestCount) }

    /// Operations answered with success a second, over the time that was really measured.
    package var ratePerSecond: Double { rate(measuredAnswerCount) }

    /// `count` in the measured time, a second.
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

    /// What limited the run.
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
}

extension RunReport {
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
}

extension RunReport {
    /// Every service level asked for.
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
