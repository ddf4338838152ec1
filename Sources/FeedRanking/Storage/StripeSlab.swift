import Synchronization

/// The stripes, each behind its lock and on cache lines of its own.
///
/// A thread holds at most one stripe's lock at any time. `Sendable` because nothing but a lock
/// leads to a stripe.
@safe
struct StripeSlab: ~Copyable, @unchecked Sendable {
    private static let alignment = 128

    let count: Int
    private let base: UnsafeMutableRawPointer
    private let byteStride: Int
    private let contentions = Atomic<UInt64>(0)

    /// How often a stripe's lock was found taken.
    var contentionCount: UInt64 { contentions.load(ordering: .relaxed) }

    init(count: Int) {
        precondition(count > 0 && count & (count - 1) == 0, "Stripes come in a power of two.")
        self.count = count
        let size = MemoryLayout<Mutex<Stripe>>.size
        byteStride = (size + Self.alignment - 1) / Self.alignment * Self.alignment
        unsafe base = .allocate(byteCount: byteStride * count, alignment: Self.alignment)
        for number in 0..<count {
            let stripe = Stripe(number: number, stripeBits: count.trailingZeroBitCount)
            let place = unsafe base + number * byteStride
            unsafe place.assumingMemoryBound(to: Mutex<Stripe>.self)
                .initialize(to: Mutex(stripe))
        }
    }

    deinit {
        for number in 0..<count {
            unsafe pointer(number).deinitialize(count: 1)
        }
        unsafe base.deallocate()
    }

    /// Runs the body with a stripe's lock held.
    @inline(__always)
    func withStripe<Result, Failure: Error>(
        _ number: Int,
        _ body: (inout Stripe) throws(Failure) -> sending Result
    ) throws(Failure) -> Result {
        precondition(UInt(bitPattern: number) < UInt(bitPattern: count), "There is no such stripe.")
        let mutex = unsafe pointer(number)
        let result = try unsafe mutex.pointee.withLockIfAvailable {
            (stripe) throws(Failure) -> sending Result in try body(&stripe)
        }
        if let result { return result }
        contentions.wrappingAdd(1, ordering: .relaxed)
        return try unsafe mutex.pointee.withLock {
            (stripe) throws(Failure) -> sending Result in try body(&stripe)
        }
    }

    @inline(__always)
    private func pointer(_ number: Int) -> UnsafeMutablePointer<Mutex<Stripe>> {
        unsafe (base + number &* byteStride).assumingMemoryBound(to: Mutex<Stripe>.self)
    }
}
