internal import Dispatch
package import FeedJournal
internal import FeedRanking
internal import Foundation
internal import Synchronization

/// The thread that folds durable cuts into `state.db`, and makes backups of it: the one that uses
/// the database's connection.
///
/// Cuts are gathered as they come, the final value of each key; now and then what was gathered is
/// written, in slices, between which the next cuts are gathered.
package final class FoldThread: CutReceiver {
    /// With nothing new for so long, what was gathered is folded: nobody is kept waiting by it.
    static let quietTime = Duration.seconds(1)
    /// How far the thread stands back behind the loops: it gets a tenth of a core they want too.
    static let niceness: Int32 = 10
    /// How long a stop may fold, where nothing else is said.
    package static let longestStop = Duration.seconds(5)
    /// What was gathered is folded at last after so long.
    static let longestWait = Duration.seconds(60)
    /// The bytes of cuts that may wait to be folded, in times of those that are folded at once: at
    /// so many changes are refused, from half of them on they are slowed (``CheckpointAdmission``).
    static let backlogFactor = 5

    /// The thread is woken for so many bytes of cuts, and looks by itself now and then: to wake it
    /// for each would cost more than to gather them.
    static let wakingByteCount = 256 << 10
    /// How many bodies that were gathered are kept to be used again, and how large they may be.
    static let spareCount = 64
    static let spareByteCount = 256 << 10
    /// How often the thread looks by itself.
    static let lookInterval = DispatchTimeInterval.milliseconds(250)

    /// What other threads hand over.
    private struct Inbox {
        var cuts: [(body: [UInt8], position: JournalPosition)] = []
        var byteCount = 0
        /// Bodies that were gathered, whose memory is used again.
        var spares: [[UInt8]] = []
        var evicted: [UInt64] = []
    }

    /// The backups of the database.
    package let backups: Backups

    /// What the thread has taken over and not gathered yet: what is more than a checkpoint's worth
    /// waits here as it came, while the one before is written.
    private struct Batch {
        var cuts: [(body: [UInt8], position: JournalPosition)] = []
        /// The first that is not gathered.
        var next = 0
        /// Channels that were evicted after these cuts.
        var evicted: [UInt64] = []
        /// Bodies that were gathered.
        var spares: [[UInt8]] = []
    }

    private let inbox = Mutex(Inbox())
    private let work: Mutex<FoldWork>
    /// How the checkpoints are doing.
    package let statistics = CheckpointStatistics()

    private let failed: @Sendable (StateStartError) -> Void
    private let news: @Sendable (CheckpointNews) -> Void
    private let wakeUp = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)
    private let stopping = Atomic(false)
    private let stopDeadline = Mutex<ContinuousClock.Instant?>(nil)
    private let folded: Atomic<UInt64>
    /// The bytes of cuts that are not written to the tables.
    private let pending: Atomic<Int>
    private let written = Atomic<UInt64>(0)
    private let backlogLimit: Int
    private let longestStop: Duration

    /// A thread that is ready to be started, for work that nobody else does any more.
    ///
    /// `failed` is told, on this thread, that nothing more can be folded, and `news` that the disk has
    /// no room for it, or has again. A stop folds for `longestStop` at most.
    package init(
        _ work: consuming FoldWork,
        _ backups: Backups,
        longestStop: Duration = FoldThread.longestStop,
        failed: @escaping @Sendable (StateStartError) -> Void,
        news: @escaping @Sendable (CheckpointNews) -> Void = { _ in }
    ) {
        self.backups = backups
        folded = Atomic(work.database.meta.folded.sequence)
        pending = Atomic(work.gatheredByteCount)
        backlogLimit =
            Self.backlogFactor * max(FoldWork.minimumFoldByteCount, work.foldByteCount)
        self.failed = failed
        self.news = news
        self.longestStop = longestStop
        self.work = Mutex(work)
    }

    /// All records up to this one are in the tables, durably.
    package var foldedSequence: UInt64 { folded.load(ordering: .acquiring) }

    /// How many bytes of cuts are durable and not folded, and how many may be.
    package var backlog: CheckpointBacklog {
        CheckpointBacklog(
            unfoldedByteCount: pending.load(ordering: .relaxed),
            limitByteCount: backlogLimit,
            writtenByteCount: written.load(ordering: .relaxed)
        )
    }

    /// Has a backup made of all records up to one that is durable, at least; `answer` hears of it
    /// on any thread.
    package func backUp(through sequence: UInt64, _ answer: @escaping Backups.Answer) {
        backups.ask(through: sequence, answer)
        wakeUp.signal()
    }

    /// These channels' outcomes are not needed any more, unless there are newer ones.
    package func evict(_ channels: [UInt64]) {
        inbox.withLock { $0.evicted += channels }
    }

    /// Takes a cut that is durable; gives an array to make the next one in.
    package func submit(_ body: [UInt8], at position: JournalPosition) -> [UInt8] {
        pending.wrappingAdd(body.count, ordering: .relaxed)
        let (spare, isFull) = inbox.withLock { inbox in
            inbox.cuts.append((body, position))
            let wasFull = inbox.byteCount >= Self.wakingByteCount
            inbox.byteCount += body.count
            let isFull = inbox.byteCount >= Self.wakingByteCount && !wasFull
            return (inbox.spares.popLast() ?? [], isFull)
        }
        if isFull { wakeUp.signal() }
        return spare
    }

    /// Starts the thread.
    package func start() {
        let thread = Thread { [self] in
            // By itself, as a name given before the start reaches no thread.
            Thread.current.name = "feed-fold"
            // On Linux of this thread alone: where cores are few, answers come first.
            _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, Self.niceness)
            work.withLock { work in
                backups.lookAround(work.database.files) { [wakeUp] in wakeUp.signal() }
                run(&work)
            }
            ended.signal()
        }
        thread.start()
    }

    /// Folds what was handed over, and ends the thread; to be called once.
    ///
    /// Not for longer than its `longestStop`: what is not folded then is replayed by the next start.
    package func stop() {
        backups.cancel(.stopping)
        stopDeadline.withLock { $0 = .now + longestStop }
        stopping.store(true, ordering: .releasing)
        wakeUp.signal()
        ended.wait()
    }

    private func run(_ work: inout FoldWork) {
        defer { backups.close(.stopping) }
        var batch = Batch()
        var stall = Episode()
        do throws(StateStartError) {
            while true {
                let isStopping = stopping.load(ordering: .acquiring)
                try gather(&work, from: &batch)
                try work.tendBackup(backups)
                let wantsBackup = backups.wantedSequence != nil && !backups.isLookingAround
                if isStopping, let deadline = stopDeadline.withLock({ $0 }), .now >= deadline {
                    return
                }
                if !isStopping, !work.isFolding {
                    work.beginBackup(backups) { [wakeUp] in wakeUp.signal() }
                }
                if work.canGoOn(at: .now) {
                    try writeSlice(&work)
                    report(work, &stall)
                } else if let stall = work.stall {
                    if wantsBackup { backups.cancel(.failed(stall)) }
                    // What is not folded is replayed by the next start.
                    if isStopping { return }
                    _ = wakeUp.wait(timeout: .now() + Self.lookInterval)
                } else if work.isDue(at: .now, atOnce: isStopping || wantsBackup) {
                    work.begin()
                    statistics.begin()
                } else {
                    if isStopping { return }
                    _ = wakeUp.wait(timeout: .now() + Self.lookInterval)
                }
            }
        } catch {
            backups.cancel(.failed(.stopped(reason: "\(error)")))
            failed(error)
        }
    }

    private func writeSlice(_ work: inout FoldWork) throws(StateStartError) {
        let began = ContinuousClock.now
        let byteCount = try work.goOn()
        folded.store(work.database.meta.folded.sequence, ordering: .releasing)
        pending.wrappingSubtract(byteCount, ordering: .relaxed)
        written.wrappingAdd(UInt64(byteCount), ordering: .relaxed)
        statistics.countSlice(
            took: began.duration(to: .now),
            isLast: !work.isFolding,
            isStalled: work.stall != nil
        )
    }

    private func report(_ work: borrowing FoldWork, _ stall: inout Episode) {
        let error = work.stall
        switch (stall.observe(error != nil, at: .now), error) {
        case (.lasts, let error?): news(.stalled(error))
        case (.ended(let duration), _): news(.resumed(after: duration))
        default: break
        }
    }

    /// Gathers what was handed over, up to a checkpoint's worth.
    private func gather(
        _ work: inout FoldWork,
        from batch: inout Batch
    ) throws(StateStartError) {
        var pauses = Pauses()
        while true {
            if batch.next == batch.cuts.count {
                if !batch.evicted.isEmpty { work.table.evict(batch.evicted) }
                takeInbox(&batch)
                guard !batch.cuts.isEmpty || !batch.evicted.isEmpty else { return }
                continue
            }
            guard !work.isFull else { return }
            let (body, position) = batch.cuts[batch.next]
            try work.gather(body, at: position)
            batch.cuts[batch.next].body = []
            batch.next += 1
            if body.capacity <= Self.spareByteCount, batch.spares.count < Self.spareCount {
                batch.spares.append(body)
            }
            pauses.pauseIfDue()
        }
    }

    /// Takes over what has come since, once the batch is gathered; O(spares), as the lock is the
    /// journal thread's too.
    private func takeInbox(_ batch: inout Batch) {
        batch.cuts.removeAll(keepingCapacity: true)
        batch.next = 0
        batch.evicted = []
        inbox.withLock { inbox in
            swap(&inbox.cuts, &batch.cuts)
            swap(&inbox.evicted, &batch.evicted)
            inbox.byteCount = 0
            let room = Self.spareCount - inbox.spares.count
            inbox.spares += batch.spares.prefix(room)
        }
        batch.spares.removeAll(keepingCapacity: true)
    }
}
