import FeedClient
import FeedConcurrency

/// What a run has found out so far: the result for the reports, and the knowledge for the audit.
struct RunFindings {
    /// The result, complete at the end of the run.
    private(set) var result: RunReport
    /// What the run knows of its posts.
    private(set) var knowledge = AuditKnowledge(postIDs: [])

    /// The phases of the load, once it has begun.
    private var phases: Phases?
    private var probe: Probe
    private var progress: ProgressState
    private var lastSample: Probe.Sample?

    /// The findings of a run that has done nothing, or knows the record of an earlier run.
    init(_ configuration: RunConfiguration, verifying record: RunRecord?) {
        result = RunReport(configuration: configuration, environment: Environment())
        probe = Probe(serverPID: configuration.serverPID)
        progress = ProgressState(coreCount: result.environment.coreCount)
        guard let record else { return }
        knowledge = AuditKnowledge(record)
        result.isVerification = true
        result.configuration.feed = record.feed
        result.configuration.postCount = record.posts.count
    }

    /// Whether a signal ended the run early; its planned votes are then not complete.
    var isInterrupted: Bool {
        get { result.isInterrupted }
        set {
            result.isInterrupted = newValue
            if newValue { knowledge.dropPlan() }
        }
    }

    /// Adopts what the preparation made.
    mutating func adopt(_ prepared: PreparedRun) {
        knowledge = prepared.knowledge
        result.totals.retries.add(prepared.retries)
        probe.findServer(prepared.address)
        result.serverPID = probe.serverPID
        if case .resp(let posts) = prepared.server { result.configuration.feed = posts.key }
        if case .ready(_, let hottestShare) = prepared.outcome {
            result.hottestShare = hottestShare
        }
        guard let dataset = prepared.dataset else { return }
        result.dataset = dataset
        result.configuration.postCount = dataset.postCount
        result.configuration.requestCount = dataset.upvoteCount + dataset.downvoteCount
    }

    /// Adds connections that opened.
    mutating func add(openedCount: Int) {
        result.openedConnectionCount += openedCount
    }

    /// Adds the result of a thread.
    mutating func add(_ worker: WorkerResult) {
        result.totals.add(worker.totals)
        result.lostConnectionCount += worker.lostConnectionCount
        if let idle = worker.loopIdleShare { result.loopIdleShares.append(idle) }
        knowledge.add(worker.tallies, worker.counts)
    }

    /// Adds what the audit sent again, the service's own times, which it read, and what it deleted.
    mutating func add(_ report: Audit.Report) {
        result.totals.retries.add(report.retries)
        result.serverTimes = result.isVerification ? nil : report.times
        result.cleanup = report.cleanup
    }

    /// The load begins.
    mutating func begin(_ phases: Phases) {
        self.phases = phases
        result.startNanoseconds = phases.startNanoseconds
        result.startMicroseconds = SystemClock.unixMicroseconds()
        lastSample = probe.sample()
    }

    /// The measured time begins.
    mutating func startMeasuring() { probe.startMeasuring() }

    /// The measured time ends; later calls change nothing.
    mutating func stopMeasuring() { probe.stopMeasuring() }

    /// Adds an interval of all threads; returns the progress line that is due.
    mutating func close(_ reported: ReportedInterval) -> String? {
        guard let phases else { preconditionFailure("A load has phases.") }
        let end = reported.endNanoseconds
        let elapsed = Double(end - min(end, phases.startNanoseconds)) / 1e9
        var interval = RunReport.Interval(
            endSeconds: elapsed,
            seconds: elapsed - (result.intervals.last?.endSeconds ?? 0),
            isMeasured: phases.isMeasuredInterval(reported.number),
            counts: reported.counts
        )
        interval.usage = usage()
        if result.configuration.histogramPrefix != nil {
            interval.encoded = reported.counts.measured.mapValues(LoggedHistogram.init)
        }
        result.intervals.append(interval)
        return progress.line(for: interval, reported.counts, result.configuration)
    }

    /// What was used since the interval before.
    private mutating func usage() -> IntervalUsage? {
        let sample = probe.sample()
        defer { lastSample = sample }
        return lastSample.map {
            IntervalUsage(from: $0, to: sample, coreCount: result.environment.coreCount)
        }
    }

    /// Takes the measured time, which ended at an instant.
    mutating func endLoad(at end: UInt64) {
        guard let phases else { preconditionFailure("A load has phases.") }
        probe.stopMeasuring()
        let from = phases.measureFromNanoseconds
        result.measuredSeconds = Double(end - min(end, from)) / 1e9
        result.generator = probe.generator
        result.server = probe.server
        result.machine = probe.machine
    }

    /// Completes the result with the outcome of the audit and what a later audit needs.
    mutating func finish(_ outcome: AuditOutcome, _ record: RunRecord?) {
        result.audit = outcome
        // Nobody can audit posts again that are deleted.
        result.record = result.cleanup?.isDone == true ? nil : record
    }
}
