public import FeedConcurrency
import Synchronization

/// The state that all logs of a set share: the open commit batch, and the call for its first entry.
@usableFromInline
struct BatchState: ~Copyable {
    /// The commit batch that takes log entries; it changes while all logs are locked.
    let openBatch: Atomic<UInt64>
    /// The newest commit batch that has a log entry.
    let newestBatch: Atomic<UInt64>
    /// Called without a lock after a transaction has put the first log entry into a commit batch.
    @usableFromInline let onFirstEntry: @Sendable () -> Void
}

/// One log: its lock, the contents that the lock guards, and the state of the set.
///
/// The addresses in the block never change, so they may be read without the lock. The lock has no value
/// of its own, because the log entries of a transaction are appended from inside the closure that
/// holds it.
@safe
@usableFromInline
struct LogBlock: ~Copyable {
    @usableFromInline let lock = Lock(())
    let contents: UnsafeMutablePointer<LogContents>
    @usableFromInline let batchState: UnsafeMutablePointer<BatchState>
    /// The bytes as of the end of the last transaction.
    let waitingByteCount = Atomic<Int>(0)

    init(_ batchState: UnsafeMutablePointer<BatchState>) {
        unsafe self.batchState = batchState
        unsafe contents = .allocate(capacity: 1)
        unsafe contents.initialize(to: LogContents())
    }

    @usableFromInline
    deinit {
        unsafe contents.deinitialize(count: 1)
        unsafe contents.deallocate()
    }

    /// Begins a transaction; the lock is held.
    @usableFromInline
    func beginTransaction() {
        unsafe contents.pointee.isInTransaction = true
    }

    /// Ends a transaction; the lock is held.
    ///
    /// - Returns: Whether the transaction put the first log entry into a commit batch.
    @usableFromInline
    func endTransaction() -> Bool {
        let isFirst = unsafe contents.pointee.isFirst
        unsafe contents.pointee.isFirst = false
        unsafe contents.pointee.isInTransaction = false
        let count = unsafe contents.pointee.buffer.count
        waitingByteCount.store(count, ordering: .relaxed)
        return isFirst
    }

    /// Notes that the open commit batch has an entry.
    ///
    /// This comes before the release of any lock under which others could see the change.
    @inline(never)
    func openBatchHasEntry() {
        let batch = unsafe batchState.pointee.openBatch.load(ordering: .relaxed)
        let newest = unsafe batchState.pointee.newestBatch.exchange(batch, ordering: .relaxed)
        if newest != batch { unsafe contents.pointee.isFirst = true }
    }

    /// Begins the next commit batch while the lock is held: swaps the bytes for an empty buffer,
    /// and returns the number of their log entries.
    func swapBuffer(for empty: inout LogBuffer) -> Int {
        let entryCount = unsafe contents.pointee.entryCount
        unsafe swap(&contents.pointee.buffer, &empty)
        unsafe contents.pointee.entryCount = 0
        unsafe contents.pointee.previousRevision = 0
        waitingByteCount.store(0, ordering: .relaxed)
        return entryCount
    }
}

struct LogContents: ~Copyable {
    /// The bytes of the log entries since the last commit batch.
    var buffer = LogBuffer()
    var entryCount = 0
    /// The revision of the last entry that has one; 0 after a commit batch.
    var previousRevision: UInt64 = 0
    var isInTransaction = false
    /// Whether this transaction put the first log entry into a commit batch, so that its end calls
    /// `onFirstEntry`.
    var isFirst = false
}
