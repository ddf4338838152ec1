import FeedConcurrency
import Synchronization

/// A stripe behind its lock.
struct LockedStripe: ~Copyable {
    private let lock: Lock<Stripe>
    /// The directory of the records, for prefetching without the lock.
    fileprivate let directory: RecordDirectory
    /// The directory of the ballots, for prefetching without the lock.
    fileprivate let ballots: BallotDirectory

    /// Takes the stripe; from then on only the lock gives access to it.
    init(_ stripe: consuming sending Stripe) {
        directory = stripe.posts.directory
        ballots = stripe.ballots.directory
        lock = Lock(stripe)
    }

    /// Runs the body with the lock held if the lock is free; otherwise returns nil.
    @inline(__always)
    func withLockIfAvailable<Result, Failure: Error>(
        _ body: (inout Stripe) throws(Failure) -> sending Result
    ) throws(Failure) -> Result? {
        try lock.withLockIfAvailable { (stripe) throws(Failure) -> sending Result in
            try body(&stripe)
        }
    }

    /// Runs the body with the lock held.
    @inline(__always)
    func withLock<Result, Failure: Error>(
        _ body: (inout Stripe) throws(Failure) -> sending Result
    ) throws(Failure) -> Result {
        try lock.withLock { (stripe) throws(Failure) -> sending Result in try body(&stripe) }
    }
}

/// The stripes, each behind its lock and on cache lines of its own.
///
/// A thread holds at most one stripe's lock at any time. The type is `Sendable` because only a lock
/// gives access to a stripe.
@safe
struct StripeSlab: ~Copyable, @unchecked Sendable {
    private static let alignment = 128

    /// The number of stripes, a power of two.
    let count: Int
    /// The number of low bits of an id that are its stripe's number; the other bits are its slot.
    let stripeBits: UInt64
    private let base: UnsafeMutableRawPointer
    private let byteStride: Int
    private let contentions = Atomic<UInt64>(0)

    /// How often a stripe's lock was found taken.
    var contentionCount: UInt64 { contentions.load(ordering: .relaxed) }

    /// Makes empty stripes and gives each its number.
    init(count: Int, pace: RefreshPace) {
        precondition(count > 0 && count & (count - 1) == 0, "Stripes come in a power of two.")
        self.count = count
        let bits = count.trailingZeroBitCount
        stripeBits = UInt64(bits)
        let size = MemoryLayout<LockedStripe>.size
        byteStride = (size + Self.alignment - 1) / Self.alignment * Self.alignment
        unsafe base = .allocate(byteCount: byteStride * count, alignment: Self.alignment)
        for number in 0..<count {
            let stripe = Stripe(number: number, stripeBits: bits, pace: pace)
            let place = unsafe base + number * byteStride
            unsafe place.assumingMemoryBound(to: LockedStripe.self)
                .initialize(to: LockedStripe(stripe))
        }
    }

    deinit {
        for number in 0..<count { unsafe pointer(number).deinitialize(count: 1) }
        unsafe base.deallocate()
    }

    /// The number of the stripe that has an id; O(1).
    @inline(__always)
    func number(of id: PostID) -> Int { Int(truncatingIfNeeded: id.rawValue) & (count - 1) }

    /// Runs the body with the lock held of the stripe that has an id.
    @inline(__always)
    func withStripe<Result, Failure: Error>(
        of id: PostID,
        _ body: (inout Stripe) throws(Failure) -> sending Result
    ) throws(Failure) -> Result {
        try withStripe(number(of: id), body)
    }

    /// Runs the body with a stripe's lock held.
    @inline(__always)
    func withStripe<Result, Failure: Error>(
        _ number: Int,
        _ body: (inout Stripe) throws(Failure) -> sending Result
    ) throws(Failure) -> Result {
        precondition(UInt(bitPattern: number) < UInt(bitPattern: count), "There is no such stripe.")
        let stripe = unsafe pointer(number)
        if let result = try unsafe stripe.pointee.withLockIfAvailable(body) { return result }
        contentions.wrappingAdd(1, ordering: .relaxed)
        return try unsafe stripe.pointee.withLock(body)
    }

    /// Prefetches the cache line of a post's record without the lock; any id is allowed.
    @inline(__always)
    func prefetch(_ id: PostID) {
        guard let slot = UInt32(exactly: id.rawValue >> stripeBits) else { return }
        unsafe pointer(number(of: id)).pointee.directory.prefetch(slot)
    }

    /// Prefetches a voter's ballot on a post without the lock; any id is allowed.
    @inline(__always)
    func prefetchBallot(of voter: VoterID, on id: PostID) {
        guard let slot = UInt32(exactly: id.rawValue >> stripeBits) else { return }
        unsafe pointer(number(of: id)).pointee.ballots.prefetch(slot, voter)
    }

    @inline(__always)
    private func pointer(_ number: Int) -> UnsafeMutablePointer<LockedStripe> {
        unsafe (base + number &* byteStride).assumingMemoryBound(to: LockedStripe.self)
    }
}
