// What a run does:
//
// 1. Reads the flags and raises the limit of open files (Plan/).
// 2. Reaches the service, looks at the feed, and creates the posts of the run in it, or imports
//    the posts of files, whose votes are then the load (Run/Preparation, over FeedClient).
// 3. Starts one event loop a thread, each with its share of the connections (Client/Worker).
// 4. Warm-up: the load runs; no statistic includes it, and the audit includes all of it.
// 5. Measures. A closed loop sends when an answer made room. An open loop sends when its plan says
//    so (Plan/), and times each request from that instant, so that a stall shows in full.
//    Requests come from a seeded stream per client (Workload/), the same in every run. With
//    --retry, requests that a lost connection leaves open are sent again (Client/Recovery) and
//    count once.
// 6. Stops sending, waits up to a second for the answers in flight, and calls the rest unknown.
// 7. Merges the threads' numbers (Recorder/): histograms are added, never percentiles averaged.
// 8. Audits (Run/Audit, over FeedClient): every acknowledged vote counted once, every post on the
//    pages once. The report records what the run knows, for an audit after a restart.
// 9. Says what limited the run and whether to trust it (Probe/), and makes the reports (Report/).
//
// No two folders name each other's types: Run/ uses all others but Series/, which makes several runs.

import FeedClient
import FeedConcurrency
import FeedProto
package import FeedTransport
import Histogram

/// One run from the first connection to the audit, on a loop of its own.
///
/// A ``RunMachine`` says what to do next. The run does it on its loop: it starts the tasks that
/// prepare and audit and the threads of the load, and takes their reports as messages.
package final class Run {
    private let configuration: RunConfiguration
    /// The addresses of the target, in the order in which to try them.
    private let addresses: [SocketAddress]
    /// The services of a run that has several; none in one with one.
    private let services: [LoadService]
    private let failover: FailoverMeter?
    private let loop: EventLoop
    /// Shows a progress line; an empty one clears it.
    private let showProgress: (String) -> Void
    private let clientID: ClientID?
    /// The files that supply the posts and votes of the run; nil in a run of a workload.
    private let dataset: Dataset?
    /// The record of an earlier run, where this run only audits it again.
    private let record: RunRecord?

    private var machine: RunMachine
    private var findings: RunFindings
    private let threads = LoadThreads()
    /// What the preparation made; nil before its end, and in a run that only audits.
    private var prepared: PreparedRun?
    /// What an earlier run made and this one continues; nil in a run that makes its own.
    var continued: PreparedRun?
    /// The client of the audit, once it is connected.
    private var auditClient: FeedClient?
    /// The task that prepares the run or audits it.
    private var task: Task<Void, Never>?
    private var failure: RunFailure?

    /// Prepares a run, and looks up a target that is a name, which blocks; nothing is sent before
    /// `execute()`.
    package init(
        _ configuration: RunConfiguration,
        dataset: Dataset? = nil,
        verifying record: RunRecord? = nil,
        lookup: HostLookup = .system,
        showProgress: @escaping (String) -> Void = { _ in }
    ) throws(RunFailure) {
        self.configuration = configuration
        self.dataset = dataset
        self.record = record
        self.showProgress = showProgress
        clientID = configuration.retryLimit > 0 ? ClientID() : nil
        machine = RunMachine(configuration, isVerification: record != nil)
        services = try configuration.services(by: lookup)
        failover = services.isEmpty ? nil : FailoverMeter()
        addresses =
            services.isEmpty
            ? try configuration.addresses(by: lookup) : services.map(\.address)
        ProcessSetup.ignoreBrokenPipes()
        try configuration.checkDescriptors()
        do {
            loop = try EventLoop(configuration: .load, budget: BufferBudget())
        } catch {
            throw .system(error.description)
        }
        findings = RunFindings(configuration, verifying: record)
    }

    /// Runs to the end and returns the result; blocks the calling thread.
    package func execute() throws(RunFailure) -> RunReport {
        do {
            for number in Self.stoppingSignals {
                try loop.onSignal(number) { [unowned self] in handle(.interrupted) }
            }
        } catch {
            throw .system(error.description)
        }
        if let record {
            verify(record)
        } else if let continued {
            receive(continued)
        } else {
            prepare()
        }
        loop.run()
        threads.join()
        if let failure { throw failure }
        return findings.result
    }

    /// What a later run continues on the same posts, after the end of this one.
    var continuation: PreparedRun? { prepared?.continued(knowing: findings.knowledge) }

    /// Settings of the whole process, to be made before it opens anything.
    package static func prepareProcess() { ProcessSetup.openStandardStreams() }

    private static let stoppingSignals: [Int32] = [2, 15]
}

/// What the machine says.
extension Run {
    private func handle(_ event: RunEvent) {
        let now = MonotonicInstant.now.nanoseconds
        for action in machine.handle(event, at: now) { perform(action) }
    }

    private func perform(_ action: RunAction) {
        switch action {
        case .startThreads: startThreads()
        case .begin(let phases): begin(phases)
        case .startMeasuring: findings.probe.startMeasuring()
        case .stopMeasuring: findings.probe.stopMeasuring()
        case .stopSending:
            findings.isInterrupted = true
            threads.stopSending()
        case .report(let interval):
            if let line = findings.close(interval) { showProgress(line) }
        case .endLoad(let end): findings.endLoad(at: end, failover)
        case .audit: audit()
        case .cancelAudit:
            findings.isInterrupted = true
            task?.cancel()
        case .cancelAuditIfLost:
            findings.isInterrupted = true
            cancelAuditIfLost()
        case .finish(let outcome): finish(outcome)
        case .fail(let failure):
            self.failure = failure
            task?.cancel()
            loop.stop()
        }
    }

    private func finish(_ outcome: AuditOutcome) {
        showProgress("")
        findings.finish(
            outcome,
            record ?? prepared?.record(findings.knowledge, configuration, hasFiles: dataset != nil)
        )
        loop.stop()
    }
}

/// What tasks do before and after the load.
extension Run {
    private func prepare() {
        let preparation = Preparation(
            configuration: configuration,
            addresses: addresses,
            clientID: clientID,
            dataset: dataset,
            showProgress: progressShower()
        )
        let run = LoopBound(self, to: loop.mailbox)
        task = Task {
            do throws(RunFailure) {
                let prepared = try await preparation.run()
                run.post { $0.receive(prepared) }
            } catch {
                run.post { $0.handle(.failed(error)) }
            }
        }
    }

    private func receive(_ prepared: PreparedRun) {
        self.prepared = prepared
        findings.adopt(prepared)
        switch prepared.outcome {
        case .ready: handle(.prepared)
        case .endedEarly(let failure): handle(.endedEarly(failure))
        }
    }

    private func audit() {
        guard let prepared else { preconditionFailure("A run is prepared before its audit.") }
        if configuration.progressInterval != nil { showProgress("auditing") }
        let knowledge = findings.knowledge
        let audit: any RunAudit =
            switch prepared.server {
            case .feed(let service): Audit(configuration, knowledge, of: prepared, at: service)
            case .resp(let posts):
                RESPAudit(
                    address: prepared.address,
                    posts: posts,
                    knowledge: knowledge,
                    configuration: configuration
                )
            }
        start(audit) { .audited(.impossible($0.cause)) }
    }

    private func verify(_ record: RunRecord) {
        let target = configuration.target
        let audit = Audit(configuration, addresses, findings.knowledge, of: record)
        start(audit) { .failed(.unreachable(target: target, cause: $0.cause)) }
    }

    private func start(
        _ audit: any RunAudit,
        unreachable: @escaping @Sendable (FeedClientError) -> RunEvent
    ) {
        let run = LoopBound(self, to: loop.mailbox)
        task = Task {
            do throws(FeedClientError) {
                let report = try await audit.run { client in
                    run.post {
                        $0.auditClient = client
                        $0.handle(.auditConnected)
                    }
                }
                run.post {
                    $0.findings.add(report)
                    $0.handle(.audited(report.outcome))
                }
            } catch {
                run.post { $0.handle(unreachable(error)) }
            }
        }
    }

    private func cancelAuditIfLost() {
        Task { [task, auditClient] in
            if await auditClient?.history()?.isConnected != true { task?.cancel() }
        }
    }

    /// Shows progress lines of a task; none where there are none.
    private func progressShower() -> @Sendable (String) -> Void {
        guard configuration.progressInterval != nil else { return { _ in } }
        let run = LoopBound(self, to: loop.mailbox)
        return { line in run.post { $0.showProgress(line) } }
    }
}

extension Run {
    private func startThreads() {
        guard let prepared, case .ready(let workload, _) = prepared.outcome else {
            preconditionFailure("A run has a workload before its threads start.")
        }
        let run = LoopBound(self, to: loop.mailbox)
        do throws(TransportError) {
            try threads.start(
                configuration,
                workload,
                to: prepared.address,
                services,
                failover,
                as: prepared.identity(clientID),
                started: { worker in run.post { $0.threads.add(worker) } },
                report: { event in run.post { $0.receive(event) } }
            )
        } catch {
            handle(.failed(.system(error.description)))
        }
    }

    private func receive(_ event: WorkerEvent) {
        switch event {
        case .connected(let openedCount, let failures):
            findings.result.openedConnectionCount += openedCount
            handle(.connected(openedCount: openedCount, failures: failures))
        case .interval(let number, let end, let counts):
            handle(.interval(number, endNanoseconds: end, counts))
        case .finished(let worker):
            findings.add(worker)
            handle(.finished(endNanoseconds: worker.endNanoseconds))
        }
    }

    private func begin(_ phases: Phases) {
        findings.begin(phases)
        threads.begin(phases)
        handle(.warmupEnded, at: phases.measureFromNanoseconds)
        if phases.measureUntilNanoseconds < .max {
            handle(.measuringEnded, at: phases.measureUntilNanoseconds)
        }
    }

    private func handle(_ event: RunEvent, at instant: UInt64) {
        let delay = max(.zero, MonotonicInstant(nanoseconds: instant).duration(since: .now))
        do throws(TransportError) {
            try loop.addTimer(after: delay) { [unowned self] in handle(event) }
        } catch {
            handle(.failed(.system(error.description)))
        }
    }
}

@available(*, unavailable)
extension Run: Sendable {}

/// What a run has found out so far: the result for the reports, and the knowledge for the audit.
struct RunFindings {
    fileprivate(set) var result: RunReport
    private(set) var knowledge = AuditKnowledge(postIDs: [])

    /// The phases of the load, once it has begun.
    private var phases: Phases?
    fileprivate var probe: Probe
    private var progress: ProgressState
    private var lastSample: Probe.Sample?

    /// The findings of a run that has done nothing, or knows the record of an earlier run.
    init(_ configuration: RunConfiguration, verifying record: RunRecord?) {
        result = RunReport(configuration: configuration, environment: Environment())
        probe = Probe(serverPID: configuration.serverPID)
        progress = ProgressState(coreCount: result.environment.coreCount)
        guard let record else { return }
        knowledge = AuditKnowledge(
            accounts: record.accounts,
            createdIDs: Set(record.createdIDs),
            unknownTitles: Set(record.unknownTitles)
        )
        result.isVerification = true
        result.configuration.feed = record.feed
        result.configuration.postCount = record.postIDs.count
    }

    /// Whether a signal ended the run early; its planned votes are then not complete.
    var isInterrupted: Bool {
        get { result.isInterrupted }
        set {
            result.isInterrupted = newValue
            if newValue { knowledge.dropPlan() }
        }
    }

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

    mutating func begin(_ phases: Phases) {
        self.phases = phases
        result.startNanoseconds = phases.startNanoseconds
        result.startMicroseconds = SystemClock.unixMicroseconds()
        lastSample = probe.sample()
    }

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

    private mutating func usage() -> IntervalUsage? {
        let sample = probe.sample()
        defer { lastSample = sample }
        return lastSample.map {
            IntervalUsage(from: $0, to: sample, coreCount: result.environment.coreCount)
        }
    }

    /// Takes the measured time, which ended at an instant.
    mutating func endLoad(at end: UInt64, _ failover: FailoverMeter?) {
        guard let phases else { preconditionFailure("A load has phases.") }
        result.failover = failover?.result(from: phases.measureFromNanoseconds, until: end)
        probe.stopMeasuring()
        let from = phases.measureFromNanoseconds
        result.measuredSeconds = Double(end - min(end, from)) / 1e9
        (result.server, result.generator, result.machine) = probe.measured
    }

    /// Completes the result with the outcome of the audit and what a later audit needs.
    mutating func finish(_ outcome: AuditOutcome, _ record: RunRecord?) {
        result.audit = outcome
        // Nobody can audit posts again that are deleted.
        result.record = result.cleanup?.isDone == true ? nil : record
    }
}

/// Collects intervals until the next line of progress is due.
private struct ProgressState {
    private let coreCount: Int
    private var counts: IntervalCounts?
    private var usage = IntervalUsage()
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
        if let more = interval.usage {
            usage.add(more, seconds: seconds, otherSeconds: interval.seconds)
        }
        seconds += interval.seconds
        // Intervals are seconds: half of one covers a timer that fires a little early.
        guard let counts, seconds + 0.5 > due / .seconds(1) else { return nil }
        defer { self = ProgressState(coreCount: coreCount) }
        let total = configuration.duration.map { ($0 + configuration.warmup) / .seconds(1) }
        let ofTotal = total.map { "/\(Int($0.rounded()))s" } ?? ""
        return
            (["\(Int(interval.endSeconds.rounded()))s\(ofTotal)"]
            + figures(counts, configuration.mix.operations) + processors)
            .joined(separator: "  ")
    }

    private func figures(_ counts: IntervalCounts, _ operations: [Operation]) -> [String] {
        func rate(_ count: UInt64) -> String {
            NumberFormat.rate(seconds > 0 ? Double(count) / seconds : 0)
        }
        var parts = ["\(rate(counts.answered.reduce(0, +))) op/s"]
        if operations.count > 1 {
            let each = operations.map { "\($0.name) \(rate(counts.answered[Int($0.rawValue)]))" }
            parts[0] += " (\(each.joined(separator: " ")))"
        }
        let latencies = counts.latencies
        if latencies.totalCount > 0 {
            let p50 = PercentileText.cell(latencies, percentile: 50)
            let p99 = PercentileText.cell(latencies, percentile: 99)
            let maximum = NumberFormat.milliseconds(Double(latencies.max))
            parts.append("p50 \(p50)  p99 \(p99)  max \(maximum) ms")
        }
        return parts + ["err \(counts.errorCount)"]
    }

    /// The cores that service and generator used, and the time that the host gave to others.
    private var processors: [String] {
        [
            usage.server.map { "srv \(NumberFormat.fixed($0, 2)) cpu" },
            usage.generator.map { "gen \(NumberFormat.fixed($0, 2)) cpu" },
            usage.steal.map { "steal \(NumberFormat.percent($0 / Double(coreCount)))" },
        ].compactMap(\.self)
    }
}

/// The threads of a load, each with its share of the connections.
///
/// The run tells them when to begin and to stop; all else it learns from their reports.
final class LoadThreads {
    private var threads: [EventLoopThread] = []
    private var workers: [LoopBound<Worker>] = []

    /// Starts a thread for each share of the connections of a run.
    ///
    /// `started` passes each worker to the run's loop, which adds it, and `report` the events of
    /// all workers.
    func start(
        _ configuration: RunConfiguration,
        _ workload: Workload,
        to address: SocketAddress,
        _ services: [LoadService],
        _ failover: FailoverMeter?,
        as identity: RunIdentity?,
        started: @escaping @Sendable (LoopBound<Worker>) -> Void,
        report: @escaping @Sendable (WorkerEvent) -> Void
    ) throws(TransportError) {
        for thread in 0..<configuration.threadCount {
            let setup = WorkerSetup(
                configuration: configuration,
                workload: workload,
                address: address,
                services: services,
                failover: failover,
                thread: thread,
                identity: identity,
                report: report
            )
            let loopThread = try EventLoopThread(
                name: "load-\(thread)",
                configuration: .load,
                budget: BufferBudget()
            ) { loop in
                let worker = Worker(setup, on: loop)
                started(LoopBound(worker, to: loop.mailbox))
                do throws(TransportError) {
                    try worker.connect()
                } catch {
                    report(.connected(openedCount: 0, failures: Failures()))
                }
            }
            threads.append(loopThread)
        }
    }

    func add(_ worker: LoopBound<Worker>) {
        workers.append(worker)
    }

    func begin(_ phases: Phases) {
        for worker in workers { worker.post { $0.begin(phases) } }
    }

    func stopSending() {
        for worker in workers { worker.post { $0.stopSending(isWaiting: true) } }
    }

    /// Ends the threads, waits for their end and lets go of the workers, whose reports keep the run.
    func join() {
        for thread in threads { thread.stop() }
        for thread in threads { thread.join() }
        threads = []
        workers = []
    }
}

@available(*, unavailable)
extension LoadThreads: Sendable {}

extension TransportConfiguration {
    /// A client may be silent, and a service may be slow to complete a frame; requests have
    /// timeouts.
    static var load: Self {
        var configuration = Self()
        configuration.measuresIdleTime = true
        configuration.idleTimeout = nil
        configuration.partialReadTimeout = nil
        return configuration
    }
}

extension RunConfiguration {
    /// Raises the limit of open files; refuses a run whose connections would need more.
    func checkDescriptors() throws(RunFailure) {
        let needed = clientCount + Self.spareDescriptorCount
        let limit = ProcessSetup.raiseOpenFileLimit()
        guard limit >= needed else { throw .tooFewDescriptors(needed: needed, limit: limit) }
    }

    /// Descriptors beside those of the connections: standard ones, loops, timers, /proc.
    private static let spareDescriptorCount = 64
}
