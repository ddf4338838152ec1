package import FeedConcurrency
package import FeedJournal
internal import FeedRanking
internal import Synchronization

/// Checkpoints durable commit batches into `state.db`, and makes backups of it.
///
/// Only this thread uses the database's connection.
///
/// It adds each new commit batch to the memtable, which keeps the final value of each key. Now and then it
/// writes the memtable in steps. Between two steps it adds the next commit batches to a new memtable.
package final class CheckpointThread: CommitBatchReceiver {
    /// The memtable is checkpointed after so long without a new commit batch: nobody waits for it.
    static let quietTime = Duration.seconds(1)
    /// How far the thread stands back behind the loops: it gets a quarter of a core they want too.
    static let niceness: Int32 = 5
    /// The share of the backlog from which on the thread no longer pauses for others: that of the
    /// bytes that are checkpointed at once.
    ///
    /// A pause costs the rest of its share of the core, and changes are refused from half of the backlog on.
    package static let pauselessShare = 1 / Double(backlogFactor)
    package static let longestStop = Duration.seconds(5)
    /// The memtable is checkpointed after so long at the latest.
    static let longestWait = Duration.seconds(60)
    /// The bytes of commit batches that may wait for a checkpoint, as a multiple of the bytes that
    /// are checkpointed at once.
    ///
    /// At the limit changes are refused, and from half of it on they are slowed (``CheckpointAdmission``).
    private static let backlogFactor = 5
    private static let lookInterval = Duration.milliseconds(250)

    package let backups: Backups
    private let queue = CommitBatchQueue()
    /// What belongs to the thread; nil once it has taken it.
    private let work: Lock<CheckpointWork?>
    package let statistics = CheckpointStatistics()
    private let failed: @Sendable (StorageError) -> Void
    private let news: @Sendable (CheckpointNews) -> Void
    /// Where cores are few, answers come first.
    private let thread = NamedThread("feed-checkpoint", priority: .nice(CheckpointThread.niceness))
    private let stopping = Atomic(false)
    private let stopDeadline = Lock<ContinuousClock.Instant?>(nil)
    private let checkpointed: Atomic<UInt64>
    private let erased: Atomic<UInt64>
    /// The newest record that was handed over.
    private let newest: Atomic<UInt64>
    /// The bytes of commit batches that are not written to the tables.
    private let pending: Atomic<Int>
    private let written = Atomic<UInt64>(0)
    private let backlogLimit: Int
    private let longestStop: Duration
    /// Which of the records are durable that are handed over; nil where all are.
    private let durableRecords: (any DurableRecords)?
    /// The copies that other nodes of a cluster get; nil without one.
    private let copies: ReplicaCopies?

    /// A thread that is ready to be started, for work that no other thread uses.
    ///
    /// No step is written of a checkpoint before all of its records are durable.
    /// The thread calls `failed` when nothing more can be checkpointed. It calls `news` when the disk has no
    /// room for a checkpoint, or has room again. A stop checkpoints for `longestStop` at most.
    package init(
        _ work: consuming CheckpointWork,
        _ backups: Backups,
        durableRecords: (any DurableRecords)? = nil,
        copies: ReplicaCopies? = nil,
        longestStop: Duration = CheckpointThread.longestStop,
        failed: @escaping @Sendable (StorageError) -> Void,
        news: @escaping @Sendable (CheckpointNews) -> Void = { _ in }
    ) {
        self.backups = backups
        self.durableRecords = durableRecords
        self.copies = copies
        checkpointed = Atomic(work.database.meta.checkpointed.number)
        erased = Atomic(work.erasedRecord)
        newest = Atomic(max(work.database.meta.checkpointed.number, work.memtable.position.number))
        pending = Atomic(work.addedByteCount)
        backlogLimit =
            Self.backlogFactor
            * max(CheckpointWork.minimumCheckpointByteCount, work.checkpointByteCount)
        self.failed = failed
        self.news = news
        self.longestStop = longestStop
        self.work = Lock(work)
        copies?.onChange { [thread] in thread.wake() }
    }

    /// All records up to this one are in the tables, durably.
    package var checkpointedRecord: UInt64 { checkpointed.load(ordering: .acquiring) }

    package var erasedRecord: UInt64 { erased.load(ordering: .acquiring) }

    /// How many bytes of commit batches are durable and not checkpointed, and how many may be.
    package var backlog: CheckpointBacklog {
        CheckpointBacklog(
            pendingByteCount: pending.load(ordering: .relaxed),
            limitByteCount: backlogLimit,
            writtenByteCount: written.load(ordering: .relaxed)
        )
    }

    /// Asks for a backup of all records up to a durable one, at least; `answer` is called on any thread.
    package func backUp(through number: UInt64, _ answer: @escaping Backups.Answer) {
        backups.ask(through: number, answer)
        thread.wake()
    }

    /// Deletes the rows of forgotten channels, unless newer outcomes of them are added.
    package func deleteRows(ofChannels numbers: [UInt64]) {
        queue.deleteRows(ofChannels: numbers)
    }

    private var isLagging: Bool { backlog.share >= Self.pauselessShare }

    /// Takes a commit batch that is durable, in a cluster on most machines and soon on this one; gives an
    /// array to make the next one in.
    package func submit(_ body: [UInt8], at position: JournalPosition) -> [UInt8] {
        pending.wrappingAdd(body.count, ordering: .relaxed)
        newest.store(position.number, ordering: .releasing)
        let (spare, isToWake) = queue.submit(body, at: position)
        if isToWake { thread.wake() }
        return spare
    }

    package func start() throws(ThreadStartError) {
        try thread.start { [self] in runToTheEnd() }
    }

    /// Checkpoints the commit batches that were handed over, and ends the thread; to be called once.
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
        backups.inspect(work.database) { [thread] in thread.wake() }
        run(&work)
        statistics.heartBeat.end()
        _ = consume work
        files.unlock()
    }

    private func run(_ work: inout CheckpointWork) {
        defer { backups.close(.stopping) }
        var taken = TakenBatches()
        var stall = Episode()
        do throws(StorageError) {
            while true {
                let isStopping = stopping.load(ordering: .acquiring)
                try fill(&work, from: &taken)
                try work.updateReaders(backups, copies)
                if !isStopping { backups.askWhereDue(through: newest.load(ordering: .acquiring)) }
                // What waits for a frozen file to be thawed needs no checkpoint before that.
                let isFrozen = work.database.isFrozen
                let wantsBackup =
                    backups.wantedRecord != nil && !backups.isInspecting && !isFrozen
                let wantsCopy = copies?.wantedRecord != nil && !isFrozen
                if isStopping, let deadline = stopDeadline.withLock({ $0 }), .now >= deadline {
                    return
                }
                if !isStopping, !work.isCheckpointing {
                    work.beginBackup(backups) { [thread] in thread.wake() }
                }
                if !isStopping, let copies { work.beginCopies(copies) }
                if let target = work.target, durableRecords?.areDurable(through: target) == false {
                    // Nobody syncs them any more: the next start replays those that are there.
                    if isStopping { return }
                    thread.waitForWakeUp(upTo: Self.lookInterval)
                } else if work.canWriteStep(at: .now) {
                    try writeStep(&work)
                    report(work, &stall)
                } else if let stall = work.stall {
                    if wantsBackup { backups.cancel(.failed(stall)) }
                    if wantsCopy { copies?.refuse("No copy can be made now: \(stall)") }
                    // The next start replays the records that are not checkpointed.
                    if isStopping { return }
                    thread.waitForWakeUp(upTo: Self.lookInterval)
                } else if work.isDue(at: .now, atOnce: isStopping || wantsBackup || wantsCopy) {
                    work.begin()
                    statistics.begin()
                } else {
                    if isStopping { return }
                    thread.waitForWakeUp(upTo: Self.lookInterval)
                }
            }
        } catch {
            backups.cancel(.failed(.stateStopped(reason: "\(error)")))
            failed(error)
        }
    }

    private func writeStep(_ work: inout CheckpointWork) throws(StorageError) {
        let began = ContinuousClock.now
        let byteCount = try work.writeStep(isLagging: isLagging)
        checkpointed.store(work.database.meta.checkpointed.number, ordering: .releasing)
        erased.store(work.erasedRecord, ordering: .releasing)
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
        from taken: inout TakenBatches
    ) throws(StorageError) {
        var pauses = Pauses(work.pauseHooks)
        while true {
            statistics.heartBeat.beat()
            guard !taken.isEmpty else {
                if !taken.forgottenChannels.isEmpty {
                    work.memtable.deleteRows(ofChannels: taken.forgottenChannels)
                }
                guard queue.take(into: &taken) else { return }
                continue
            }
            guard !work.isFull else { return }
            let commitBatch = taken.removeFirst()
            try work.add(commitBatch.body, at: commitBatch.position)
            taken.reuse(commitBatch.body)
            if !isLagging { pauses.pauseIfDue() }
        }
    }
}

/// Tells which records a power cut of this machine cannot take back.
package protocol DurableRecords: Sendable {
    /// Whether all up to one are such; asks for it where they are not.
    func areDurable(through number: UInt64) -> Bool
}

/// Statistics of checkpoints: the checkpoint thread alone writes them, any thread reads them.
package final class CheckpointStatistics: Sendable {
    /// In nanoseconds of the monotonic clock; 0 where none is under way.
    private let began = Atomic<UInt64>(0)
    private let longestStep = Atomic<UInt64>(0)
    private let stalled = Atomic(false)
    /// The thread's; it goes on a few times a second, also where no checkpoint is under way.
    let heartBeat = HeartBeat()

    /// For how long the checkpoint thread has not come to its next step; nil where it does not run.
    package var standingTime: Duration? { heartBeat.standingTime }

    package init() {}

    /// How long the checkpoint under way has taken; zero where none is.
    package var timeUnderWay: Duration {
        let began = began.load(ordering: .relaxed)
        let now = SystemClock.monotonicNanoseconds()
        return began == 0 || now < began ? .zero : .nanoseconds(Int64(clamping: now - began))
    }

    /// The longest step since the start, with its sync, in microseconds.
    package var longestStepMicroseconds: UInt64 { longestStep.load(ordering: .relaxed) }

    package var isStalled: Bool { stalled.load(ordering: .relaxed) }

    func begin() { began.store(SystemClock.monotonicNanoseconds(), ordering: .relaxed) }

    func countStep(took duration: Duration, isLast: Bool, isStalled: Bool) {
        longestStep.max(duration.wholeMicroseconds, ordering: .relaxed)
        stalled.store(isStalled, ordering: .relaxed)
        if isLast { began.store(0, ordering: .relaxed) }
    }
}
