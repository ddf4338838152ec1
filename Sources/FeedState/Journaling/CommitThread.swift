package import FeedConcurrency
package import FeedJournal
package import FeedLog
internal import Synchronization

/// Makes commit batches durable: takes what the loops have logged, and notifies.
///
/// ``JournalThread`` does it by the journal of one machine. What is asked on the way of a vote is in the
/// concrete ``CommitProgress``, so no loop calls through the protocol.
package protocol CommitThread: AnyObject, Sendable {
    /// How far the commits are, for any thread.
    var progress: CommitProgress { get }

    /// Notes that the first log entry since a commit batch was logged, and wakes the thread.
    func wake()

    func start() throws(ThreadStartError)

    /// Commits what waits, and ends the thread; to be called once, when nothing is logged any more.
    func stop()
}

/// What a start gives to a commit thread.
package struct CommitParts: Sendable {
    /// The journal, which nobody else uses any more.
    package let journal: Transferred<any WatchedJournal>
    /// The records up to the journal's last one.
    package let chain: RecordChain
    /// Where the next commit batch is the journal's next record.
    package let logs: ChangeLogs
    package let receiver: any CommitBatchReceiver
    package let maximumWaitingByteCount: Int
    package let keepsSegments: Bool
    package let events: CommitEvents
    /// To be called when the journal has failed: nothing more may be answered.
    package let failed: @Sendable (StorageError) -> Void

    package init(
        journal: Transferred<any WatchedJournal>,
        chain: RecordChain,
        logs: ChangeLogs,
        receiver: any CommitBatchReceiver,
        maximumWaitingByteCount: Int,
        keepsSegments: Bool,
        events: CommitEvents,
        failed: @escaping @Sendable (StorageError) -> Void
    ) {
        self.journal = journal
        self.chain = chain
        self.logs = logs
        self.receiver = receiver
        self.maximumWaitingByteCount = maximumWaitingByteCount
        self.keepsSegments = keepsSegments
        self.events = events
        self.failed = failed
    }
}

/// What a commit thread calls when something happens, on that thread.
package struct CommitEvents: Sendable {
    /// All commit batches up to this one are durable.
    package var durable: @Sendable (UInt64) -> Void = { _ in }
    /// A commit took longer than ``JournalAdmission/slowCommit``.
    package var slow: @Sendable (Duration) -> Void = { _ in }
    /// The disk has become full, or has room again; once a second at most.
    package var space: @Sendable (SpaceNews) -> Void = { _ in }
    /// Checkpoints slow changes, or have stopped to; a few times a minute at most.
    package var checkpoints: @Sendable (CheckpointNews) -> Void = { _ in }

    /// Events that do nothing, to be filled in.
    package init() {}
}

/// What a commit that stands still waits for.
package enum CommitWait: Equatable, Sendable {
    /// The disk of the journal.
    case disk
    /// A majority of the cluster, which has not confirmed this record.
    case majority(record: UInt64)
}

/// How far a commit thread is, whether more may be let in, and what room the disk has: the thread writes
/// it, and any thread reads it.
package final class CommitProgress: Sendable {
    /// What the commits were like.
    package let statistics = CommitStatistics()
    private let logs: ChangeLogs
    private let receiver: any CommitBatchReceiver
    let gate: ChangeGate
    private let durable: Atomic<UInt64>
    private let writable = Atomic(true)
    private let free = Atomic<Int>(0)
    private let needed = Atomic<Int>(0)
    private let files = Atomic<Int>(0)
    /// When the open commit batch got its first log entry, in nanoseconds of the monotonic clock; 0 if
    /// that is not noted.
    private let openSince = Atomic<UInt64>(0)
    /// The same for the commit batch that is on its way to the disk; 0 if there is none.
    private let takenSince = Atomic<UInt64>(0)

    /// The progress of a thread that continues after the last commit batch of the logs.
    package init(
        of logs: ChangeLogs,
        _ receiver: any CommitBatchReceiver,
        maximumWaitingByteCount: Int
    ) {
        self.logs = logs
        self.receiver = receiver
        gate = ChangeGate(byteCount: maximumWaitingByteCount)
        durable = Atomic(logs.openBatch - 1)
    }

    /// The progress of a thread with these parts.
    package convenience init(of parts: CommitParts) {
        self.init(
            of: parts.logs,
            parts.receiver,
            maximumWaitingByteCount: parts.maximumWaitingByteCount
        )
    }

    /// All commit batches up to this one are durable.
    package var durableBatch: UInt64 { durable.load(ordering: .acquiring) }

    /// Whether the disk has room for what is let in.
    package var isWritable: Bool { writable.load(ordering: .relaxed) }

    /// The bytes that the disk had free when it was last looked at.
    package var freeByteCount: Int { free.load(ordering: .relaxed) }

    /// The free bytes from which on changes are taken again, once they are not.
    package var writableByteCount: Int { needed.load(ordering: .relaxed) }

    /// The bytes of the journal's files when they were last looked at.
    package var fileByteCount: Int { files.load(ordering: .relaxed) }

    /// Why no more may be let in for now; nil where more may be.
    ///
    /// O(logs), a few atomic loads.
    @inline(__always)
    package var congestion: Congestion? {
        guard gate.isClosed(for: logs.waitingByteCount) else { return nil }
        return gate.cause(receiver.backlog)
    }

    /// Counts a change that was refused because checkpoints lag.
    package func countRefusalByCheckpoints() { gate.countRefusalByCheckpoints() }

    /// The changes that were refused because checkpoints lag.
    package var refusedByCheckpoints: UInt64 { gate.refusedByCheckpoints }

    /// How long the oldest log entry that is not durable has waited; nil if none waits.
    package var oldestWait: Duration? {
        guard logs.newestBatch > durableBatch else { return nil }
        let taken = takenSince.load(ordering: .relaxed)
        let since = taken > 0 ? taken : openSince.load(ordering: .relaxed)
        // The open commit batch has got its first log entry just now.
        guard since > 0 else { return .zero }
        let now = SystemClock.monotonicNanoseconds()
        return .nanoseconds(Int64(clamping: now > since ? now - since : 0))
    }
}

/// What the commit thread notes.
extension CommitProgress {
    /// The open commit batch has got its first log entry.
    package func noteFirstEntry() {
        openSince.store(SystemClock.monotonicNanoseconds(), ordering: .relaxed)
    }

    /// When the open commit batch got its first log entry: to be read before the batch is taken.
    package var openTime: UInt64 { openSince.load(ordering: .relaxed) }

    /// A commit batch that was opened at a time is on its way to the disk; the oldest of those on their way
    /// was opened at another, if there are several.
    ///
    /// The time is forgotten for the open batch: after an hour without changes the next first log entry would
    /// pass for an hour old, until its own time is noted.
    package func noteTaken(since time: UInt64, oldest: UInt64? = nil) {
        takenSince.store(oldest ?? time, ordering: .relaxed)
        _ = openSince.compareExchange(expected: time, desired: 0, ordering: .relaxed)
    }

    /// All commit batches up to this one are durable.
    package func noteDurable(_ batch: UInt64) {
        durable.store(batch, ordering: .releasing)
        takenSince.store(0, ordering: .relaxed)
    }

    /// The disk was looked at; returns whether changes were taken before.
    func noteSpace(
        isWritable: Bool,
        freeByteCount: Int,
        writableByteCount: Int,
        fileByteCount: Int
    ) -> Bool {
        free.store(freeByteCount, ordering: .relaxed)
        needed.store(writableByteCount, ordering: .relaxed)
        files.store(fileByteCount, ordering: .relaxed)
        return writable.exchange(isWritable, ordering: .relaxed)
    }
}
