package import FeedConcurrency
package import FeedJournal
internal import Synchronization

/// Syncs the journal of a cluster's directory on the thread `feed-sync`, while `feed-journal` appends to it.
///
/// A record goes its way in this order, so a power cut takes nothing back that something else on the disk
/// builds on:
///
/// 1. `feed-journal` appends it, takes a mark, and hands it over.
/// 2. `feed-sync` syncs the mark's files. From here on the record is durable, and `syncedRecord` says so.
/// 3. `feed-journal` writes the watermark, and says DURABLE to the replica, which may forget the record.
/// 4. The checkpoint thread writes a row of the record: never before step 2, as it asks for a checkpoint's
///    last record before its first step. So neither `checkpointing` nor `checkpointed` of `state.db` names a
///    record that the journal may lose, and what a start cuts off is in no row.
///
/// The watermark may be older than `checkpointed`: a start takes the newer of them.
package final class ReplicaSync: DurableRecords {
    /// How long after a mark the next one is taken.
    package static let interval = Duration.seconds(1)
    /// The bytes from which on it is taken at once.
    package static let byteCount = 8 << 20

    private enum Work {
        case none
        case waits(SyncMark)
        case underWay
        case done(SyncMark)
        case failed(StorageError)
    }

    private struct State {
        var work = Work.none
        /// When the next mark is taken at the latest; nil before the first one.
        var nextTime: ContinuousClock.Instant?
    }

    private let state = Lock(State())
    private let synced: Atomic<UInt64>
    /// The newest record that the checkpoint thread waits for.
    private let wanted = Atomic<UInt64>(0)
    private let wakeJournal: @Sendable () -> Void
    private let thread = NamedThread("feed-sync")
    private let stopping = Atomic(false)

    /// A thread that is ready to be started, for a journal that is durable up to a record.
    ///
    /// `wakeJournal` is called on any thread when ``advance(_:at:)`` has something to do.
    package init(syncedRecord: UInt64, wakeJournal: @escaping @Sendable () -> Void) {
        synced = Atomic(syncedRecord)
        self.wakeJournal = wakeJournal
    }

    /// All records up to this one are on this machine's disk.
    package var syncedRecord: UInt64 { synced.load(ordering: .acquiring) }

    /// Whether all records up to one are on this machine's disk; asks for that where they are not.
    package func areDurable(through number: UInt64) -> Bool {
        guard syncedRecord < number else { return true }
        if wanted.max(number, ordering: .acquiringAndReleasing).oldValue < number { wakeJournal() }
        return false
    }

    package func start() throws(ThreadStartError) {
        try thread.start { [self] in run() }
    }

    private func run() {
        while true {
            let isStopping = stopping.load(ordering: .acquiring)
            guard !syncMark() else { continue }
            if isStopping { return }
            thread.waitForWakeUp(upTo: Self.interval)
        }
    }

    /// Syncs the mark that waits, and says whether there was one.
    ///
    /// For `feed-sync`, and for tests that have no such thread.
    @discardableResult
    package func syncMark() -> Bool {
        let mark = state.withLock { state -> SyncMark? in
            guard case .waits(let mark) = state.work else { return nil }
            state.work = .underWay
            return mark
        }
        guard let mark else { return false }
        do throws(StorageError) {
            try mark.sync()
            synced.store(mark.position.number, ordering: .releasing)
            state.withLock { $0.work = .done(mark) }
        } catch {
            state.withLock { $0.work = .failed(error) }
        }
        wakeJournal()
        return true
    }
}

// What `feed-journal` calls, which alone uses the journal.
extension ReplicaSync {
    /// Takes the end of a sync into the journal, and begins the next one where it is due; O(1), and waits for
    /// no disk.
    ///
    /// To be called when the thread was woken, after appends, and a few times a second. After a sync that
    /// has failed it throws, and the journal takes nothing more.
    package func advance(
        _ journal: any WatchedJournal,
        at now: ContinuousClock.Instant
    ) throws(StorageError) {
        try end(journal)
        let isWanted = wanted.load(ordering: .acquiring) > syncedRecord
        let isDue = state.withLock { state in
            if state.nextTime == nil { state.nextTime = now + Self.interval }
            return state.nextTime.map { $0 <= now } ?? true
        }
        guard isWanted || isDue || journal.unmarkedByteCount >= Self.byteCount else { return }
        guard try begin(journal, at: now) else { return }
        thread.wake()
    }

    /// Ends the thread, and syncs all that was appended; to be called once, when nothing more is.
    package func finish(_ journal: any WatchedJournal) throws(StorageError) {
        stopping.store(true, ordering: .releasing)
        thread.wake()
        thread.join()
        // The mark that the thread has not taken, if it was never started.
        syncMark()
        try end(journal)
        guard try begin(journal, at: .now) else { return }
        syncMark()
        try end(journal)
    }

    /// Hands a mark over; false where there is nothing to sync, or a sync is under way.
    private func begin(
        _ journal: any WatchedJournal,
        at now: ContinuousClock.Instant
    ) throws(StorageError) -> Bool {
        guard let mark = try journal.syncMark() else { return false }
        state.withLock { state in
            state.work = .waits(mark)
            state.nextTime = now + Self.interval
        }
        return true
    }

    private func end(_ journal: any WatchedJournal) throws(StorageError) {
        let ended = state.withLock { state in
            let work = state.work
            switch work {
            case .done, .failed: state.work = .none
            case .none, .waits, .underWay: break
            }
            return work
        }
        switch ended {
        case .done(let mark): try journal.noteSynced(mark)
        case .failed(let error):
            journal.noteFailedSync(error)
            throw error
        case .none, .waits, .underWay: break
        }
    }
}
