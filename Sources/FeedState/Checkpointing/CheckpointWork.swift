package import FeedJournal
internal import FeedLog
internal import FeedRanking
internal import FeedSQLite
internal import Glibc

/// The memtable, the checkpoint under way and their counts, owned by the checkpoint thread.
///
/// `Sendable` so that a start can give it to that thread; the start does not use it again.
package struct CheckpointWork: ~Copyable, @unchecked Sendable {
    /// The bytes of commit batches that one checkpoint writes at most, as a multiple of the bytes
    /// that are checkpointed at once.
    ///
    /// A larger checkpoint makes a post with many votes cheaper, and moves `checkpointed` later.
    private static let largestFactor = 2
    /// The memory that the memtable takes at most, as a multiple of the same bytes.
    private static let memtableFactor = 4
    /// The least bytes that the multiples are of: tests checkpoint after a few bytes.
    static let minimumCheckpointByteCount = 1 << 20
    private static let stallTime = Duration.seconds(1)

    package let database: StateDatabase
    /// How many bytes of commit batches are checkpointed at once where no time is left for fewer.
    let checkpointByteCount: Int
    /// The records that were added so far, with those before them.
    package internal(set) var chain: RecordChain
    var memtable = Memtable()
    package private(set) var addedByteCount = 0
    private var checkpoint: Checkpoint?
    /// What the records up to this one say is to leave the files, as far as it was deleted since.
    package internal(set) var erasedRecord: UInt64 = 0
    private var checkpointingByteCount = 0
    private var writtenByteCount = 0
    private var pace = StepPace()
    /// Why the last step was not written: the disk is full.
    package private(set) var stall: StorageError?
    private var stalledSince = ContinuousClock.now
    /// When the first and the latest commit batch of the memtable came.
    private var firstBatchTime: ContinuousClock.Instant?
    private var lastBatchTime = ContinuousClock.now
    let pauseHooks: PauseHooks

    package init(
        _ database: StateDatabase,
        checkpointByteCount: Int,
        pauseHooks: PauseHooks = PauseHooks()
    ) {
        self.database = database
        chain = database.meta.chain
        self.checkpointByteCount = checkpointByteCount
        self.pauseHooks = pauseHooks
    }

    package var isCheckpointing: Bool { checkpoint != nil }

    /// The last record of the checkpoint under way; nil where none is.
    package var target: UInt64? { checkpoint?.target.number }

    /// Whether a step is to be written now: not right after a step that found the disk full.
    func canWriteStep(at now: ContinuousClock.Instant) -> Bool {
        guard checkpoint != nil else { return false }
        return stall == nil || stalledSince.duration(to: now) >= Self.stallTime
    }

    package mutating func add(
        _ body: [UInt8],
        at position: JournalPosition
    ) throws(StorageError) {
        let head = try headErrors { () throws(RecordHeadError) in
            try chain.take(body.span, record: position.number)
        }
        do throws(LogEntryError) {
            let start = head == nil ? 0 : RecordHead.byteCount
            try memtable.add(body, from: start, at: position)
        } catch {
            throw .brokenRecord(position.number, reason: "read: \(error)")
        }
        countRecord(body.count)
    }

    mutating func countRecord(_ byteCount: Int) {
        addedByteCount += byteCount
        lastBatchTime = .now
        firstBatchTime = firstBatchTime ?? lastBatchTime
    }

    /// Whether no more should be added before a checkpoint begins.
    ///
    /// A checkpoint has bounded bytes, so that segments are given back while the rest waits, and
    /// bounded memory.
    package var isFull: Bool {
        let unit = max(Self.minimumCheckpointByteCount, checkpointByteCount)
        return addedByteCount >= Self.largestFactor * unit
            || memtable.byteCount >= Self.memtableFactor * unit
    }

    func isDue(at now: ContinuousClock.Instant, atOnce: Bool) -> Bool {
        guard !memtable.isEmpty else { return false }
        guard !atOnce, addedByteCount < checkpointByteCount, !isFull else { return true }
        return lastBatchTime.duration(to: now) >= CheckpointThread.quietTime
            || (firstBatchTime ?? now).duration(to: now) >= CheckpointThread.longestWait
    }

    package mutating func begin() {
        var taken = Memtable()
        swap(&taken, &memtable)
        checkpointingByteCount = addedByteCount
        writtenByteCount = 0
        addedByteCount = 0
        firstBatchTime = nil
        checkpoint = Checkpoint(taken, into: database, chain)
    }

    /// Writes a step, and pauses for other threads unless checkpoints lag; gives the bytes of commit
    /// batches that it wrote, in proportion to their changes.
    mutating func writeStep(isLagging: Bool) throws(StorageError) -> Int {
        let hooks = pauseHooks
        var deadline = hooks.now() + pace.workTime
        var pauses = isLagging ? nil : Pauses(hooks)
        let written = try writeStep {
            let now = hooks.now()
            // Each step ends with a sync: there should not be more of them where cores are taken.
            deadline += pauses?.pauseIfDue(at: now) ?? .zero
            return now >= deadline
        }
        if stall == nil { pace.observe(commit: database.lastCommitTime) }
        return written
    }

    /// Writes a step of at most so many changes, which ends where `isDue` says so.
    @discardableResult
    package mutating func writeStep(
        changes limit: Int = .max,
        until isDue: () -> Bool
    ) throws(StorageError) -> Int {
        guard let checkpoint else { return 0 }
        let isDone: Bool
        do throws(StorageError) {
            isDone = try checkpoint.step(
                changes: limit,
                bytes: StepPace.maximumByteCount,
                until: isDue
            )
            stall = nil
        } catch {
            guard error.isOutOfSpace else { throw error }
            // The step is undone, and the journal still has all of it. It is tried again later.
            stall = error
            stalledSince = .now
            return 0
        }
        let before = writtenByteCount
        writtenByteCount =
            isDone
            ? checkpointingByteCount : Int(Double(checkpointingByteCount) * checkpoint.writtenShare)
        if isDone {
            self.checkpoint = nil
            if checkpoint.erases {
                try database.emptyLog()
                erasedRecord = checkpoint.target.number
            }
        }
        return writtenByteCount - before
    }
}

extension CheckpointWork {
    /// Begins the backup that was asked for, where all of its records are checkpointed.
    ///
    /// To be called between two checkpoints. `ready` is called, on another thread, when
    /// ``updateReaders(_:_:)`` has something to do.
    func beginBackup(_ backups: Backups, ready: @escaping @Sendable () -> Void) {
        guard let wanted = backups.wantedRecord, !backups.isInspecting, !database.isFrozen,
            wanted <= database.meta.checkpointed.number, !database.meta.isCheckpointing
        else { return }
        backups.begin(database, ready: ready)
    }

    /// Lets the copies begin that a replica has asked for, where all of their records are checkpointed.
    ///
    /// To be called between two checkpoints. They share a file that is frozen already.
    func beginCopies(_ copies: ReplicaCopies) {
        guard let wanted = copies.wantedRecord else { return }
        if !database.isFrozen {
            let meta = database.meta
            guard wanted <= meta.checkpointed.number, !meta.isCheckpointing else { return }
            do throws(StorageError) {
                _ = try database.freeze()
            } catch {
                // What is frozen in part is thawed, as nobody reads it.
                return copies.refuse("No copy can be made: \(error)")
            }
        }
        guard let record = database.frozenRecord else { return }
        // A disk that does not say what is free leaves the least limit.
        let free = (try? database.files.freeByteCount()) ?? 0
        copies.give(databasePath, at: record, freeByteCount: free)
    }

    /// The path of `state.db` below the root, for another process.
    private var databasePath: String {
        RestoreSource(path: "\(database.directory)/\(StateDatabase.fileName)").absolutePath
    }

    /// Watches SQLite's log while `state.db` is read, and thaws the file once nobody reads it any more.
    func updateReaders(_ backups: Backups, _ copies: ReplicaCopies?) throws(StorageError) {
        guard database.isFrozen else { return }
        let byteCount = try database.logByteCount
        // One that waits until the file is thawed begins with an empty log.
        if backups.isReading { backups.observe(logByteCount: byteCount) }
        copies?.observe(logByteCount: byteCount)
        if !backups.isReading, copies?.isReading != true { try database.thaw() }
    }
}

/// How long a checkpoint step works before it is committed: in proportion to the time of a commit,
/// so that a disk with slow syncs is not synced all the time.
///
/// A step holds no lock, and lets other threads run in the middle, so its length hinders nobody.
package struct StepPace: Equatable {
    package static let minimumTime = Duration.milliseconds(5)
    /// How long a step works at most, however slow commits are.
    package static let maximumTime = Duration.milliseconds(400)
    package static let factor = 3
    /// The bytes of rows after which a step ends in any case.
    ///
    /// They go to the disk at once, and the journal's next sync waits behind them.
    package static let maximumByteCount = 4 << 20

    package private(set) var workTime = Self.minimumTime

    package init() {}

    package mutating func observe(commit duration: Duration) {
        let wanted = min(max(duration * Self.factor, Self.minimumTime), Self.maximumTime)
        workTime = (workTime + wanted) / 2
    }
}

/// What ``Pauses`` reads the time with and lets other threads run with; tests put their own in place.
package struct PauseHooks: Sendable {
    package var now: @Sendable () -> ContinuousClock.Instant = { .now }
    package var yield: @Sendable () -> Void = { sched_yield() }

    package init() {}
}

/// Lets other threads run now and then in the middle of work that nobody waits for.
///
/// Where cores are few, the work delays the threads that answer: Linux may let a thread run to the
/// next tick, four milliseconds, before another one gets the core.
struct Pauses {
    static let interval = Duration.microseconds(200)

    private let hooks: PauseHooks
    private var last: ContinuousClock.Instant

    init(_ hooks: PauseHooks) {
        self.hooks = hooks
        last = hooks.now()
    }

    /// Pauses if that is due, and says for how long; to be called often, where nobody waits for a lock.
    @discardableResult
    mutating func pauseIfDue() -> Duration { pauseIfDue(at: hooks.now()) }

    @discardableResult
    mutating func pauseIfDue(at now: ContinuousClock.Instant) -> Duration {
        guard last.duration(to: now) >= Self.interval else { return .zero }
        hooks.yield()
        last = hooks.now()
        return now.duration(to: last)
    }
}
