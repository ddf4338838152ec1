internal import FeedConcurrency
internal import FeedJournal
internal import Foundation

/// The part of the checkpoint thread.
extension Backups {
    /// The record up to which all have to be checkpointed for the backup that was asked for; nil
    /// where none waits.
    var wantedRecord: UInt64? { state.withLock { $0.phase.wantedRecord } }

    /// Whether `backups/` is still inspected: no new backup may begin.
    var isInspecting: Bool { state.withLock { $0.isInspecting } }

    /// Whether the file is being read, and has to be held still.
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

    /// Asks for a scheduled backup of all records up to one, where one is due and none is under way.
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
            state.byteCount = job.byteCount
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

    /// Cancels what is under way and takes nothing more; returns when no copy is read any more, or
    /// hangs.
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
