// What a run does:
//
// 1. Reads the flags and raises the limit of open files (Plan/).
// 2. Reaches the service, looks at the feed, and creates the posts of the run in it (Run/), or
//    imports those of files, whose votes are then the load (Dataset/).
// 3. Starts one event loop a thread, each with its share of the connections (Client/Worker).
// 4. Warm-up: the load runs; no statistic includes it, and the audit includes all of it.
// 5. Measures. A closed loop sends when an answer made room. An open loop sends when its plan says
//    so (Plan/), and times each request from that instant, so that a stall shows in full.
//    Requests come from a seeded stream per client (Workload/), the same in every run. With
//    --retry, requests that a lost connection leaves open are sent again (Client/Recovery) and
//    count once.
// 6. Stops sending, waits up to a second for the answers in flight, and calls the rest unknown.
// 7. Merges the threads' numbers (Recorder/): histograms are added, never percentiles averaged.
// 8. Audits (Audit/): every acknowledged vote counted once, every post on the pages once. The report
//    records what the run knows, for an audit after the service was started again.
// 9. Says what limited the run and whether to trust it (Probe/), and makes the reports (Report/).
//
// No two folders name each other's types: Run/ uses all others and is used by none.

import FeedProto
import FeedTransport

/// One run from the first connection to the audit, on a loop of its own.
///
/// Its steps follow one another: reach the service, check the feed, create the posts, start the
/// threads, load the service through warm-up and measured time, wait for the last answers, audit.
/// The threads report by messages; the run reads nothing of theirs before they are finished.
package final class Run {
    let configuration: RunConfiguration
    let address: SocketAddress
    let loop: EventLoop
    /// Shows a progress line; an empty one clears it.
    let showProgress: (String) -> Void
    var result: RunResult
    var probe: Probe
    var control: ControlConnection?
    /// The files that supply the posts and votes of the run; nil in a run of a workload.
    let dataset: Dataset?
    let threads = LoadThreads()
    var reports: ThreadReports
    var phases: Phases?
    var knowledge = AuditKnowledge(postIDs: [])
    var progress = ProgressState()
    /// The client id of the run, if requests are sent again.
    let clientID: [UInt8]?
    /// The state that the service had when the run began, by its greeting.
    var instanceID: UInt64?
    /// When the first post was created, by the service's clock.
    var startMilliseconds: Int64 = 0
    /// The service's clock and ours when the run began.
    var greeted: (serverMilliseconds: Int64, instant: MonotonicInstant)?
    /// The record of an earlier run, where this run only audits it again.
    let record: RunRecord?

    private var failure: RunFailure?

    /// Prepares a run; nothing is sent before `execute()`.
    package init(
        _ configuration: RunConfiguration,
        dataset: Dataset? = nil,
        verifying record: RunRecord? = nil,
        showProgress: @escaping (String) -> Void = { _ in }
    ) throws(RunFailure) {
        self.configuration = configuration
        self.dataset = dataset
        self.record = record
        clientID = configuration.retryLimit > 0 ? RunIdentity.randomClientID() : nil
        self.showProgress = showProgress
        reports = ThreadReports(threadCount: configuration.threadCount)
        do {
            address = try SocketAddress(parsing: configuration.target)
        } catch {
            throw .badTarget(error.description)
        }
        ProcessSetup.ignoreBrokenPipes()
        try Self.checkDescriptors(configuration)
        do {
            loop = try EventLoop(
                configuration: Self.transport,
                budget: BufferBudget()
            )
        } catch {
            throw .system(error.description)
        }
        result = RunResult(configuration: configuration, environment: Environment())
        result.isVerification = record != nil
        probe = Probe(serverPID: configuration.serverPID)
    }

    /// Runs to the end and returns the result; blocks the calling thread.
    package func execute() throws(RunFailure) -> RunResult {
        do {
            for number in Self.stoppingSignals {
                try loop.onSignal(number) { [unowned self] in interrupt() }
            }
        } catch {
            failure = .system(error.description)
        }
        if failure == nil { reachService() } else { loop.stop() }
        loop.run()
        threads.join()
        if let failure { throw failure }
        return result
    }

    /// Ends the run before its load; the first cause counts.
    func fail(_ failure: RunFailure) {
        if self.failure == nil { self.failure = failure }
        loop.stop()
    }

    /// Ends the run with its result.
    func finish() {
        showProgress("")
        if let control { result.totals.retries = result.totals.retries + control.retries }
        result.record = makeRecord()
        control?.close()
        loop.stop()
    }

    /// Stops early; a load that runs is still reported and audited.
    private func interrupt() {
        guard phases != nil else { return fail(.interrupted) }
        // The audit of a service that is gone is not waited for.
        if reports.areFinished, control?.isOpen == false { control?.close() }
        result.isInterrupted = true
        threads.stopSending()
    }

    /// SIGINT and SIGTERM.
    private static let stoppingSignals: [Int32] = [2, 15]

    /// Descriptors beside those of the connections: standard ones, loops, timers, /proc.
    private static let spareDescriptorCount = 64

    /// A client may be silent, and a service may be slow to complete a frame; requests have
    /// timeouts.
    static var transport: TransportConfiguration {
        var configuration = TransportConfiguration()
        configuration.idleTimeout = nil
        configuration.partialReadTimeout = nil
        return configuration
    }

    private static func checkDescriptors(
        _ configuration: RunConfiguration
    ) throws(RunFailure) {
        let needed = configuration.clientCount + spareDescriptorCount
        let limit = ProcessSetup.raiseOpenFileLimit()
        guard limit >= needed else { throw .tooFewDescriptors(needed: needed, limit: limit) }
    }
}

@available(*, unavailable)
extension Run: Sendable {}
