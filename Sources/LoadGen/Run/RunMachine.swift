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
        switch (state, event) {
        case (.done, _): return []
        case (.preparing, .prepared):
            state = .connecting(ThreadReports(threadCount: configuration.threadCount))
            return [.startThreads]
        case (.preparing, .endedEarly(let failure)):
            return finish(.impossible(failure.description))
        case (.preparing, .interrupted), (.connecting, .interrupted), (.verifying, .interrupted):
            return fail(.interrupted)
        case (.preparing, .failed(let failure)), (.connecting, .failed(let failure)),
            (.loading, .failed(let failure)), (.verifying, .failed(let failure)):
            return fail(failure)

        case (.connecting(var reports), .connected(let openedCount, let failures)):
            reports.connected(openedCount, failures)
            state = .connecting(reports)
            return reports.areConnected ? beginLoad(reports, at: now) : []

        case (.loading(let phase, var reports), .interval(let number, let end, let counts)):
            let interval = reports.add(number, end, counts)
            state = .loading(phase, reports)
            return interval.map { [.report($0)] } ?? []
        case (.loading(let phase, var reports), .finished(let end)):
            reports.finished(at: end)
            state = .loading(phase, reports)
            return reports.areFinished ? endLoad(&reports) : []
        case (.loading(.warmingUp, let reports), .warmupEnded):
            state = .loading(.measuring, reports)
            return [.startMeasuring]
        case (.loading, .warmupEnded): return []
        case (.loading(_, let reports), .measuringEnded):
            state = .loading(.draining, reports)
            return [.stopMeasuring]
        case (.loading(_, let reports), .interrupted):
            state = .loading(.draining, reports)
            return [.stopSending]

        case (.auditing(_, let isInterrupted), .auditConnected):
            state = .auditing(isConnected: true, isInterrupted: isInterrupted)
            return []
        case (.auditing(isConnected: true, isInterrupted: false), .interrupted):
            state = .auditing(isConnected: true, isInterrupted: true)
            return [.cancelAuditIfLost]
        // The audit of a service that is gone is not waited for, nor one that is interrupted twice.
        case (.auditing, .interrupted): return [.cancelAudit]
        // The threads ended before the timer.
        case (.auditing, .warmupEnded), (.auditing, .measuringEnded): return []
        case (.verifying, .auditConnected): return []
        case (.auditing, .audited(let outcome)), (.verifying, .audited(let outcome)):
            return finish(outcome)

        default: preconditionFailure("A run that is \(state) got the event \(event).")
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

    private mutating func endLoad(_ reports: inout ThreadReports) -> [RunAction] {
        let ends =
            reports.takeIncomplete().map(RunAction.report)
            + [.endLoad(at: reports.endNanoseconds)]
        guard configuration.isVerified || configuration.isCleanedUp else {
            return ends + finish(.skipped)
        }
        state = .auditing(isConnected: false, isInterrupted: false)
        return ends + [.audit]
    }

    private mutating func finish(_ outcome: AuditOutcome) -> [RunAction] {
        state = .done
        return [.finish(outcome)]
    }

    private mutating func fail(_ failure: RunFailure) -> [RunAction] {
        state = .done
        return [.fail(failure)]
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
