/// The phases of a run, one after another; a value that does no input or output.
///
/// ```
/// preparing ─► connecting ─► warming up ─► measuring ─► draining ─► auditing ─► done
/// ```
///
/// A number of requests may end before the time does, so the audit may follow the warm-up or the
/// measured time. A failure ends the run from each phase before its load, and from an audit that is
/// all of the run.
package struct RunMachine {
    private enum State {
        /// Reaching the service, and creating or importing posts.
        case preparing
        /// The threads open their connections.
        case connecting(ThreadReports)
        /// The load runs, and no statistic includes it.
        case warmingUp(Load)
        case measuring(Load)
        case draining(Load)
        case auditing(AuditState)
        /// An earlier run is audited, and nothing else.
        case verifying
        case done
    }

    private struct Load {
        let phases: Phases
        var reports: ThreadReports
    }

    private struct AuditState {
        var isConnected = false
        /// Whether a signal came, so that a service that is lost is not waited for.
        var isInterrupted = false
    }

    private let configuration: RunConfiguration
    private var state: State

    /// A run that prepares its posts, or one that only audits the posts of an earlier run.
    package init(_ configuration: RunConfiguration, isVerification: Bool) {
        self.configuration = configuration
        state = isVerification ? .verifying : .preparing
    }

    /// What the driver does after an event at `now`, in nanoseconds of the monotonic clock.
    package mutating func handle(_ event: RunEvent, at now: UInt64) -> [RunAction] {
        switch state {
        case .preparing: handleWhilePreparing(event)
        case .connecting(let reports): handleWhileConnecting(event, reports, at: now)
        case .warmingUp(let load): handleUnderLoad(event, load)
        case .measuring(let load): handleUnderLoad(event, load)
        case .draining(let load): handleUnderLoad(event, load)
        case .auditing(let audit): handleWhileAuditing(event, audit)
        case .verifying: handleWhileVerifying(event)
        case .done: []
        }
    }

    private mutating func handleWhilePreparing(_ event: RunEvent) -> [RunAction] {
        switch event {
        case .prepared:
            state = .connecting(ThreadReports(threadCount: configuration.threadCount))
            return [.startThreads]
        case .endedEarly(let failure): return finish(.impossible(failure.description))
        case .failed(let failure): return fail(failure)
        case .interrupted: return fail(.interrupted)
        case .connected, .interval, .finished, .warmupEnded, .measuringEnded, .auditConnected,
            .audited:
            unexpected(event)
        }
    }

    private mutating func handleWhileConnecting(
        _ event: RunEvent,
        _ reports: ThreadReports,
        at now: UInt64
    ) -> [RunAction] {
        switch event {
        case .connected(let openedCount, let failures):
            var reports = reports
            reports.connected(openedCount, failures)
            state = .connecting(reports)
            return reports.areConnected ? beginLoad(reports, at: now) : []
        case .failed(let failure): return fail(failure)
        case .interrupted: return fail(.interrupted)
        case .prepared, .endedEarly, .interval, .finished, .warmupEnded, .measuringEnded,
            .auditConnected, .audited:
            unexpected(event)
        }
    }

    private mutating func beginLoad(_ reports: ThreadReports, at now: UInt64) -> [RunAction] {
        guard reports.openedCount > 0 else {
            let causes = reports.connectFailures.causes
            let cause = causes.max { $0.value < $1.value }?.key.rawValue ?? "other"
            return fail(.noConnection(target: configuration.target, cause: cause))
        }
        let phases = Phases(
            start: now + Self.noticeNanoseconds,
            warmup: configuration.warmup,
            duration: configuration.duration
        )
        state = .warmingUp(Load(phases: phases, reports: reports))
        return [.begin(phases)]
    }

    /// Each thread needs a moment to get the message before the first request is due.
    private static let noticeNanoseconds: UInt64 = 5_000_000

    private mutating func handleUnderLoad(_ event: RunEvent, _ load: Load) -> [RunAction] {
        var load = load
        switch event {
        case .interval(let number, let end, let counts):
            let interval = load.reports.add(number, end, counts)
            update(load)
            return interval.map { [.report($0)] } ?? []
        case .finished(let end):
            load.reports.finished(at: end)
            guard load.reports.areFinished else {
                update(load)
                return []
            }
            let incomplete = load.reports.takeIncomplete().map(RunAction.report)
            return incomplete + [.endLoad(at: load.reports.endNanoseconds)] + audit()
        case .warmupEnded:
            guard case .warmingUp = state else { return [] }
            state = .measuring(load)
            return [.startMeasuring]
        case .measuringEnded:
            state = .draining(load)
            return [.stopMeasuring]
        case .interrupted:
            state = .draining(load)
            return [.stopSending]
        case .failed(let failure): return fail(failure)
        case .prepared, .endedEarly, .connected, .auditConnected, .audited:
            unexpected(event)
        }
    }

    /// Keeps what the threads reported, in the same phase.
    private mutating func update(_ load: Load) {
        switch state {
        case .warmingUp: state = .warmingUp(load)
        case .measuring: state = .measuring(load)
        case .draining: state = .draining(load)
        case .preparing, .connecting, .auditing, .verifying, .done:
            preconditionFailure("Threads report under load.")
        }
    }

    private mutating func audit() -> [RunAction] {
        guard configuration.isVerified || configuration.isCleanedUp else { return finish(.skipped) }
        state = .auditing(AuditState())
        return [.audit]
    }

    private mutating func handleWhileAuditing(
        _ event: RunEvent,
        _ audit: AuditState
    ) -> [RunAction] {
        var audit = audit
        switch event {
        case .auditConnected:
            audit.isConnected = true
            state = .auditing(audit)
            return []
        case .audited(let outcome): return finish(outcome)
        case .interrupted:
            // The audit of a service that is gone is not waited for, nor one that is interrupted twice.
            guard audit.isConnected, !audit.isInterrupted else { return [.cancelAudit] }
            audit.isInterrupted = true
            state = .auditing(audit)
            return [.cancelAuditIfLost]
        case .warmupEnded, .measuringEnded:
            // The threads ended before the timer.
            return []
        case .prepared, .endedEarly, .failed, .connected, .interval, .finished:
            unexpected(event)
        }
    }

    private mutating func handleWhileVerifying(_ event: RunEvent) -> [RunAction] {
        switch event {
        case .auditConnected: return []
        case .audited(let outcome): return finish(outcome)
        case .failed(let failure): return fail(failure)
        case .interrupted: return fail(.interrupted)
        case .prepared, .endedEarly, .connected, .interval, .finished, .warmupEnded,
            .measuringEnded:
            unexpected(event)
        }
    }

    private mutating func finish(_ outcome: AuditOutcome) -> [RunAction] {
        state = .done
        return [.finish(outcome)]
    }

    private mutating func fail(_ failure: RunFailure) -> [RunAction] {
        state = .done
        return [.fail(failure)]
    }

    private func unexpected(_ event: RunEvent) -> Never {
        preconditionFailure("A run that is \(state) got the event \(event).")
    }
}

/// What happens to a run.
package enum RunEvent {
    case prepared
    /// The run ends before its load, and its posts can be audited later.
    case endedEarly(RunFailure)
    case failed(RunFailure)
    case connected(openedCount: Int, failures: Failures)
    case interval(Int, endNanoseconds: UInt64, IntervalCounts)
    /// A thread has ended, at the end of its measured time.
    case finished(endNanoseconds: UInt64)
    case warmupEnded
    case measuringEnded
    case auditConnected
    case audited(AuditOutcome)
    case interrupted
}

/// What the driver of a run does.
package enum RunAction {
    case startThreads
    case begin(Phases)
    case startMeasuring
    case stopMeasuring
    case stopSending
    case report(ReportedInterval)
    /// Take the measured time, which ended at an instant.
    case endLoad(at: UInt64)
    case audit
    case cancelAudit
    /// Cancel the audit, unless it has a connection.
    case cancelAuditIfLost
    case finish(AuditOutcome)
    case fail(RunFailure)
}

/// What the threads of the load have reported so far, merged.
struct ThreadReports {
    private(set) var openedCount = 0
    /// Connections that never opened.
    private(set) var connectFailures = Failures()
    /// When the measured time ended, on the thread that ended it last.
    private(set) var endNanoseconds: UInt64 = 0

    private let threadCount: Int
    private var connectedCount = 0
    private var finishedCount = 0
    private var openIntervals: [Int: ReportedInterval] = [:]

    /// Reports of `threadCount` threads, none of which has come.
    init(threadCount: Int) {
        self.threadCount = threadCount
    }

    /// Whether every thread has tried to open its connections.
    var areConnected: Bool { connectedCount == threadCount }
    var areFinished: Bool { finishedCount == threadCount }

    /// Records that a thread has tried to open its connections.
    mutating func connected(_ openedCount: Int, _ failures: Failures) {
        connectedCount += 1
        self.openedCount += openedCount
        connectFailures.add(failures)
    }

    /// Adds an interval of one thread; returns the merged interval after the last thread's.
    mutating func add(_ number: Int, _ end: UInt64, _ counts: IntervalCounts) -> ReportedInterval? {
        guard var open = openIntervals.removeValue(forKey: number) else {
            return keep(ReportedInterval(number, endNanoseconds: end, counts))
        }
        open.counts.add(counts)
        open.threadCount += 1
        open.endNanoseconds = max(open.endNanoseconds, end)
        return keep(open)
    }

    mutating func finished(at end: UInt64) {
        finishedCount += 1
        endNanoseconds = max(endNanoseconds, end)
    }

    /// Takes the intervals that began after some threads had ended.
    mutating func takeIncomplete() -> [ReportedInterval] {
        defer { openIntervals = [:] }
        return openIntervals.values.sorted { $0.number < $1.number }
    }

    private mutating func keep(_ interval: ReportedInterval) -> ReportedInterval? {
        if interval.threadCount == threadCount { return interval }
        openIntervals[interval.number] = interval
        return nil
    }
}

/// One interval of the threads that have reported it.
package struct ReportedInterval {
    package let number: Int
    /// When it ended on the thread that ended it last.
    package fileprivate(set) var endNanoseconds: UInt64
    package fileprivate(set) var counts: IntervalCounts
    fileprivate var threadCount = 1

    fileprivate init(_ number: Int, endNanoseconds: UInt64, _ counts: IntervalCounts) {
        self.number = number
        self.endNanoseconds = endNanoseconds
        self.counts = counts
    }
}
