internal import FeedConcurrency
internal import Foundation

/// The backups of a state: at most one under way, from the call that asks to its end.
///
/// The checkpoint thread writes up to the record asked for, freezes `state.db` and begins the job
/// (`Backups+Checkpointing`). A thread of the backup copies the file meanwhile (`Backups+Copying`).
/// Any thread may ask for a backup, cancel it and read the status. ``BackupPhase`` says what is
/// allowed when.
package final class Backups: Sendable {
    /// Called once with the result of a backup, on any thread.
    package typealias Answer = @Sendable (Result<BackupSummary, BackupError>) -> Void

    static let threadName = "feed-backup"
    /// The thread's niceness: it yields to the checkpoint thread, which yields to the loops.
    static let niceness: Int32 = 19
    /// How long the end of the service waits for a copy that was cancelled; a system call on a
    /// disk that hangs cannot be ended.
    static let longestClose = Duration.seconds(5)

    /// What a client waits for.
    struct Request: Sendable {
        let answer: Answer
        let began = ContinuousClock.now
    }

    /// What the threads share.
    struct State {
        var phase = BackupPhase<Request>.idle
        var copiedByteCount = 0
        var byteCount = 0
        var complete: BackupStatus.Complete?
        var failure: BackupStatus.Failed?
        var isClosed = false
        var isInspecting = false
    }

    let state = Lock(State())
    let options: BackupOptions
    let reservedByteCount: Int
    let beforeStep: @Sendable () -> Void
    let report: @Sendable (BackupEvent) -> Void
    /// Signalled when a rest is to end.
    let cancelled = Semaphore()
    /// Signalled when the thread of a copy has ended.
    let ended = Semaphore()
    /// Signalled when the thread that inspects `backups/` at the start has ended.
    let inspected = Semaphore()

    /// Backups that keep so many bytes of the disk free; the backup's thread calls `beforeStep`
    /// before each step of a copy, and any thread `report` with each line for the log.
    package init(
        _ options: BackupOptions,
        reservedByteCount: Int,
        beforeStep: @escaping @Sendable () -> Void = {},
        report: @escaping @Sendable (BackupEvent) -> Void
    ) {
        self.options = options
        self.reservedByteCount = reservedByteCount
        self.beforeStep = beforeStep
        self.report = report
    }

    /// Asks for a backup of all records up to one that is durable, at least.
    ///
    /// Where one is under way the answer comes at once: `running`. The caller wakes the checkpoint
    /// thread.
    package func ask(through number: UInt64, _ answer: @escaping Answer) {
        let refusal: BackupError? = state.withLock { state in
            guard !state.isClosed else { return .stopping }
            guard state.phase.begin(Request(answer: answer), through: number) else {
                return .running
            }
            state.copiedByteCount = 0
            state.byteCount = 0
            return nil
        }
        if let refusal { answer(.failure(refusal)) }
    }

    /// Cancels the backup that is under way, if its copy is not complete; its answer is the error.
    package func cancel(_ error: BackupError) {
        let request = state.withLock { state in
            let request = state.phase.cancel()
            if request != nil {
                state.failure = BackupStatus.Failed(error: error, date: .timeOfDay)
            }
            return request
        }
        guard let request else { return }
        report(.failed(error))
        cancelled.signal()
        request.answer(.failure(error))
    }

    /// How backups are doing.
    package var status: BackupStatus {
        state.withLock { state in
            var status = BackupStatus()
            status.isRunning = !state.phase.isIdle
            status.copiedByteCount = state.copiedByteCount
            status.byteCount = state.byteCount
            status.complete = state.complete
            status.failure = state.failure
            return status
        }
    }
}
