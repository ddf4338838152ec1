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
    /// How long a stop may fold.
    static let longestStop = Duration.seconds(5)
    /// What was gathered is folded at last after so long.
    static let longestWait = Duration.seconds(60)
    /// The bytes of cuts that may wait to be folded, in times of those that are folded at once.
    static let pendingFactor = 5

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
        var backups: [(through: UInt64, answer: BackupAnswer)] = []
    }

    /// Who hears of a backup.
    package typealias BackupAnswer = @Sendable (Result<BackupSummary, StateError>) -> Void

    private let inbox = Mutex(Inbox())
    private let work: Mutex<FoldWork>
    private let failed: @Sendable (StateStartError) -> Void
    private let wakeUp = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)
    private let stopping = Atomic(false)
    private let stalled = Atomic(false)
    private let stopDeadline = Mutex<ContinuousClock.Instant?>(nil)
    private let folded: Atomic<UInt64>
    /// The bytes of cuts that are not folded.
    private let pending: Atomic<Int>
    private let pendingLimit: Int

    /// A thread that is ready to be started, for work that nobody else does any more.
    ///
    /// `failed` is told, on this thread, that nothing more can be folded.
    init(_ work: consuming FoldWork, failed: @escaping @Sendable (StateStartError) -> Void) {
        folded = Atomic(work.database.meta.folded.sequence)
        pending = Atomic(work.gatheredByteCount)
        pendingLimit = Self.pendingFactor * max(1 << 20, work.foldByteCount)
        self.failed = failed
        self.work = Mutex(work)
    }

    /// All records up to this one are in the tables, durably.
    package var foldedSequence: UInt64 { folded.load(ordering: .acquiring) }

    /// The bytes of cuts that are durable and not folded.
    package var pendingByteCount: Int { pending.load(ordering: .relaxed) }

    /// Makes a backup of all records up to one that is durable, at least, and says where it is, on
    /// this thread.
    package func backUp(through sequence: UInt64, _ answer: @escaping BackupAnswer) {
        inbox.withLock { $0.backups.append((sequence, answer)) }
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

    /// Whether no more waits to be folded than memory should be spent on.
    ///
    /// Where the disk is full nothing is folded, and changes are refused already.
    package var hasRoom: Bool {
        pending.load(ordering: .relaxed) <= pendingLimit || stalled.load(ordering: .relaxed)
    }

    /// Starts the thread.
    func start() {
        let thread = Thread { [self] in
            // By itself, as a name given before the start reaches no thread.
            Thread.current.name = "feed-fold"
            // On Linux of this thread alone: where cores are few, answers come first.
            _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, Self.niceness)
            work.withLock { run(&$0) }
            ended.signal()
        }
        thread.start()
    }

    /// Folds what was handed over, and ends the thread; to be called once.
    ///
    /// Not for longer than ``longestStop``: what is not folded then is replayed by the next start.
    func stop() {
        stopDeadline.withLock { $0 = .now + Self.longestStop }
        stopping.store(true, ordering: .releasing)
        wakeUp.signal()
        ended.wait()
    }

    private func run(_ work: inout FoldWork) {
        do throws(StateStartError) {
            while true {
                let isStopping = stopping.load(ordering: .acquiring)
                try gather(&work)
                let wantsBackup = inbox.withLock { !$0.backups.isEmpty }
                stalled.store(work.stall != nil, ordering: .relaxed)
                if isStopping, let deadline = stopDeadline.withLock({ $0 }), .now >= deadline {
                    return
                }
                if work.canGoOn(at: .now) {
                    guard let written = try work.goOn() else { continue }
                    folded.store(work.database.meta.folded.sequence, ordering: .releasing)
                    pending.wrappingSubtract(written, ordering: .relaxed)
                } else if let stall = work.stall {
                    for answer in takeBackups(through: .max) { answer(.failure(stall)) }
                    // What is not folded is replayed by the next start.
                    if isStopping { return }
                    _ = wakeUp.wait(timeout: .now() + Self.lookInterval)
                } else if backUp(work) {
                    continue
                } else if work.isDue(at: .now, atOnce: isStopping || wantsBackup) {
                    work.begin()
                } else {
                    if isStopping { return }
                    _ = wakeUp.wait(timeout: .now() + Self.lookInterval)
                }
            }
        } catch {
            let stopped = StateError.stopped(reason: "\(error)")
            for answer in takeBackups(through: .max) { answer(.failure(stopped)) }
            failed(error)
        }
    }

    private func gather(_ work: inout FoldWork) throws(StateStartError) {
        let (cuts, evicted) = inbox.withLock { inbox in
            defer {
                inbox.cuts.removeAll(keepingCapacity: true)
                inbox.byteCount = 0
                inbox.evicted = []
            }
            return (inbox.cuts, inbox.evicted)
        }
        if !evicted.isEmpty { work.table.evict(evicted) }
        guard !cuts.isEmpty else { return }
        var pauses = Pauses()
        for (body, position) in cuts {
            try work.gather(body, at: position)
            pauses.pauseIfDue()
        }
        inbox.withLock { inbox in
            for (body, _) in cuts
            where inbox.spares.count < Self.spareCount && body.capacity <= Self.spareByteCount {
                inbox.spares.append(body)
            }
        }
    }

    /// Makes the backup that was asked for, between two folds, once all of it is folded.
    private func backUp(_ work: borrowing FoldWork) -> Bool {
        let waiting = takeBackups(through: work.database.meta.folded.sequence)
        guard !waiting.isEmpty else { return false }
        // Whoever asks from now on may mean what comes from now on.
        let result = work.backUp()
        for answer in waiting { answer(result) }
        return true
    }

    /// Takes those out who want no more than what is folded up to a record.
    private func takeBackups(through sequence: UInt64) -> [BackupAnswer] {
        inbox.withLock { inbox in
            let ready = inbox.backups.filter { $0.through <= sequence }.map(\.answer)
            inbox.backups.removeAll { $0.through <= sequence }
            return ready
        }
    }
}
