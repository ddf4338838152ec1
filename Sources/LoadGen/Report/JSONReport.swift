internal import FeedClient
import Foundation
import Histogram

/// The whole result for programs, schema 1; docs/LOADGEN.md says what each member means.
package struct JSONReport {
    private let result: RunResult

    /// A report of `result`.
    package init(_ result: RunResult) {
        self.result = result
    }

    /// The text, always valid JSON with sorted members, with a newline at its end.
    package func rendered() -> String {
        JSONText.rendered(Members(result))
    }
}

/// The JSON of a report.
enum JSONText {
    /// The text of `members`, whose names in snake_case are the keys, with a newline at its end.
    static func rendered(_ members: some Encodable) -> String {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            return String(decoding: try encoder.encode(members), as: UTF8.self) + "\n"
        } catch {
            preconditionFailure("A report has texts and finite numbers: \(error)")
        }
    }
}

/// A value that is null where there is none.
struct OrNull<Value: Encodable>: Encodable {
    let value: Value?

    init(_ value: Value?) {
        self.value = value
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let value { try container.encode(value) } else { try container.encodeNil() }
    }
}

extension OrNull<Double> {
    /// A number; null where it is infinite or no number, which JSON does not have.
    init(finite value: Double?) {
        self.value = value.flatMap { $0.isFinite ? $0 : nil }
    }
}

/// The members of the report; their names in snake_case are the keys.
private struct Members: Encodable {
    let schema = 1
    let config: Configuration
    let env: MachineJSON
    let dataset: OrNull<DatasetJSON>
    let measuredSeconds: OrNull<Double>
    let perSecond: OrNull<Double>
    let requestsPerSecond: OrNull<Double>
    let interrupted: Bool
    let intervals: [IntervalJSON]
    let ops: [String: OperationJSON]
    let outcomes: Outcomes
    let errors: Errors
    let connections: Connections
    let cpu: ProcessorJSON
    let audit: AuditJSON
    let record: OrNull<RunRecordJSON>
    let cleanup: OrNull<String>
    let verdict: VerdictJSON
    let serverTimesMs: OrNull<ServerTimesJSON>
    let latencySplitMs: OrNull<LatencySplitJSON>
    let series: OrNull<SeriesJSON>
    let slo: [Level]
    let compare: OrNull<ComparisonJSON>
    let exit: Int32

    init(_ result: RunResult) {
        config = Configuration(result)
        env = MachineJSON(result.environment)
        dataset = OrNull(result.dataset.map(DatasetJSON.init))
        measuredSeconds = OrNull(finite: result.measuredSeconds)
        perSecond = OrNull(finite: result.ratePerSecond)
        requestsPerSecond = OrNull(finite: result.requestsPerSecond)
        interrupted = result.isInterrupted
        let operations = result.configuration.mix.operations
        intervals = zip(result.intervals, [nil] + result.intervals.map(Optional.some))
            .map { IntervalJSON($0, after: $1, operations) }
        ops = Dictionary(
            uniqueKeysWithValues: operations.map { ($0.name, OperationJSON(result, $0)) }
        )
        outcomes = Outcomes(result.totals)
        errors = Errors(result.totals)
        connections = Connections(result)
        cpu = ProcessorJSON(result)
        audit = AuditJSON(result.audit)
        record = OrNull(result.record.map(RunRecordJSON.init))
        cleanup = OrNull(result.cleanup?.text)
        verdict = VerdictJSON(result)
        serverTimesMs = OrNull(result.serverTimes.map(ServerTimesJSON.init))
        latencySplitMs = OrNull(result.totals.split.map(LatencySplitJSON.init))
        series = OrNull(result.series.map(SeriesJSON.init))
        slo = result.serviceLevels.map(Level.init)
        compare = OrNull(result.comparison.map(ComparisonJSON.init))
        exit = result.exitStatus.rawValue
    }

    struct Configuration: Encodable {
        let runId: String
        let target: String
        let `protocol`: String
        let clients: Int
        let threads: Int
        let pipeline: Int
        let batch: Int
        let pipelineMode: String
        let loop: String
        let rate: OrNull<Double>
        let ramp: OrNull<[Double]>
        let arrival: String
        let durationSeconds: OrNull<Double>
        let requests: OrNull<UInt64>
        let warmupSeconds: Double
        let mix: String
        let posts: Int
        let feed: String
        let voters: Int
        let ballotBytes: Int
        let keys: String
        let percentiles: [Double]
        let hottestPostShare: OrNull<Double>
        let pageSize: Int
        let seed: UInt64
        let timeoutSeconds: Double
        let retry: Int
        let think: String
        let connectRate: Double
        let reconnectEvery: OrNull<UInt64>
        let connectionLifeSeconds: OrNull<Double>
        let split: Bool
        let verify: Bool
        let strict: Bool

        init(_ result: RunResult) {
            let given = result.configuration
            runId = given.runID
            target = given.target
            `protocol` = given.wireProtocol.rawValue
            clients = given.clientCount
            threads = given.threadCount
            pipeline = given.pipelineDepth
            batch = given.batchVoteCount
            pipelineMode = given.pipelineMode.rawValue
            loop = given.isOpenLoop ? "open" : "closed"
            rate = OrNull(finite: given.ratePerSecond)
            ramp = OrNull(given.ramp.map { [$0.first, $0.last] })
            arrival = given.arrival.rawValue
            durationSeconds = OrNull(given.duration.map { $0 / .seconds(1) })
            requests = OrNull(given.requestCount)
            warmupSeconds = given.warmup / .seconds(1)
            mix = given.mix.description
            posts = given.postCount
            feed = given.feed
            voters = given.voterCount
            ballotBytes = given.ballotByteCount
            keys = given.keys.description
            percentiles = given.percentiles
            hottestPostShare = OrNull(finite: result.hottestShare)
            pageSize = given.pageSize
            seed = given.seed
            timeoutSeconds = given.timeout / .seconds(1)
            retry = given.retryLimit
            think = given.think.description
            connectRate = given.connectsPerSecond
            reconnectEvery = OrNull(given.connectionLife.requestCount)
            connectionLifeSeconds = OrNull(given.connectionLife.age.map { $0 / .seconds(1) })
            split = given.isLatencySplit
            verify = given.isVerified
            strict = given.isStrict
        }
    }

    struct Outcomes: Encodable {
        let sent: UInt64
        let ok: UInt64
        let error: UInt64
        let timeout: UInt64
        let lost: UInt64
        let lateAnswers: UInt64
        let lateSends: UInt64
        let unsent: UInt64
        let retries: UInt64
        let reconnects: UInt64
        let duplicates: UInt64
        let conserved: Bool

        init(_ totals: RecorderTotals) {
            sent = totals.outcomes.sent
            ok = totals.outcomes.ok
            error = totals.outcomes.error
            timeout = totals.outcomes.timeout
            lost = totals.outcomes.lost
            lateAnswers = totals.lateAnswerCount
            lateSends = totals.lateSendCount
            unsent = totals.unsentCount
            retries = totals.retries.retryCount
            reconnects = totals.retries.reconnectCount
            duplicates = totals.retries.duplicateCount
            conserved = totals.outcomes.isConserved
        }
    }

    struct Errors: Encodable {
        let total: UInt64
        let causes: [String: UInt64]
        let server: [String: UInt64]
        let firstProtocolError: OrNull<String>

        init(_ totals: RecorderTotals) {
            let failures = totals.failures
            total = totals.outcomes.error + totals.outcomes.unknown
            causes = Dictionary(
                uniqueKeysWithValues: failures.causes.map { ($0.key.rawValue, $0.value) }
            )
            server = failures.serverErrors
            firstProtocolError = OrNull(failures.firstProtocolError)
        }
    }

    struct Connections: Encodable {
        let opened: Int
        let lost: Int
        let reopened: UInt64
        let reads: UInt64
        let writes: UInt64
        let bytesIn: UInt64
        let bytesOut: UInt64

        init(_ result: RunResult) {
            opened = result.openedConnectionCount
            lost = result.lostConnectionCount
            reopened = result.totals.reopenedCount
            reads = result.totals.traffic.readCount
            writes = result.totals.traffic.writeCount
            bytesIn = result.totals.traffic.bytesIn
            bytesOut = result.totals.traffic.bytesOut
        }
    }

    struct Level: Encodable {
        let text: String
        let value: OrNull<Double>
        let kept: Bool

        init(_ level: ServiceLevelResult) {
            text = level.level.text
            value = OrNull(finite: level.value)
            kept = level.isKept
        }
    }
}

/// Where a run took place, in a JSON report.
struct MachineJSON: Encodable {
    let processor: String
    let cores: Int
    let kernel: String
    let command: String
    let startTime: String
    let debugBuild = Environment.isDebugBuild

    init(_ environment: Environment) {
        processor = environment.processor
        cores = environment.coreCount
        kernel = environment.kernel
        command = environment.command
        startTime = environment.startTime
    }
}
