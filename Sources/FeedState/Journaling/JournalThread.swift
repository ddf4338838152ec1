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
    /// How often the free space is looked at.
    private static let spaceInterval = Duration.seconds(1)
    /// How often more is let in while checkpoints lag and nothing is committed.
    private static let admissionInterval = Duration.milliseconds(5)

    /// What belongs to the thread.
    private struct Work {
        let journal: any WatchedJournal
        var admission: ChangeAdmission
        var body: [UInt8] = []
        /// When the next commit begins at the earliest.
        var nextBegin: ContinuousClock.Instant?
        var lastSpaceCheck: ContinuousClock.Instant?
        var hadBallast: Bool
        var droppedSegmentCount = 0

        init(_ journal: Transferred<any WatchedJournal>, _ admission: ChangeAdmission) {
            self.journal = journal.value
            hadBallast = journal.value.hasBallast
            self.admission = admission
        }
    }

    package let progress: CommitProgress
    private let logs: ChangeLogs
    private let receiver: any CommitBatchReceiver
    private let events: CommitEvents
    private let failed: @Sendable (StorageError) -> Void
    /// What belongs to the thread; nil once it has taken it.
    private let work: Lock<Work?>
    private let keepsSegments: Bool
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
        keepsSegments = parts.keepsSegments
        precondition(
            logs.openBatch == parts.journal.value.last.number + 1,
            "The next commit batch is the journal's next record."
        )
        let limit = parts.maximumWaitingByteCount
        work = Lock(Work(parts.journal, ChangeAdmission(maximumByteCount: limit)))
        progress = CommitProgress(of: logs, receiver, maximumWaitingByteCount: limit)
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
                try checkSpaceIfDue(&work)
                if isStopping { return }
                let isRestricted = admit(&work, committing: 0)
                thread.waitForWakeUp(
                    upTo: isRestricted ? Self.admissionInterval : Self.spaceInterval
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
        try checkSpaceIfDue(&work)
        let since = progress.openTime
        guard let batch = logs.takeBatch(into: &work.body) else { return false }
        progress.noteTaken(since: since)
        // The logs are empty, and may not be filled again with what has just been taken.
        admit(&work, committing: work.body.count)
        let began = clock.now
        let position = try work.journal.append(
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
        work.admission.observe(byteCount: work.body.count, took: duration)
        if duration > JournalAdmission.slowCommit { events.slow(duration) }
        work.body = receiver.submit(work.body, at: position)
        admit(&work, committing: 0)
        work.nextBegin = max(began + Self.interval, clock.now + work.admission.commitDelay)
        try forget(&work)
        return true
    }

    /// Says how many bytes may wait for the next commit; true where checkpoints restrict it.
    ///
    /// This thread waits for checkpoints no longer than a commit may be put off: every answer is held
    /// behind its commits.
    @discardableResult
    private func admit(_ work: inout Work, committing byteCount: Int) -> Bool {
        let (isRestricted, news) = work.admission.set(
            progress.gate,
            receiver.backlog,
            committing: byteCount,
            at: .now
        )
        if let news { events.checkpoints(news) }
        return isRestricted
    }

    private func forget(_ work: inout Work) throws(StorageError) {
        guard !keepsSegments else { return }
        try work.journal.forget(through: receiver.checkpointedRecord)
    }

    private func checkSpaceIfDue(_ work: inout Work) throws(StorageError) {
        let now = ContinuousClock.now
        if let last = work.lastSpaceCheck, last.duration(to: now) < Self.spaceInterval { return }
        work.lastSpaceCheck = now
        // What can go makes room; with nothing to commit, nobody else would look.
        try forget(&work)
        let isWritable = try work.journal.checkSpace() == .writable
        let freeByteCount = try work.journal.freeByteCount()
        let writableByteCount = work.journal.writableByteCount
        let wasWritable = progress.noteSpace(
            isWritable: isWritable,
            freeByteCount: freeByteCount,
            writableByteCount: writableByteCount,
            fileByteCount: work.journal.fileByteCount
        )
        let hasBallast = work.journal.hasBallast
        if work.hadBallast, !hasBallast { events.space(.gaveUpBallast) }
        work.hadBallast = hasBallast
        let dropped = work.journal.droppedSegmentCount
        if dropped > work.droppedSegmentCount {
            events.space(.droppedSegments(count: dropped - work.droppedSegmentCount))
        }
        work.droppedSegmentCount = dropped
        guard wasWritable != isWritable else { return }
        events.space(
            isWritable
                ? .hasRoom(freeByteCount: freeByteCount)
                : .full(freeByteCount: freeByteCount, writableByteCount: writableByteCount)
        )
    }
}

/// What there is to say of the disk's room.
package enum SpaceNews: Equatable, Sendable {
    /// Changes are refused: so many bytes are free, and with so many they are taken again.
    case full(freeByteCount: Int, writableByteCount: Int)
    /// Changes are taken again, with so many bytes free.
    case hasRoom(freeByteCount: Int)
    /// Segments that were kept to restore a moment were removed before their time.
    case droppedSegments(count: Int)
    /// The ballast was given up, so that what was taken before can be written.
    case gaveUpBallast
}

/// A journal whose room is looked at, and which another thread may sync.
package protocol WatchedJournal: Journal {
    /// The bytes that were appended since the last mark.
    var unmarkedByteCount: Int { get }

    /// What another thread is to sync; nil where there is nothing, or a mark has not ended.
    func syncMark() throws(StorageError) -> SyncMark?

    /// A mark was synced.
    func noteSynced(_ mark: SyncMark) throws(StorageError)

    /// The sync of a mark has failed: nothing more is appended.
    func noteFailedSync(_ error: StorageError)

    /// Whether more may be let in; to be called every second or so.
    func checkSpace() throws(StorageError) -> SpaceWatch.Mode

    func freeByteCount() throws(StorageError) -> Int

    /// The free bytes from which on more may be let in again, once it may not.
    var writableByteCount: Int { get }

    /// Whether the file is there that is given up on a full disk.
    var hasBallast: Bool { get }

    var fileByteCount: Int { get }

    /// How many kept segments were removed before their time, as the disk ran low.
    var droppedSegmentCount: Int { get }
}

extension WatchedJournal {
    package var droppedSegmentCount: Int { 0 }
}

extension SegmentJournal: WatchedJournal {}

/// Takes commit batches once they are durable.
package protocol CommitBatchReceiver: Sendable {
    /// Takes a commit batch; returns an array to make the next one in. Never waits, however much it has.
    func submit(_ body: [UInt8], at position: JournalPosition) -> [UInt8]

    /// How much was taken and is not in the tables yet; to be asked for often.
    var backlog: CheckpointBacklog { get }

    /// All records up to this one are kept elsewhere, durably.
    var checkpointedRecord: UInt64 { get }
}
