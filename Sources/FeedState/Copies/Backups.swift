internal import FeedConcurrency
internal import FeedJournal
internal import Foundation

/// The backups of a state: at most one under way, from the call that asks to its end.
///
/// The checkpoint thread writes up to the record asked for, freezes `state.db`, begins the job.
/// A thread of the backup copies the file meanwhile. Any thread may ask for a backup, cancel it and read the status.
package final class Backups: Sendable {
    /// Called once with the result of a backup, on any thread.
    package typealias Answer = @Sendable (Result<BackupSummary, BackupError>) -> Void

    private static let threadName = "feed-backup"
    /// The thread's niceness: it yields to the checkpoint thread, which yields to the loops.
    private static let niceness: Int32 = 19
    /// How long the end of the service waits for a copy that was cancelled; a system call on a
    /// disk that hangs cannot be ended.
    private static let longestClose = Duration.seconds(5)

    fileprivate enum Phase {
        case idle
        /// All records up to one have to be checkpointed first.
        case waiting(through: UInt64)
        /// The file is held still and read.
        case copying
        /// All is read; the copy gets its name, and old ones go.
        case finishing
        /// Cancelled: the thread is about to remove what it has copied.
        case cancelled
    }

    fileprivate struct State {
        var phase = Phase.idle
        var answer: Answer?
        var began = ContinuousClock.now
        var copiedByteCount = 0
        var byteCount = 0
        var complete: BackupStatus.Complete?
        var failure: BackupStatus.Failed?
        var isClosed = false
        var isInspecting = false

        mutating func takeAnswer() -> Answer? {
            defer { answer = nil }
            return answer
        }
    }

    private let state = Lock(State())
    private let options: BackupOptions
    private let reservedByteCount: Int
    private let beforeStep: @Sendable () -> Void
    private let report: @Sendable (BackupEvent) -> Void
    /// Signalled when a rest is to end.
    private let cancelled = Semaphore()
    /// Signalled when the thread of a copy has ended.
    private let ended = Semaphore()
    /// Signalled when the thread that inspects `backups/` at the start has ended.
    private let inspected = Semaphore()

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
            guard case .idle = state.phase else { return .running }
            state.phase = .waiting(through: number)
            state.answer = answer
            state.began = .now
            state.copiedByteCount = 0
            state.byteCount = 0
            return nil
        }
        if let refusal { answer(.failure(refusal)) }
    }

    /// Cancels the backup that is under way, if its copy is not complete; its answer is the error.
    package func cancel(_ error: BackupError) {
        let (answer, isOver): (Answer?, Bool) = state.withLock { state in
            switch state.phase {
            case .idle, .finishing, .cancelled: return (nil, false)
            case .waiting: state.phase = .idle
            case .copying: state.phase = .cancelled
            }
            state.failure = BackupStatus.Failed(error: error, date: .timeOfDay)
            return (state.takeAnswer(), true)
        }
        guard isOver else { return }
        report(.failed(error))
        cancelled.signal()
        answer?(.failure(error))
    }

    /// How backups are doing.
    package var status: BackupStatus {
        state.withLock { state in
            var status = BackupStatus()
            if case .idle = state.phase {} else { status.isRunning = true }
            status.copiedByteCount = state.copiedByteCount
            status.byteCount = state.byteCount
            status.complete = state.complete
            status.failure = state.failure
            return status
        }
    }
}

// The part of the checkpoint thread.
extension Backups {
    /// The record up to which all have to be checkpointed for the backup that was asked for; nil
    /// where none waits.
    var wantedRecord: UInt64? {
        state.withLock { if case .waiting(let number) = $0.phase { number } else { nil } }
    }

    /// Whether `backups/` is still inspected: no new backup may begin.
    var isInspecting: Bool { state.withLock { $0.isInspecting } }

    /// Whether the file is being read, and has to be held still.
    var isReading: Bool {
        state.withLock { if case .copying = $0.phase { true } else { false } }
    }

    /// Removes what earlier backups have left, and finds the newest complete one.
    ///
    /// On a thread of its own, as `backups/` may be a link to a disk that hangs; `done` is called on
    /// that thread at the end. Where the system refuses the thread, the next start inspects them.
    func inspect(_ files: any JournalFiles, done: @escaping @Sendable () -> Void) {
        state.withLock { $0.isInspecting = true }
        let files = Transferred(files)
        do {
            try NamedThread(Self.threadName).start { [self] in
                inspect(files.value)
                state.withLock { $0.isInspecting = false }
                inspected.signal()
                done()
            }
        } catch {
            state.withLock { $0.isInspecting = false }
            report(.failed(.failed(.thread(error))))
        }
    }

    private func inspect(_ files: any JournalFiles) {
        let removed = (try? BackupFolders.removeLeftovers(files)) ?? []
        if !removed.isEmpty { report(.removedLeftovers(removed)) }
        guard let name = try? BackupFolders.complete(files).last,
            let date = BackupFolders.time(of: name)
        else { return }
        let found = BackupStatus.Complete(name: name, date: date)
        state.withLock { $0.complete = $0.complete ?? found }
    }

    /// Cancels the copy where SQLite's log has grown beyond its limit.
    func observe(logByteCount: Int) {
        let limit = options.maximumLogByteCount
        guard logByteCount > limit else { return }
        cancel(.logTooLong(byteCount: logByteCount, limit: limit))
    }

    /// Begins the copy that was asked for, on a thread of its own; `ready` is called on it when the
    /// file need not be held still any more.
    func begin(_ database: StateDatabase, ready: @escaping @Sendable () -> Void) {
        let job: BackupJob
        do {
            job = try BackupJob(of: database, options, reservedByteCount: reservedByteCount)
        } catch {
            return cancel(error)
        }
        let isWanted = state.withLock { state in
            guard case .waiting = state.phase else { return false }
            state.phase = .copying
            state.byteCount = job.byteCount
            return true
        }
        guard isWanted else { return job.abandon() }
        // Signals of earlier backups that were cancelled where no thread rested.
        cancelled.reset()
        let transferred = Transferred(job)
        do {
            try NamedThread(Self.threadName, niceness: Self.niceness).start { [self] in
                make(transferred.value, ready)
                ready()
                if state.withLock({ $0.isClosed }) { ended.signal() }
            }
        } catch {
            job.abandon()
            fail(.failed(.thread(error)))
        }
    }

    /// Cancels what is under way and takes nothing more; returns when no copy is read any more, or
    /// hangs.
    func close(_ error: BackupError) {
        cancel(error)
        let isRunning = state.withLock { state in
            state.isClosed = true
            if case .idle = state.phase { return false }
            return true
        }
        if isRunning { _ = ended.wait(upTo: Self.longestClose) }
        if isInspecting { _ = inspected.wait(upTo: Self.longestClose) }
    }
}

// What the thread of a copy does.
extension Backups {
    private func make(_ job: BackupJob, _ ready: () -> Void) {
        do throws(BackupError) {
            try job.open()
            report(.began(name: job.name, byteCount: job.byteCount))
            while isReading {
                beforeStep()
                let began = ContinuousClock.now
                let isWhole = try job.step()
                state.withLock { $0.copiedByteCount = job.copiedByteCount }
                if isWhole { break }
                rest(since: began)
            }
            guard beginFinishing() else { return giveUp(job) }
            // The file may change while the copy gets its name.
            ready()
            let (summary, removed) = try job.finish()
            end(summary, removed)
        } catch {
            job.abandon()
            fail(error)
        }
    }

    /// Rests as long as the step took, and so long that the copy keeps to its rate: others get at
    /// least half of the disk's time.
    private func rest(since began: ContinuousClock.Instant) {
        let took = began.duration(to: .now)
        let share = Duration.seconds(1) * options.stepByteCount / options.byteRate
        let rest = max(took, share - took)
        _ = cancelled.wait(upTo: rest)
    }

    private func beginFinishing() -> Bool {
        state.withLock { state in
            guard case .copying = state.phase else { return false }
            state.phase = .finishing
            return true
        }
    }

    /// Ends a job that was cancelled.
    private func giveUp(_ job: BackupJob) {
        job.abandon()
        state.withLock { $0.phase = .idle }
    }

    private func end(_ summary: BackupSummary, _ removed: [String]) {
        let (answer, took) = state.withLock { state in
            let took = state.began.duration(to: .now)
            state.phase = .idle
            state.complete = BackupStatus.Complete(
                name: summary.name,
                date: .timeOfDay,
                byteCount: summary.byteCount,
                duration: took
            )
            state.failure = nil
            return (state.takeAnswer(), took)
        }
        report(.done(summary, took: took, removed: removed))
        answer?(.success(summary))
    }

    private func fail(_ error: BackupError) {
        let answer: Answer? = state.withLock { state in
            defer { state.phase = .idle }
            // A backup that was cancelled has had its answer.
            if case .cancelled = state.phase { return nil }
            state.failure = BackupStatus.Failed(error: error, date: .timeOfDay)
            return state.takeAnswer()
        }
        guard let answer else { return }
        report(.failed(error))
        answer(.failure(error))
    }
}
