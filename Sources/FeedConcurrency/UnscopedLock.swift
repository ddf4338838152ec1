package import Glibc

/// A lock that one function takes and another one releases.
///
/// ``Lock`` guards a value for the time of one closure. The transaction of a change log begins in one
/// call and ends in a later one, and the taker of a commit batch holds many locks at once: neither
/// fits a closure. Use ``Lock`` wherever a closure fits.
///
/// It is a POSIX mutex, which the thread sanitizer sees, and it is not recursive.
@safe
package struct UnscopedLock: ~Copyable, @unchecked Sendable {
    /// The mutex, at an address that does not change while the lock moves.
    @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>

    /// A lock that no thread holds.
    package init() {
        unsafe mutex = .allocate(capacity: 1)
        let code = unsafe pthread_mutex_init(mutex, nil)
        precondition(code == 0, "A lock cannot be made: error \(code).")
    }

    deinit {
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    /// Waits for the lock and takes it.
    @inlinable
    @inline(__always)
    package func lock() {
        let code = unsafe pthread_mutex_lock(mutex)
        precondition(code == 0, "A lock cannot be taken.")
    }

    /// Releases the lock, which the calling thread holds.
    @inlinable
    @inline(__always)
    package func unlock() {
        unsafe pthread_mutex_unlock(mutex)
    }
}
