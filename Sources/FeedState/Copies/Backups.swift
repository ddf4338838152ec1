internal import FeedConcurrency
internal import FeedJournal
package import Foundation

/// The backups of a state: at most one under way, from the call that asks to its end.
///
/// The checkpoint thread writes up to the record asked for, freezes `state.db` and begins the job. A
/// thread of the backup copies the file meanwhile, and checks the copy. Any thread may ask for a
/// backup, cancel it and read the status. The checkpoint thread asks if ``BackupSchedule`` says so.
/// ``BackupPhase`` says what is allowed when.
package final class Backups: Sendable {
    /// Called once with the result of a backup, on any thread.
    package typealias Answer = @Sendable (Result<BackupSummary, BackupError>) -> Void

    static let threadName = "feed-backup"
    /// The thread's niceness: it yields to the checkpoint thread, which yields to the loops.
    static let niceness: Int32 = 19
    /// How long the end of the service waits for a copy that was cancelled; a system call on a
    /// disk that hangs cannot be ended.
    private static let longestClose = Duration.seconds(5)

    struct Request: Sendable {
        let kind: BackupKind
        let answer: Answer
        /// Seconds of ``BackupOptions/uptime``.
        let began: TimeInterval
    }

    struct State {
        var phase = BackupPhase<Request>.idle
        /// What does not follow from the others.
        var status = BackupStatus()
        /// The newest complete backup, and when it was complete, in seconds of ``BackupOptions/uptime``: no
        /// clock that is set makes it younger.
        var complete: (backup: BackupStatus.Complete, time: TimeInterval)?
        var schedule: BackupSchedule?
        var isClosed = false
        var isInspecting = false

        mutating func begin(_ request: Request, through number: UInt64) -> Bool {
            guard phase.begin(request, through: number) else { return false }
            status.copiedByteCount = 0
            status.byteCount = 0
            return true
        }

        mutating func noteFailure(
            _ error: BackupError,
            of request: Request,
            _ options: BackupOptions
        ) {
            status.failure = BackupStatus.Failed(error: error, date: options.timeOfDay())
            status.failureCount += 1
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
    let cancelled = Semaphore()
    let ended = Semaphore()
    /// Signalled when the thread that inspects `backups/` at the start has ended.
    private let inspected = Semaphore()

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
    /// Where one is under way the answer comes at once: `running`. The caller wakes the checkpoint thread.
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

    package var status: BackupStatus {
        let (now, uptime) = (options.timeOfDay(), options.uptime())
        return state.withLock { state in
            var status = state.status
            status.isRunning = !state.phase.isIdle
            status.complete = state.complete.map { complete in
                var backup = complete.backup
                backup.date = now - (uptime - complete.time)
                return backup
            }
            status.interval = state.schedule?.interval
            status.due = state.schedule?.due.map { now + ($0 - uptime) }
            return status
        }
    }
}

/// The part of the checkpoint thread.
extension Backups {
    /// The record up to which all have to be checkpointed for the backup that was asked for; nil
    /// where none waits.
    var wantedRecord: UInt64? { state.withLock { $0.phase.wantedRecord } }

    var isInspecting: Bool { state.withLock { $0.isInspecting } }

    var isReading: Bool { state.withLock { $0.phase.isReading } }

    /// Removes what earlier backups have left, and finds the newest complete one.
    ///
    /// On a thread of its own, as `backups/` may be a link to a disk that hangs; `done` is called on
    /// that thread at the end. Where the system refuses the thread, the next start inspects them.
    func inspect(_ database: StateDatabase, done: @escaping @Sendable () -> Void) {
        state.withLock { $0.isInspecting = true }
        let revisions = Transferred(BackupRevisions(database))
        let files = Transferred(database.files)
        do {
            try NamedThread(Self.threadName).start { [self] in
                inspect(files.value, revisions.value)
                inspected.signal()
                done()
            }
        } catch {
            beginSchedule(after: nil)
            report(.failed(.failed(.thread(error))))
        }
    }

    /// The folders were looked at: from here on backups may begin.
    private func beginSchedule(after newest: Date?) {
        let (timeOfDay, now) = (options.timeOfDay(), options.uptime())
        state.withLock { state in
            state.isInspecting = false
            state.schedule?.begin(after: newest, timeOfDay: timeOfDay, at: now)
        }
    }

    private func inspect(_ files: any JournalFiles, _ revisions: BackupRevisions) {
        heartBeat.beat()
        defer { heartBeat.end() }
        let removed = (try? BackupFolders.removeLeftovers(files)) ?? []
        if !removed.isEmpty { report(.removedLeftovers(removed)) }
        let names = revisions.sorted((try? BackupFolders.complete(files)) ?? [])
        if let name = names.last, let date = BackupFolders.time(of: name) {
            let found = BackupStatus.Complete(name: name, date: date)
            let time = options.uptime() - max(0, options.timeOfDay().timeIntervalSince(date))
            state.withLock { $0.complete = $0.complete ?? (found, time) }
        }
        let newest = names.last { BackupFolders.kind(of: $0) == .scheduled }
        beginSchedule(after: options.trustsNames ? newest.flatMap(BackupFolders.time) : nil)
    }

    func askWhereDue(through number: UInt64) {
        // Without a schedule no clock is read.
        guard options.interval != nil else { return }
        let now = options.uptime()
        state.withLock { state in
            guard !state.isClosed, !state.isInspecting, state.phase.isIdle,
                state.schedule?.isDue(at: now) == true
            else { return }
            // The log and the statistics say how it ends.
            let request = Request(kind: .scheduled, answer: { _ in }, began: now)
            _ = state.begin(request, through: number)
        }
    }

    func observe(logByteCount: Int) {
        let limit = options.maximumLogByteCount
        guard logByteCount > limit else { return }
        cancel(.logTooLong(byteCount: logByteCount, limit: limit))
    }

    /// Begins the copy that was asked for, on a thread of its own; `ready` is called on it when the
    /// file need not be held still any more.
    func begin(_ database: StateDatabase, ready: @escaping @Sendable () -> Void) {
        let job: BackupJob
        guard let kind = state.withLock({ $0.phase.request?.kind }) else { return }
        do {
            job = try BackupJob(
                of: database,
                options,
                kind: kind,
                reservedByteCount: reservedByteCount
            )
        } catch {
            return cancel(error)
        }
        let isWanted = state.withLock { state in
            guard state.phase.beginCopying() else { return false }
            state.status.byteCount = job.byteCount
            return true
        }
        guard isWanted else { return job.abandon() }
        // Signals of earlier backups that were cancelled where no thread rested.
        cancelled.reset()
        let transferred = Transferred(job)
        do {
            try NamedThread(Self.threadName, priority: .nice(Self.niceness)).start { [self] in
                make(transferred.value, ready)
                ready()
                if state.withLock({ $0.isClosed }) { ended.signal() }
            }
        } catch {
            job.abandon()
            fail(.failed(.thread(error)))
        }
    }

    /// Cancels what is under way and takes nothing more; returns when no copy is read any more, or hangs.
    func close(_ error: BackupError) {
        cancel(error)
        let isRunning = state.withLock { state in
            state.isClosed = true
            return !state.phase.isIdle
        }
        if isRunning { _ = ended.wait(upTo: Self.longestClose) }
        if isInspecting { _ = inspected.wait(upTo: Self.longestClose) }
    }
}

extension Backups {
    func make(_ job: BackupJob, _ ready: () -> Void) {
        defer { heartBeat.end() }
        do throws(BackupError) {
            heartBeat.beat()
            try job.open()
            report(.began(name: job.name, byteCount: job.byteCount))
            while isReading {
                heartBeat.beat()
                hooks.beforeCopyStep()
                let began = ContinuousClock.now
                let isWhole = try job.step()
                heartBeat.end()
                state.withLock { $0.status.copiedByteCount = job.copiedByteCount }
                if isWhole { break }
                rest(since: began)
            }
            guard state.withLock({ $0.phase.beginVerifying() }) else { return drop(job) }
            heartBeat.end()
            // The file may change while the copy is checked.
            ready()
            hooks.beforeVerification(job.name)
            try verify(job)
            guard state.withLock({ $0.phase.beginFinishing() }) else { return drop(job) }
            heartBeat.beat()
            let (summary, removed) = try job.finish()
            heartBeat.end()
            end(summary, removed)
        } catch {
            heartBeat.beat()
            job.abandon()
            fail(error)
        }
    }

    private func drop(_ job: BackupJob) {
        heartBeat.beat()
        job.abandon()
        _ = state.withLock { $0.phase.end() }
    }

    /// Checks the copy, and rests for as long as each piece took.
    private func verify(_ job: BackupJob) throws(BackupError) {
        var began = ContinuousClock.now
        try job.verify {
            _ = cancelled.wait(upTo: began.duration(to: .now))
            began = .now
            return state.withLock { $0.phase.isVerifying }
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

    private func end(_ summary: BackupSummary, _ removed: [String]) {
        let (date, now) = (options.timeOfDay(), options.uptime())
        let (request, took) = state.withLock { state in
            let request = state.phase.complete()
            let took = Duration.seconds(now - request.began)
            if request.kind == .scheduled { state.schedule?.succeeded(began: request.began) }
            let complete = BackupStatus.Complete(
                name: summary.name,
                date: date,
                byteCount: summary.byteCount,
                duration: took
            )
            state.complete = (complete, now)
            state.status.failure = nil
            return (request, took)
        }
        report(.done(summary, took: took, removed: removed))
        request.answer(.success(summary))
    }

    /// Ends the backup with an error, unless it was cancelled and has its answer.
    private func fail(_ error: BackupError) {
        let request = state.withLock { state in
            let request = state.phase.end()
            if let request { state.noteFailure(error, of: request, options) }
            return request
        }
        guard let request else { return }
        report(.failed(error))
        request.answer(.failure(error))
    }
}

package struct BackupStatus: Sendable, Equatable {
    package var isRunning = false
    /// Of the one under way, the bytes that are copied, and all of them; 0 before the copy begins.
    package var copiedByteCount = 0
    package var byteCount = 0
    package var complete: Complete?
    /// Why the last backup of this run is none; nil where it is complete.
    package var failure: Failed?
    /// The backups of this run that failed, were cancelled or did not pass their check.
    package var failureCount: UInt64 = 0
    /// The seconds between two scheduled backups, and when the next one is due; nil without a
    /// schedule, and until the start has looked for the newest one.
    package var interval: TimeInterval?
    package var due: Date?

    package struct Complete: Sendable, Equatable {
        package var name: String
        /// When it was complete, by the clock of now; of one that the start has found, when it began, and
        /// the time of the start where its name lies ahead of that.
        package var date: Date
        /// The bytes that it takes, and how long it took; 0 of one that the start has found.
        package var byteCount = 0
        package var duration = Duration.zero
    }

    package struct Failed: Sendable, Equatable {
        package var error: BackupError
        package var date: Date
    }
}

package enum BackupEvent: Sendable, Equatable {
    case began(name: String, byteCount: Int)
    /// A backup is complete; the names are those of older ones that were removed.
    case done(BackupSummary, took: Duration, removed: [String])
    case failed(BackupError)
    /// What earlier backups have left was removed at the start.
    case removedLeftovers([String])
}

/// What tests put between a backup and its disk; the service sets none of it.
package struct BackupHooks: Sendable {
    /// Called on the backup's thread before each step of a copy.
    package var beforeCopyStep: @Sendable () -> Void = {}

    /// Called on the backup's thread with the folder's name before a copy is checked.
    package var beforeVerification: @Sendable (String) -> Void = { _ in }

    package init() {}
}
