import Glibc
import Synchronization

/// The state that all logs of a set share: the open commit batch, and the call for its first entry.
struct BatchState: ~Copyable {
    /// The commit batch that takes log entries; it changes while all logs are locked.
    let openBatch: Atomic<UInt64>
    /// The newest commit batch that has a log entry.
    let newestBatch: Atomic<UInt64>
    /// Called without a lock after a transaction has put the first log entry into a commit batch.
    let onFirstEntry: @Sendable () -> Void
}

/// One log: its lock, the contents that the lock guards, and the state of the set.
///
/// The addresses in the block never change, so they may be read without the lock.
@safe
struct LogBlock: ~Copyable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    /// The contents, which the lock guards.
    let contents: UnsafeMutablePointer<LogContents>
    /// The state that all logs share.
    let batchState: UnsafeMutablePointer<BatchState>
    /// The bytes as of the end of the last transaction.
    let waitingByteCount = Atomic<Int>(0)

    /// An empty log of a set.
    init(_ batchState: UnsafeMutablePointer<BatchState>) {
        unsafe self.batchState = batchState
        unsafe contents = .allocate(capacity: 1)
        unsafe contents.initialize(to: LogContents())
        unsafe mutex = .allocate(capacity: 1)
        let status = unsafe pthread_mutex_init(mutex, nil)
        precondition(status == 0, "A lock could not be made: \(status).")
    }

    deinit {
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
        unsafe contents.deinitialize(count: 1)
        unsafe contents.deallocate()
    }

    /// Waits for the lock.
    @inline(__always)
    func lock() {
        let status = unsafe pthread_mutex_lock(mutex)
        precondition(status == 0, "A log's lock could not be taken.")
    }

    /// Releases the lock.
    @inline(__always)
    func unlock() {
        unsafe pthread_mutex_unlock(mutex)
    }

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

/// The contents of a log, which its lock guards.
struct LogContents: ~Copyable {
    /// The bytes of the log entries since the last commit batch.
    var buffer = LogBuffer()
    /// The log entries since the last commit batch.
    var entryCount = 0
    /// The revision of the last entry that has one; 0 after a commit batch.
    var previousRevision: UInt64 = 0
    /// Whether a transaction is under way.
    var isInTransaction = false
    /// Whether this transaction put the first log entry into a commit batch, so that its end calls
    /// `onFirstEntry`.
    var wakes = false
}
