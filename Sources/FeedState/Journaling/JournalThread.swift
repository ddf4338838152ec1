package import FeedConcurrency
package import FeedJournal
internal import FeedLog
internal import Synchronization

/// Makes commit batches durable: takes what the loops have logged, appends it to the journal as one
/// record, and notifies.
///
/// Group commit as in Silo (Tu et al., SOSP '13): while one commit is on its way to the disk, the
/// log entries of all requests wait for the next. A commit begins once the last one has ended and
/// something waits, and a millisecond after the last one began at the earliest. Where checkpoints
/// lag, it begins some milliseconds later (``CheckpointAdmission``).
package final class JournalThread: CommitThread {
    /// The least time between the beginnings of two commits.
    static let interval = Duration.milliseconds(1)

    /// What belongs to the thread.
    private struct Work {
        var upkeep: JournalUpkeep
        var body: [UInt8] = []
        /// When the next commit begins at the earliest.
        var nextBegin: ContinuousClock.Instant?
    }

    package let progress: CommitProgress
    private let logs: ChangeLogs
    private let receiver: any CommitBatchReceiver
    private let events: CommitEvents
    private let failed: @Sendable (StorageError) -> Void
    /// What belongs to the thread; nil once it has taken it.
    private let work: Lock<Work?>
    private let thread = NamedThread("feed-journal", priority: .batch)
    private let stopping = Atomic(false)

    /// A thread that is ready to be started.
    ///
    /// The journal ends where the logs begin: its next record is the open commit batch.
    package init(_ parts: CommitParts) {
        logs = parts.logs
        receiver = parts.receiver
        events = parts.events
        failed = parts.failed
        precondition(
            logs.openBatch == parts.journal.value.last.number + 1,
            "The next commit batch is the journal's next record."
        )
        progress = CommitProgress(of: parts)
        work = Lock(Work(upkeep: JournalUpkeep(parts, progress)))
    }

    package func wake() {
        progress.noteFirstEntry()
        thread.wake()
    }

    package func start() throws(ThreadStartError) {
        try thread.start { [self] in runToTheEnd() }
    }

    package func stop() {
        stopping.store(true, ordering: .releasing)
        thread.wake()
        thread.join()
    }

    /// Runs and closes the journal.
    ///
    /// Not left to the last reference: the caller of `stop` may open the directory at once.
    private func runToTheEnd() {
        guard var work = work.withLock({ $0.take() }) else { return }
        run(&work)
    }

    private func run(_ work: inout Work) {
        do throws(StorageError) {
            while true {
                let isStopping = stopping.load(ordering: .acquiring)
                while try commitNext(&work) {}
                try work.upkeep.checkSpaceIfDue()
                if isStopping { return }
                let isRestricted = work.upkeep.admit(committing: 0)
                thread.waitForWakeUp(
                    upTo: isRestricted
                        ? JournalUpkeep.admissionInterval : JournalUpkeep.spaceInterval
                )
            }
        } catch {
            failed(error)
        }
    }

    /// Makes the open commit batch durable; false if nothing waits.
    ///
    /// First it sleeps until the commit may begin: meanwhile the loops add more to the open commit
    /// batch. After a longer pause it does not sleep.
    private func commitNext(_ work: inout Work) throws(StorageError) -> Bool {
        let clock = ContinuousClock()
        if let nextBegin = work.nextBegin {
            SystemClock.sleep(for: clock.now.duration(to: nextBegin))
        }
        try work.upkeep.checkSpaceIfDue()
        let since = progress.openTime
        guard let batch = logs.takeBatch(into: &work.body) else { return false }
        progress.noteTaken(since: since)
        // The logs are empty, and may not be filled again with what has just been taken.
        work.upkeep.admit(committing: work.body.count)
        let began = clock.now
        let position = try work.upkeep.journal.append(
            work.body.span,
            count: UInt32(clamping: batch.entryCount),
            at: SystemClock.unixMicroseconds()
        )
        precondition(
            position.number == batch.number,
            "A commit batch is the record of the same number."
        )
        let duration = began.duration(to: clock.now)
        progress.noteDurable(batch.number)
        events.durable(batch.number)
        progress.statistics.count(
            entryCount: batch.entryCount,
            byteCount: work.body.count,
            took: duration
        )
        work.upkeep.admission.observe(byteCount: work.body.count, took: duration)
        if duration > JournalAdmission.slowCommit { events.slow(duration) }
        work.body = receiver.submit(work.body, at: position)
        work.upkeep.admit(committing: 0)
        work.nextBegin = max(
            began + Self.interval,
            clock.now + work.upkeep.admission.commitDelay
        )
        try work.upkeep.forget()
        return true
    }
}

/// Takes commit batches once they are durable.
package protocol CommitBatchReceiver: Sendable {
    /// Takes a commit batch; returns an array to make the next one in. Never waits, however much it has.
    func submit(_ body: [UInt8], at position: JournalPosition) -> [UInt8]

    /// How much was taken and is not in the tables yet; to be asked for often.
    var backlog: CheckpointBacklog { get }

    /// All records up to this one are kept elsewhere, durably.
    var checkpointedRecord: UInt64 { get }

    /// What the records up to this one say is to leave the files: one of them has deleted an account.
    var erasedRecord: UInt64 { get }
}
