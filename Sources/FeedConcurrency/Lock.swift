public import Synchronization

// Public and inlinable, because each vote takes such a lock: the compiler does not inline a `package`
// function into another module.

/// A lock around one value that several threads use.
///
/// The lock is `Synchronization.Mutex`: a word beside the value, without memory of its own. A thread
/// that waits for it gets it from the kernel, where the thread sanitizer does not see the order of
/// the two holders. `handover` states that order a second time, where the sanitizer sees it. On
/// common processors that costs a load and a store.
///
/// It is not recursive.
public struct Lock<Value: ~Copyable>: ~Copyable {
    // First: a vote takes a nanosecond more where the mutex is not at the address of the lock.
    @usableFromInline let mutex: Mutex<Value>
    @usableFromInline let handover = Atomic<Bool>(false)

    /// Takes the value; from then on only the lock gives access to it.
    @inlinable
    public init(_ value: consuming sending Value) {
        mutex = Mutex(value)
    }

    /// Runs the body with the lock held; waits for the lock.
    @inlinable
    @inline(__always)
    public func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        try mutex.withLock { (value: inout sending Value) throws(Failure) -> sending Result in
            _ = handover.load(ordering: .acquiring)
            defer { handover.store(true, ordering: .releasing) }
            return try body(&value)
        }
    }

    /// Runs the body with the lock held if the lock is free; otherwise returns nil at once.
    @inlinable
    @inline(__always)
    public func withLockIfAvailable<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result? {
        try mutex.withLockIfAvailable {
            (value: inout sending Value) throws(Failure) -> sending Result in
            _ = handover.load(ordering: .acquiring)
            defer { handover.store(true, ordering: .releasing) }
            return try body(&value)
        }
    }
}

extension Lock: Sendable where Value: ~Copyable {}
