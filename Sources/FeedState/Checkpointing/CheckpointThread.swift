package import FeedConcurrency
package import FeedJournal
internal import FeedRanking
internal import Synchronization

/// Checkpoints durable commit batches into `state.db`, and makes backups of it.
///
/// Only this thread uses the database's connection.
///
/// It adds each new commit batch to the memtable, which keeps the final value of each key. Now and
/// then it writes the memtable in steps. Between two steps it adds the next commit batches to a new
/// memtable.
package final class CheckpointThread: CommitBatchReceiver {
    /// The memtable is checkpointed after so long without a new commit batch: nobody waits for it.
    static let quietTime = Duration.seconds(1)
    /// How far the thread stands back behind the loops: it gets a tenth of a core they want too.
    static let niceness: Int32 = 10
    /// How long a stop may checkpoint, where nothing else is said.
    package static let longestStop = Duration.seconds(5)
    /// The memtable is checkpointed after so long at the latest.
    static let longestWait = Duration.seconds(60)
    /// The bytes of commit batches that may wait for a checkpoint, as a multiple of the bytes that
    /// are checkpointed at once.
    ///
    /// At the limit changes are refused, and from half of it on they are slowed
    /// (``CheckpointAdmission``).
    static let backlogFactor = 5

    /// The bytes of commit batches for which the thread is woken.
    ///
    /// It looks by itself now and then. To wake it for each batch costs more than to add the batch.
    static let wakingByteCount = 256 << 10
    /// How many bodies of added commit batches are kept to be used again, and how large they may be.
    static let spareCount = 64
    static let spareByteCount = 256 << 10
    /// How often the thread looks by itself.
    static let lookInterval = Duration.milliseconds(250)

    /// What other threads hand over.
    private struct Inbox {
        var commitBatches: [(body: [UInt8], position: JournalPosition)] = []
        var byteCount = 0
        /// Bodies of added commit batches, whose memory is used again.
        var spares: [[UInt8]] = []
        var evicted: [UInt64] = []
    }

    /// The backups of the database.
    package let backups: Backups

    /// The commit batches that the thread has taken over and not added yet.
    ///
    /// Those beyond a checkpoint's worth wait here unchanged while the previous checkpoint is
    /// written.
    private struct TakenBatches {
        var commitBatches: [(body: [UInt8], position: JournalPosition)] = []
        /// The first commit batch that is not added.
        var next = 0
        /// Channels that were evicted after these commit batches.
        var evicted: [UInt64] = []
        /// Bodies of added commit batches.
        var spares: [[UInt8]] = []
    }

    private let inbox = Lock(Inbox())
    /// What belongs to the thread; nil once it has taken it.
    private let work: Lock<CheckpointWork?>
    /// How the checkpoints are doing.
    package let statistics = CheckpointStatistics()

    private let failed: @Sendable (StateStartError) -> Void
    private let news: @Sendable (CheckpointNews) -> Void
    /// Where cores are few, answers come first.
    private let thread = NamedThread("feed-checkpoint", niceness: CheckpointThread.niceness)
    private let stopping = Atomic(false)
    private let stopDeadline = Lock<ContinuousClock.Instant?>(nil)
    private let checkpointed: Atomic<UInt64>
    /// The bytes of commit batches that are not written to the tables.
    private let pending: Atomic<Int>
    private let written = Atomic<UInt64>(0)
    private let backlogLimit: Int
    private let longestStop: Duration

    /// A thread that is ready to be started, for work that no other thread uses.
    ///
    /// The thread calls `failed` when nothing more can be checkpointed. It calls `news` when the
    /// disk has no room for a checkpoint, or has room again. A stop checkpoints for `longestStop` at
    /// most.
    package init(
        _ work: consuming CheckpointWork,
        _ backups: Backups,
        longestStop: Duration = CheckpointThread.longestStop,
        failed: @escaping @Sendable (StateStartError) -> Void,
        news: @escaping @Sendable (CheckpointNews) -> Void = { _ in }
    ) {
        self.backups = backups
        checkpointed = Atomic(work.database.meta.checkpointed.number)
        pending = Atomic(work.addedByteCount)
        backlogLimit =
            Self.backlogFactor
            * max(CheckpointWork.minimumCheckpointByteCount, work.checkpointByteCount)
        self.failed = failed
        self.news = news
        self.longestStop = longestStop
        self.work = Lock(work)
    }

    /// All records up to this one are in the tables, durably.
    package var checkpointedRecord: UInt64 { checkpointed.load(ordering: .acquiring) }

    /// How many bytes of commit batches are durable and not checkpointed, and how many may be.
    package var backlog: CheckpointBacklog {
        CheckpointBacklog(
            pendingByteCount: pending.load(ordering: .relaxed),
            limitByteCount: backlogLimit,
            writtenByteCount: written.load(ordering: .relaxed)
        )
    }

    /// Asks for a backup of all records up to a durable one, at least; `answer` is called on any
    /// thread.
    package func backUp(through number: UInt64, _ answer: @escaping Backups.Answer) {
        backups.ask(through: number, answer)
        thread.wake()
    }

    /// These channels' outcomes are not needed any more, unless there are newer ones.
    package func evict(_ channels: [UInt64]) {
        inbox.withLock { $0.evicted += channels }
    }

    /// Takes a commit batch that is durable; gives an array to make the next one in.
    package func submit(_ body: [UInt8], at position: JournalPosition) -> [UInt8] {
        pending.wrappingAdd(body.count, ordering: .relaxed)
        let (spare, isFull) = inbox.withLock { inbox in
            inbox.commitBatches.append((body, position))
            let wasFull = inbox.byteCount >= Self.wakingByteCount
            inbox.byteCount += body.count
            let isFull = inbox.byteCount >= Self.wakingByteCount && !wasFull
            return (inbox.spares.popLast() ?? [], isFull)
        }
        if isFull { thread.wake() }
        return spare
    }

    /// Starts the thread.
    package func start() throws(ThreadStartError) {
        try thread.start { [self] in runToTheEnd() }
    }

    /// Checkpoints the commit batches that were handed over, and ends the thread; to be called
    /// once.
    ///
    /// This takes no longer than `longestStop`: the next start replays the records that are not
    /// checkpointed then.
    package func stop() {
        backups.cancel(.stopping)
        stopDeadline.withLock { $0 = .now + longestStop }
        stopping.store(true, ordering: .releasing)
        thread.wake()
        thread.join()
    }

    /// Runs, closes the database and unlocks the directory.
    ///
    /// Not left to the last reference: the caller of `stop` may open the directory at once.
    private func runToTheEnd() {
        guard var work = work.withLock({ $0.take() }) else { return }
        let files = work.database.files
        backups.inspect(files) { [thread] in thread.wake() }
        run(&work)
        _ = consume work
        files.unlock()
    }

    private func run(_ work: inout CheckpointWork) {
        defer { backups.close(.stopping) }
        var batch = TakenBatches()
        var stall = Episode()
        do throws(StateStartError) {
            while true {
                let isStopping = stopping.load(ordering: .acquiring)
                try fill(&work, from: &batch)
                try work.updateBackup(backups)
                let wantsBackup = backups.wantedRecord != nil && !backups.isInspecting
                if isStopping, let deadline = stopDeadline.withLock({ $0 }), .now >= deadline {
                    return
                }
                if !isStopping, !work.isCheckpointing {
                    work.beginBackup(backups) { [thread] in thread.wake() }
                }
                if work.canWriteStep(at: .now) {
                    try writeStep(&work)
                    report(work, &stall)
                } else if let stall = work.stall {
                    if wantsBackup { backups.cancel(.failed(stall)) }
                    // The next start replays the records that are not checkpointed.
                    if isStopping { return }
                    thread.waitForWakeUp(upTo: Self.lookInterval)
                } else if work.isDue(at: .now, atOnce: isStopping || wantsBackup) {
                    work.begin()
                    statistics.begin()
                } else {
                    if isStopping { return }
                    thread.waitForWakeUp(upTo: Self.lookInterval)
                }
            }
        } catch {
            backups.cancel(.failed(.stopped(reason: "\(error)")))
            failed(error)
        }
    }

    private func writeStep(_ work: inout CheckpointWork) throws(StateStartError) {
        let began = ContinuousClock.now
        let byteCount = try work.writeStep()
        checkpointed.store(work.database.meta.checkpointed.number, ordering: .releasing)
        pending.wrappingSubtract(byteCount, ordering: .relaxed)
        written.wrappingAdd(UInt64(byteCount), ordering: .relaxed)
        statistics.countStep(
            took: began.duration(to: .now),
            isLast: !work.isCheckpointing,
            isStalled: work.stall != nil
        )
    }

    private func report(_ work: borrowing CheckpointWork, _ stall: inout Episode) {
        let error = work.stall
        switch (stall.observe(error != nil, at: .now), error) {
        case (.lasts, let error?): news(.stalled(error))
        case (.ended(let duration), _): news(.resumed(after: duration))
        default: break
        }
    }

    /// Adds the handed-over commit batches to the memtable, up to a checkpoint's worth.
    private func fill(
        _ work: inout CheckpointWork,
        from batch: inout TakenBatches
    ) throws(StateStartError) {
        var pauses = Pauses()
        while true {
            if batch.next == batch.commitBatches.count {
                if !batch.evicted.isEmpty { work.memtable.evict(batch.evicted) }
                takeInbox(&batch)
                guard !batch.commitBatches.isEmpty || !batch.evicted.isEmpty else { return }
                continue
            }
            guard !work.isFull else { return }
            let (body, position) = batch.commitBatches[batch.next]
            try work.add(body, at: position)
            batch.commitBatches[batch.next].body = []
            batch.next += 1
            if body.capacity <= Self.spareByteCount, batch.spares.count < Self.spareCount {
                batch.spares.append(body)
            }
            pauses.pauseIfDue()
        }
    }

    /// Takes over the new commit batches, once all earlier ones are added; O(spares), as the
    /// journal thread uses the same lock.
    private func takeInbox(_ batch: inout TakenBatches) {
        batch.commitBatches.removeAll(keepingCapacity: true)
        batch.next = 0
        batch.evicted = []
        inbox.withLock { inbox in
            swap(&inbox.commitBatches, &batch.commitBatches)
            swap(&inbox.evicted, &batch.evicted)
            inbox.byteCount = 0
            let room = Self.spareCount - inbox.spares.count
            inbox.spares += batch.spares.prefix(room)
        }
        batch.spares.removeAll(keepingCapacity: true)
    }
}
