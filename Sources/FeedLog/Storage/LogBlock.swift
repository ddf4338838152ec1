import FeedConcurrency
import Synchronization

/// What the logs of a set share: which commit batch is open, and what its first log entry calls.
struct BatchState: ~Copyable {
    /// The commit batch that takes log entries; it changes while all logs are locked.
    let openBatch: Atomic<UInt64>
    /// The newest commit batch that holds a log entry.
    let newestBatch: Atomic<UInt64>
    /// Called without a lock after a transaction has put the first log entry into a commit batch.
    let onFirstEntry: @Sendable () -> Void
}

/// One log: its lock, what the lock guards, and what the set shares.
///
/// Nothing of the block itself ever changes, so it may be read without the lock that it leads to.
@safe
struct LogBlock: ~Copyable {
    private let mutex = UnscopedLock()
    /// What the holder of the lock owns.
    let contents: UnsafeMutablePointer<LogContents>
    /// What all logs share.
    let batchState: UnsafeMutablePointer<BatchState>
    /// The bytes as of the end of the last transaction.
    let waitingByteCount = Atomic<Int>(0)

    /// An empty log of a set.
    init(_ batchState: UnsafeMutablePointer<BatchState>) {
        unsafe self.batchState = batchState
        unsafe contents = .allocate(capacity: 1)
        unsafe contents.initialize(to: LogContents())
    }

    deinit {
        unsafe contents.deinitialize(count: 1)
        unsafe contents.deallocate()
    }

    /// Waits for the lock.
    @inline(__always)
    func lock() { mutex.lock() }

    /// Gives the lock back.
    @inline(__always)
    func unlock() { mutex.unlock() }

    /// Notes that the open commit batch has an entry.
    ///
    /// This comes before the release of any lock under which others could see the change.
    @inline(never)
    func openBatchHasEntry() {
        let batch = unsafe batchState.pointee.openBatch.load(ordering: .relaxed)
        let newest = unsafe batchState.pointee.newestBatch.exchange(batch, ordering: .relaxed)
        if newest != batch { unsafe contents.pointee.wakes = true }
    }

    /// Begins the next commit batch while the lock is held: swaps the bytes for an empty buffer,
    /// and returns how many log entries they hold.
    func swapBuffer(for empty: inout LogBuffer) -> Int {
        let entryCount = unsafe contents.pointee.entryCount
        unsafe swap(&contents.pointee.buffer, &empty)
        unsafe contents.pointee.entryCount = 0
        unsafe contents.pointee.previousRevision = 0
        waitingByteCount.store(0, ordering: .relaxed)
        return entryCount
    }
}

/// What a log's lock guards.
struct LogContents: ~Copyable {
    /// The bytes of the log entries since the last commit batch.
    var buffer = LogBuffer()
    /// The log entries since the last commit batch.
    var entryCount = 0
    /// The revision of the last entry that has one; 0 after a commit batch.
    var previousRevision: UInt64 = 0
    /// Whether a transaction is under way.
    var isHeld = false
    /// Whether this transaction put the first log entry into a commit batch.
    var wakes = false
}
