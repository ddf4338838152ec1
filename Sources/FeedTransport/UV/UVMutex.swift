import CLibUV

/// A lock around one value that several threads use.
// Not Synchronization.Mutex: where two threads meet, the kernel passes that lock on. The thread
// sanitizer cannot see that and calls the next access a race. No hot path takes this lock.
@safe
final class UVMutex<Value: Sendable>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<uv_mutex_t>
    private var value: Value

    /// An unlocked lock.
    init(_ value: Value) {
        unsafe mutex = .allocate(capacity: 1)
        self.value = value
        let code = unsafe uv_mutex_init(mutex)
        precondition(code == 0, "No memory is left for a lock.")
    }

    deinit {
        unsafe uv_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    /// Calls `body` with the value while no other thread has it.
    func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
        unsafe uv_mutex_lock(mutex)
        defer { unsafe uv_mutex_unlock(mutex) }
        return body(&value)
    }
}
