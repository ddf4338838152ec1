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
    /// What was gathered is folded at last after so long.
    static let longestWait = Duration.seconds(60)
    /// The bytes of cuts that may wait to be folded, in times of those that are folded at once.
    static let pendingFactor = 5

    /// The thread is woken for so many bytes of cuts, and looks by itself now and then: to wake it
    /// for each would cost more than to gather them.
    static let wakingByteCount = 256 << 10
    /// How often the thread looks by itself.
    static let lookInterval = DispatchTimeInterval.milliseconds(250)

    /// What other threads hand over.
    private struct Inbox {
        var cuts: [(body: [UInt8], position: JournalPosition)] = []
        var byteCount = 0
        /// Bodies that were gathered, whose memory is used again.
        var spares: [[UInt8]] = []
        var evicted: [UInt64] = []
        var backups: [BackupAnswer] = []
    }

    /// Who hears of a backup.
    package typealias BackupAnswer = @Sendable (Result<BackupSummary, StateError>) -> Void

    private let inbox = Mutex(Inbox())
    private let work: Mutex<FoldWork>
    private let failed: @Sendable (StateStartError) -> Void
    private let wakeUp = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)
    private let stopping = Atomic(false)
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

    /// Makes a backup of all that is durable by then, and says where it is, on this thread.
    package func backUp(_ answer: @escaping BackupAnswer) {
        inbox.withLock { $0.backups.append(answer) }
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

    /// Blocks while more waits to be folded than memory should be spent on.
    package func waitForRoom() {
        while pending.load(ordering: .relaxed) > pendingLimit { usleep(1_000) }
    }

    /// Starts the thread.
    func start() {
        let thread = Thread { [self] in
            work.withLock { run(&$0) }
            ended.signal()
        }
        thread.name = "feed-fold"
        thread.start()
    }

    /// Folds what was handed over, and ends the thread; to be called once.
    func stop() {
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
                if work.canGoOn(at: .now) {
                    guard let written = try work.goOn() else { continue }
                    folded.store(work.database.meta.folded.sequence, ordering: .releasing)
                    pending.wrappingSubtract(written, ordering: .relaxed)
                } else if let stall = work.stall {
                    answerBackups(.failure(stall))
                    // What is not folded is replayed by the next start.
                    if isStopping { return }
                    _ = wakeUp.wait(timeout: .now() + Self.lookInterval)
                } else if work.isDue(at: .now, atOnce: isStopping || wantsBackup) {
                    work.begin()
                } else if wantsBackup {
                    answerBackups(work.backUp())
                } else {
                    if isStopping { return }
                    _ = wakeUp.wait(timeout: .now() + Self.lookInterval)
                }
            }
        } catch {
            answerBackups(.failure(.stopped(reason: "\(error)")))
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
        for (body, position) in cuts { try work.gather(body, at: position) }
        inbox.withLock { inbox in
            for (body, _) in cuts where inbox.spares.count < 16 { inbox.spares.append(body) }
        }
    }

    private func answerBackups(_ result: Result<BackupSummary, StateError>) {
        let waiting = inbox.withLock { inbox in
            defer { inbox.backups = [] }
            return inbox.backups
        }
        for answer in waiting { answer(result) }
    }
}
