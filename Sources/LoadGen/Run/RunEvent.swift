/// What happens to a run.
package enum RunEvent {
    /// The posts are ready for the load.
    case prepared
    /// The run ends before its load, and its posts can be audited later.
    case endedEarly(RunFailure)
    /// The run cannot continue.
    case failed(RunFailure)
    /// A thread has tried to open its connections.
    case connected(openedCount: Int, failures: Failures)
    /// Interval `number` of a thread has ended.
    case interval(Int, endNanoseconds: UInt64, IntervalCounts)
    /// A thread has ended, at the end of its measured time.
    case finished(endNanoseconds: UInt64)
    /// The warm-up is over.
    case warmupEnded
    /// The measured time is over.
    case measuringEnded
    /// The audit has reached the service.
    case auditConnected
    /// The audit has ended.
    case audited(AuditOutcome)
    /// A signal asks the run to end.
    case interrupted
}

/// What the driver of a run does.
package enum RunAction {
    /// Start the threads, which open the connections.
    case startThreads
    /// Begin the load.
    case begin(Phases)
    /// Begin to watch the processes.
    case startMeasuring
    /// End the watch over the processes.
    case stopMeasuring
    /// End the sending early.
    case stopSending
    /// Show an interval of all threads.
    case report(ReportedInterval)
    /// Take the measured time, which ended at an instant.
    case endLoad(at: UInt64)
    /// Ask the service what it counted.
    case audit
    /// Cancel the audit.
    case cancelAudit
    /// Cancel the audit, unless it has a connection.
    case cancelAuditIfLost
    /// End the run with its result.
    case finish(AuditOutcome)
    /// End the run without a result.
    case fail(RunFailure)
}
