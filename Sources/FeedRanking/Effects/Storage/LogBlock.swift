import Glibc
import Synchronization

/// What the logs of a set share: which cut is open, and whom to tell of its first effect.
struct CutState: ~Copyable {
    /// The cut that effects go into; changes while all logs are locked.
    let openCut: Atomic<UInt64>
    /// The newest cut that holds an effect.
    let newestCut: Atomic<UInt64>
    /// Called without a lock once a section has put the first effect into a cut.
    let onFirstEffect: @Sendable () -> Void
}

/// One log: its lock, what the lock guards, and what the set shares.
///
/// Nothing of the block itself ever changes, so it may be read without the lock that it leads to.
@safe
struct LogBlock: ~Copyable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    /// What belongs to whoever holds the lock.
    let contents: UnsafeMutablePointer<LogContents>
    /// What all logs share.
    let cuts: UnsafeMutablePointer<CutState>
    /// The bytes as of the end of the last section.
    let waitingByteCount = Atomic<Int>(0)

    /// An empty log of a set.
    init(_ cuts: UnsafeMutablePointer<CutState>) {
        unsafe self.cuts = cuts
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

    /// Gives the lock back.
    @inline(__always)
    func unlock() {
        unsafe pthread_mutex_unlock(mutex)
    }

    /// Notes that the open cut has an effect: before any lock is given back under which somebody
    /// could see what it did.
    @inline(never)
    func openCutHasEffect() {
        let cut = unsafe cuts.pointee.openCut.load(ordering: .relaxed)
        let newest = unsafe cuts.pointee.newestCut.exchange(cut, ordering: .relaxed)
        if newest != cut { unsafe contents.pointee.wakes = true }
    }

    /// Begins the next cut: swaps the bytes for an empty buffer, and returns how many effects they
    /// are; while the lock is held.
    func swapBuffer(for empty: inout LogBuffer) -> Int {
        let effectCount = unsafe contents.pointee.effectCount
        unsafe swap(&contents.pointee.buffer, &empty)
        unsafe contents.pointee.effectCount = 0
        unsafe contents.pointee.previousRevision = 0
        waitingByteCount.store(0, ordering: .relaxed)
        return effectCount
    }
}

/// What a log's lock guards.
struct LogContents: ~Copyable {
    /// The bytes of the effects since the last cut.
    var buffer = LogBuffer()
    /// The effects since the last cut.
    var effectCount = 0
    /// The revision of the last effect that has one; 0 after a cut.
    var previousRevision: UInt64 = 0
    /// Whether a section is under way.
    var isHeld = false
    /// Whether this section put the first effect into a cut.
    var wakes = false
}
