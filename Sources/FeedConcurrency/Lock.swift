public import Synchronization

// Public and inlinable, because a numbered vote takes such a lock: the compiler would not inline a
// `package` type into other modules.

/// A lock around one value that several threads use, which the thread sanitizer understands.
///
/// The kernel hands over a lock that a thread waited for, and the sanitizer does not see that.
/// `handover` orders the holders once more, where it is seen, at no cost on common processors.
public struct Lock<Value>: ~Copyable {
    @usableFromInline let mutex: Mutex<Value>
    @usableFromInline let handover = Atomic<Bool>(false)

    /// A lock that nobody holds.
    @inlinable
    public init(_ value: consuming sending Value) {
        mutex = Mutex(value)
    }

    /// Runs the body with the value while no other thread has it.
    @inlinable
    @inline(__always)
    public func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> sending Result
    ) throws(Failure) -> Result {
        try mutex.withLock { (value) throws(Failure) -> sending Result in
            _ = handover.load(ordering: .acquiring)
            defer { handover.store(true, ordering: .releasing) }
            return try body(&value)
        }
    }
}

extension Lock: Sendable {}
