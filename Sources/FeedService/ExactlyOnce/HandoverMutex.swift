internal import Synchronization

/// A lock around one value that several threads use.
///
/// A lock that was waited for is handed over inside the kernel, where the thread sanitizer does not
/// see it. `handover` orders the holders once more, in the open, at no cost on common processors.
struct HandoverMutex<Value>: ~Copyable {
    private let mutex: Mutex<Value>
    private let handover = Atomic<Bool>(false)

    /// A lock that nobody holds.
    init(_ value: consuming sending Value) {
        mutex = Mutex(value)
    }

    /// Runs the body with the value while no other thread has it.
    @inline(__always)
    func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> sending Result
    ) throws(Failure) -> Result {
        try mutex.withLock { (value) throws(Failure) -> sending Result in
            _ = handover.load(ordering: .acquiring)
            defer { handover.store(true, ordering: .releasing) }
            return try body(&value)
        }
    }
}

extension HandoverMutex: Sendable {}
