internal import FeedClient
internal import FeedImport
import Foundation
import Histogram

extension ReportDocument {
    /// The result that the document reports; `path` names the file in an error.
    ///
    /// The result has what the text report shows, and whole histograms. Of an interval it has the
    /// figures of the report, and no record for a later audit.
    ///
    /// - Throws: `RunFailure.badFile` where a member is missing or has a value that no run has.
    package func result(path: String) throws(RunFailure) -> RunResult {
        let file: ReportMembers
        do {
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            file = try decoder.decode(ReportMembers.self, from: JSONEncoder().encode(root))
        } catch {
            throw .badFile(
                path,
                "The report lacks a member that every run has: \(Self.place(error))"
            )
        }
        let intervals: [RunResult.Interval]
        do {
            try file.check()
            intervals = try RunResult.intervals(file.intervals)
        } catch {
            throw .badFile(path, error.description)
        }
        guard let configuration = RunConfiguration(file) else {
            throw .badFile(path, "Its config has values that loadgen does not take.")
        }
        var result = RunResult(configuration: configuration, environment: Environment(file.env))
        result.totals = RecorderTotals(file)
        guard result.totals.latencies.count == Self.histogramCount(file),
            (result.totals.split == nil) == (file.latencySplitMs == nil)
        else {
            throw .badFile(path, "A histogram (hdr) is none that loadgen encodes.")
        }
        result.dataset = file.dataset.map(DatasetResult.init)
        result.intervals = intervals
        result.measuredSeconds = file.measuredSeconds ?? 0
        result.hottestShare = file.config.hottestPostShare ?? 0
        result.isInterrupted = file.interrupted
        result.openedConnectionCount = file.connections.opened
        result.lostConnectionCount = file.connections.lost
        result.serverPID = file.cpu.serverPid
        result.server = file.cpu.server.map(ProcessUsage.init)
        result.generator = file.cpu.generator.map(ProcessUsage.init)
        result.loopIdleShares = file.cpu.loopIdleShares.compactMap(\.self)
        result.machine = file.cpu.stealShare.map {
            MachineUsage(busyShare: file.cpu.busyShare ?? 0, stealShare: $0)
        }
        result.audit = AuditOutcome(file.audit)
        return result
    }

    private static func place(_ error: any Error) -> String {
        switch error {
        case DecodingError.keyNotFound(let key, let context):
            (context.codingPath + [key]).map(\.stringValue).joined(separator: ".")
        case DecodingError.typeMismatch(_, let context),
            DecodingError.valueNotFound(_, let context),
            DecodingError.dataCorrupted(let context):
            context.codingPath.map(\.stringValue).joined(separator: ".")
        default: "\(error)"
        }
    }

    /// The histograms that a result keeps: in a closed loop one stands for response and service.
    private static func histogramCount(_ file: ReportMembers) -> Int {
        file.ops.values.reduce(0) { sum, operation in
            let isOpenLoop = file.config.rate != nil
            let measures = [
                operation.serviceMs, isOpenLoop ? operation.responseMs : nil, operation.slipMs,
            ]
            return sum + measures.compactMap(\.self).count
        }
    }
}

extension RunConfiguration {
    /// What a report says was asked for; nil where it has a value that no run has.
    fileprivate init?(_ file: ReportMembers) {
        let given = file.config
        guard let mode = PipelineMode(rawValue: given.pipelineMode),
            let wireProtocol = WireProtocol(rawValue: given.protocol ?? "feed"),
            let arrival = Arrival(rawValue: given.arrival), let mix = Mix(parsing: given.mix),
            let keys = KeyDistribution(parsing: given.keys), given.clients > 0
        else { return nil }
        self.init(target: given.target)
        runID = given.runId ?? ""
        self.wireProtocol = wireProtocol
        clientCount = given.clients
        threadCount = given.threads
        pipelineDepth = given.pipeline
        batchVoteCount = given.batch
        pipelineMode = mode
        ratePerSecond = given.rate
        self.arrival = arrival
        duration = given.durationSeconds.map { .seconds($0) }
        requestCount = given.requests
        warmup = .seconds(given.warmupSeconds)
        self.mix = mix
        postCount = given.posts
        feed = given.feed
        voterCount = given.voters
        self.keys = keys
        pageSize = given.pageSize
        seed = given.seed
        timeout = .seconds(given.timeoutSeconds)
        retryLimit = given.retry
        isLatencySplit = given.split ?? false
        isVerified = given.verify
        isStrict = given.strict ?? false
        think = given.think.flatMap(ThinkTime.init(parsing:)) ?? .none
        if let rates = given.ramp, rates.count == 2, let length = duration,
            rates.allSatisfy({ $0 >= 0 }), rates != [0, 0]
        {
            ramp = RateRamp(from: rates[0], to: rates[1], over: length)
        }
        connectionLife.requestCount = given.reconnectEvery
        connectionLife.age = given.connectionLifeSeconds.map { .seconds($0) }
        percentiles = given.percentiles ?? [50, 90, 99, 99.9, 99.99]
        serviceLevels = file.slo.compactMap { ServiceLevel(parsing: $0.text) }
    }
}

extension RecorderTotals {
    /// The numbers that a report has.
    fileprivate init(_ file: ReportMembers) {
        self.init()
        outcomes.sent = file.outcomes.sent
        outcomes.ok = file.outcomes.ok
        outcomes.error = file.outcomes.error
        outcomes.timeout = file.outcomes.timeout
        outcomes.lost = file.outcomes.lost
        failures = Failures(
            causes: Dictionary(
                uniqueKeysWithValues: file.errors.causes.compactMap { name, count in
                    Failures.Cause(rawValue: name).map { ($0, count) }
                }
            ),
            serverErrors: file.errors.server,
            firstProtocolError: file.errors.firstProtocolError
        )
        retries.retryCount = file.outcomes.retries
        retries.reconnectCount = file.outcomes.reconnects
        retries.duplicateCount = file.outcomes.duplicates
        lateAnswerCount = file.outcomes.lateAnswers
        lateSendCount = file.outcomes.lateSends
        unsentCount = file.outcomes.unsent
        loopLate99 = file.cpu.loopLateP99Ms.map { $0 * 1e6 }
        split = file.latencySplitMs.flatMap(LatencySplit.init)
        let requests = (file.requestsPerSecond ?? 0) * (file.measuredSeconds ?? 0)
        measuredRequestCount = UInt64(max(0, min(requests.rounded(), 0x1p50)))
        traffic = Traffic(
            readCount: file.connections.reads,
            writeCount: file.connections.writes,
            bytesIn: file.connections.bytesIn,
            bytesOut: file.connections.bytesOut
        )
        for (name, found) in file.ops {
            guard let operation = Operation(name: name[...]) else { continue }
            measuredAnswers[Int(operation.rawValue)] = found.count
            let isOpenLoop = file.config.rate != nil
            let measures: [(Measure, ReportMembers.Operation.Latency?)] = [
                (.service, found.serviceMs), (.response, isOpenLoop ? found.responseMs : nil),
                (.slip, found.slipMs),
            ]
            for case (let measure, let latency?) in measures {
                latencies[LatencyKey(operation, measure)] =
                    HistogramEncoding.histogram(base64: latency.hdr)
            }
        }
    }
}

extension RunResult {
    /// The intervals of a report; failures are counted from the start again.
    fileprivate static func intervals(_ values: [JSONValue]) throws(ReportFault) -> [Interval] {
        var intervals: [Interval] = []
        var outcomes = Outcomes()
        var reconnectCount: UInt64 = 0
        for (number, value) in values.enumerated() {
            let place = "intervals[\(number)]"
            outcomes.error += try value.count("errors", in: place)
            outcomes.timeout += try value.count("timeouts", in: place)
            outcomes.lost += try value.count("lost", in: place)
            reconnectCount += try value.count("reconnects", in: place)
            var counts = IntervalCounts(answered: [], latencies: LatencyScale.makeHistogram())
            for operation in Operation.allCases {
                counts.answered.append(try value.count(operation.name, in: place))
            }
            counts.outcomes = outcomes
            counts.reconnectCount = reconnectCount
            var interval = Interval(
                endSeconds: try value.number("end_seconds", 0...1e9, in: place),
                seconds: try value.number("seconds", 0...1e9, in: place),
                isMeasured: value["measured"] == .bool(true),
                counts: counts
            )
            let latencies = value["response_ms"] ?? .null
            interval.latencies = try LatencySummary(latencies, in: "\(place).response_ms")
            interval.usage = value["cpu"].flatMap { IntervalUsage($0, seconds: interval.seconds) }
            intervals.append(interval)
        }
        return intervals
    }
}
