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

/// The memory of one log: its lock, the bytes since the last cut, and those being taken.
///
/// All but `waitingByteCount` belongs to whoever holds the lock, the spare buffer to whoever takes
/// cuts.
@safe
struct LogBlock: ~Copyable {
    /// What a log has room for before its first byte.
    static let initialCapacity = 64 * 1_024

    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    let cuts: UnsafeMutablePointer<CutState>
    /// The bytes of the effects since the last cut.
    var base: UnsafeMutablePointer<UInt8>
    var capacity = LogBlock.initialCapacity
    var count = 0
    /// The effects since the last cut.
    var effectCount = 0
    /// The revision of the last effect that has one; 0 after a cut.
    var previousRevision: UInt64 = 0
    /// Whether a section is under way.
    var isHeld = false
    /// Whether this section put the first effect into a cut.
    var wakes = false
    /// The bytes as of the end of the last section.
    let waitingByteCount = Atomic<Int>(0)
    /// The buffer that takes turns with `base`.
    private var spare: UnsafeMutablePointer<UInt8>
    private var spareCapacity = LogBlock.initialCapacity

    /// An empty log of a set.
    init(_ cuts: UnsafeMutablePointer<CutState>) {
        unsafe self.cuts = cuts
        unsafe mutex = .allocate(capacity: 1)
        unsafe base = .allocate(capacity: Self.initialCapacity)
        unsafe spare = .allocate(capacity: Self.initialCapacity)
        let status = unsafe pthread_mutex_init(mutex, nil)
        precondition(status == 0, "A lock could not be made: \(status).")
    }

    deinit {
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
        unsafe base.deallocate()
        unsafe spare.deallocate()
    }

    /// Waits for the lock.
    @inline(__always)
    borrowing func lock() {
        let status = unsafe pthread_mutex_lock(mutex)
        precondition(status == 0, "A log's lock could not be taken.")
    }

    /// Gives the lock back.
    @inline(__always)
    borrowing func unlock() {
        unsafe pthread_mutex_unlock(mutex)
    }

    /// Notes that the open cut has an effect: before any lock is given back under which somebody
    /// could see what it did.
    @inline(never)
    mutating func openCutHasEffect() {
        let cut = unsafe cuts.pointee.openCut.load(ordering: .relaxed)
        let newest = unsafe cuts.pointee.newestCut.exchange(cut, ordering: .relaxed)
        if newest != cut { wakes = true }
    }

    /// Makes room for so many bytes more.
    @inline(never)
    mutating func grow(by byteCount: Int) {
        let newCapacity = max(capacity * 2, count + byteCount)
        let grown = UnsafeMutablePointer<UInt8>.allocate(capacity: newCapacity)
        unsafe grown.update(from: base, count: count)
        unsafe base.deallocate()
        unsafe base = grown
        capacity = newCapacity
    }

    /// Begins the next cut: puts the bytes aside, and returns how many.
    mutating func swapBuffers() -> (byteCount: Int, effectCount: Int) {
        let taken = (count, effectCount)
        unsafe swap(&base, &spare)
        swap(&capacity, &spareCapacity)
        count = 0
        effectCount = 0
        previousRevision = 0
        waitingByteCount.store(0, ordering: .relaxed)
        return taken
    }

    /// Appends the bytes that were put aside to a body, behind their count.
    ///
    /// A buffer that an import has made large is given back.
    mutating func appendTaken(_ byteCount: Int, to body: inout [UInt8]) {
        guard byteCount > 0 else { return }
        let length = UInt32(byteCount)
        for shift in stride(from: UInt32(0), to: 32, by: 8) {
            body.append(UInt8(truncatingIfNeeded: length >> shift))
        }
        unsafe body.append(contentsOf: UnsafeBufferPointer(start: spare, count: byteCount))
        if spareCapacity > RankingLimits.keptLogByteCount {
            unsafe spare.deallocate()
            spareCapacity = Self.initialCapacity
            unsafe spare = .allocate(capacity: spareCapacity)
        }
    }
}
