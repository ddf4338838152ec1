internal import FeedConcurrency
internal import Foundation

/// The backups of a state: at most one under way, from the call that asks to its end.
///
/// The checkpoint thread writes up to the record asked for, freezes `state.db` and begins the job
/// (`Backups+Checkpointing`). A thread of the backup copies the file meanwhile, and checks the copy
/// (`Backups+Copying`). Any thread may ask for a backup, cancel it and read the status. The
/// checkpoint thread asks where ``BackupSchedule`` says so. ``BackupPhase`` says what is allowed
/// when.
package final class Backups: Sendable {
    /// Called once with the result of a backup, on any thread.
    package typealias Answer = @Sendable (Result<BackupSummary, BackupError>) -> Void

    static let threadName = "feed-backup"
    /// The thread's niceness: it yields to the checkpoint thread, which yields to the loops.
    static let niceness: Int32 = 19
    /// How long the end of the service waits for a copy that was cancelled; a system call on a
    /// disk that hangs cannot be ended.
    static let longestClose = Duration.seconds(5)

    /// What a client waits for, or the schedule.
    struct Request: Sendable {
        let kind: BackupKind
        let answer: Answer
        /// Seconds of ``BackupOptions/uptime``.
        let began: TimeInterval
    }

    /// What the threads share.
    struct State {
        var phase = BackupPhase<Request>.idle
        var copiedByteCount = 0
        var byteCount = 0
        /// The newest complete backup, and when it was complete, in seconds of ``BackupOptions/uptime``: no
        /// clock that is set makes it younger.
        var complete: (backup: BackupStatus.Complete, time: TimeInterval)?
        var failure: BackupStatus.Failed?
        var failureCount: UInt64 = 0
        var schedule: BackupSchedule?
        var isClosed = false
        var isInspecting = false

        /// Begins a backup; false where one is under way.
        mutating func begin(_ request: Request, through number: UInt64) -> Bool {
            guard phase.begin(request, through: number) else { return false }
            copiedByteCount = 0
            byteCount = 0
            return true
        }

        /// Notes that a backup that was asked for is none.
        mutating func noteFailure(
            _ error: BackupError,
            of request: Request,
            _ options: BackupOptions
        ) {
            failure = BackupStatus.Failed(error: error, date: options.timeOfDay())
            failureCount += 1
            if request.kind == .scheduled { schedule?.failed(at: options.uptime()) }
        }
    }

    let state: Lock<State>
    let options: BackupOptions
    let reservedByteCount: Int
    let hooks: BackupHooks
    let report: @Sendable (BackupEvent) -> Void
    /// Beats before each call that waits for the disk; the check of a copy's pages is one long call, and is
    /// not watched.
    let heartBeat = HeartBeat()
    /// Signalled when a rest is to end.
    let cancelled = Semaphore()
    /// Signalled when the thread of a copy has ended.
    let ended = Semaphore()
    /// Signalled when the thread that inspects `backups/` at the start has ended.
    let inspected = Semaphore()

    /// Backups that keep so many bytes of the disk free; the backup's thread calls the hooks of its
    /// copies, and any thread `report` with each line for the log.
    package init(
        _ options: BackupOptions,
        reservedByteCount: Int,
        hooks: BackupHooks = BackupHooks(),
        report: @escaping @Sendable (BackupEvent) -> Void
    ) {
        self.options = options
        self.reservedByteCount = reservedByteCount
        self.hooks = hooks
        self.report = report
        var state = State()
        state.schedule = options.interval.map(BackupSchedule.init(every:))
        self.state = Lock(state)
    }

    /// Asks for a backup of all records up to one that is durable, at least.
    ///
    /// Where one is under way the answer comes at once: `running`. The caller wakes the checkpoint
    /// thread.
    package func ask(through number: UInt64, _ answer: @escaping Answer) {
        let refusal: BackupError? = state.withLock { state in
            guard !state.isClosed else { return .stopping }
            let request = Request(kind: .called, answer: answer, began: options.uptime())
            return state.begin(request, through: number) ? nil : .running
        }
        if let refusal { answer(.failure(refusal)) }
    }

    /// Cancels the backup that is under way, if its copy is not complete; its answer is the error.
    package func cancel(_ error: BackupError) {
        let request = state.withLock { state in
            let request = state.phase.cancel()
            if let request { state.noteFailure(error, of: request, options) }
            return request
        }
        guard let request else { return }
        report(.failed(error))
        cancelled.signal()
        request.answer(.failure(error))
    }

    /// For how long a call of the backup under way has not returned; nil where there is none.
    package var standingTime: Duration? { heartBeat.standingTime }

    /// How backups are doing.
    package var status: BackupStatus {
        let (now, uptime) = (options.timeOfDay(), options.uptime())
        return state.withLock { state in
            var status = BackupStatus()
            status.isRunning = !state.phase.isIdle
            status.copiedByteCount = state.copiedByteCount
            status.byteCount = state.byteCount
            status.complete = state.complete.map { complete in
                var backup = complete.backup
                backup.date = now - (uptime - complete.time)
                return backup
            }
            status.failure = state.failure
            status.failureCount = state.failureCount
            status.interval = state.schedule?.interval
            status.due = state.schedule?.due.map { now + ($0 - uptime) }
            return status
        }
    }
}
