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
        case loading(LoadPhase, ThreadReports)
        /// Whether the audit is connected, and whether a signal came, so that a service that is lost is
        /// not waited for.
        case auditing(isConnected: Bool, isInterrupted: Bool)
        /// An earlier run is audited, and nothing else.
        case verifying
        case done
    }

    private enum LoadPhase {
        /// No statistic includes the load.
        case warmingUp
        case measuring
        case draining
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
        case .loading(let phase, let reports): handleUnderLoad(event, phase, reports)
        case .auditing(let isConnected, let isInterrupted):
            handleWhileAuditing(event, isConnected: isConnected, isInterrupted: isInterrupted)
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
        default: unexpected(event)
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
        default: unexpected(event)
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
        state = .loading(.warmingUp, reports)
        return [.begin(phases)]
    }

    /// Each thread needs a moment to get the message before the first request is due.
    private static let noticeNanoseconds: UInt64 = 5_000_000

    private mutating func handleUnderLoad(
        _ event: RunEvent,
        _ phase: LoadPhase,
        _ reports: ThreadReports
    ) -> [RunAction] {
        var reports = reports
        switch event {
        case .interval(let number, let end, let counts):
            let interval = reports.add(number, end, counts)
            state = .loading(phase, reports)
            return interval.map { [.report($0)] } ?? []
        case .finished(let end):
            reports.finished(at: end)
            guard reports.areFinished else {
                state = .loading(phase, reports)
                return []
            }
            let incomplete = reports.takeIncomplete().map(RunAction.report)
            return incomplete + [.endLoad(at: reports.endNanoseconds)] + audit()
        case .warmupEnded:
            guard phase == .warmingUp else { return [] }
            state = .loading(.measuring, reports)
            return [.startMeasuring]
        case .measuringEnded:
            state = .loading(.draining, reports)
            return [.stopMeasuring]
        case .interrupted:
            state = .loading(.draining, reports)
            return [.stopSending]
        case .failed(let failure): return fail(failure)
        default: unexpected(event)
        }
    }

    private mutating func audit() -> [RunAction] {
        guard configuration.isVerified || configuration.isCleanedUp else { return finish(.skipped) }
        state = .auditing(isConnected: false, isInterrupted: false)
        return [.audit]
    }

    private mutating func handleWhileAuditing(
        _ event: RunEvent,
        isConnected: Bool,
        isInterrupted: Bool
    ) -> [RunAction] {
        switch event {
        case .auditConnected:
            state = .auditing(isConnected: true, isInterrupted: isInterrupted)
            return []
        case .audited(let outcome): return finish(outcome)
        case .interrupted:
            // The audit of a service that is gone is not waited for, nor one that is interrupted twice.
            guard isConnected, !isInterrupted else { return [.cancelAudit] }
            state = .auditing(isConnected: true, isInterrupted: true)
            return [.cancelAuditIfLost]
        case .warmupEnded, .measuringEnded:
            // The threads ended before the timer.
            return []
        default: unexpected(event)
        }
    }

    private mutating func handleWhileVerifying(_ event: RunEvent) -> [RunAction] {
        switch event {
        case .auditConnected: return []
        case .audited(let outcome): return finish(outcome)
        case .failed(let failure): return fail(failure)
        case .interrupted: return fail(.interrupted)
        default: unexpected(event)
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
    private(set) var connectFailures = Failures()
    /// When the measured time ended, on the thread that ended it last.
    private(set) var endNanoseconds: UInt64 = 0

    private let threadCount: Int
    private var connectedCount = 0
    private var finishedCount = 0
    private var openIntervals: [Int: ReportedInterval] = [:]

    init(threadCount: Int) {
        self.threadCount = threadCount
    }

    /// Whether every thread has tried to open its connections.
    var areConnected: Bool { connectedCount == threadCount }
    var areFinished: Bool { finishedCount == threadCount }

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
