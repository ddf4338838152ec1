internal import FeedConcurrency
internal import FeedJournal

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
            guard state.phase.beginCopying() else { return false }
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
            return !state.phase.isIdle
        }
        if isRunning { _ = ended.wait(upTo: Self.longestClose) }
        if isInspecting { _ = inspected.wait(upTo: Self.longestClose) }
    }
}
