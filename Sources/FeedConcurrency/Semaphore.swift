internal import Glibc

/// A count that threads raise and wait for.
///
/// It is a POSIX condition with its mutex: the thread sanitizer sees that what a thread did before
/// ``signal()`` comes before what another thread does after its wait. Deadlines are on the monotonic
/// clock, so they do not depend on the time of day.
@safe
package final class Semaphore: @unchecked Sendable {
    private let lock = UnscopedLock()
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    /// The signals that no wait has taken yet; the lock guards it.
    private var count: Int

    /// A semaphore with some signals; a wait takes one.
    package init(count: Int = 0) {
        precondition(count >= 0, "A semaphore does not begin below zero.")
        self.count = count
        unsafe condition = .allocate(capacity: 1)
        var attributes = pthread_condattr_t()
        unsafe pthread_condattr_init(&attributes)
        unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        let code = unsafe pthread_cond_init(condition, &attributes)
        unsafe pthread_condattr_destroy(&attributes)
        precondition(code == 0, "A semaphore cannot be made: error \(code).")
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe condition.deallocate()
    }

    /// Adds one signal, and wakes one waiting thread.
    package func signal() {
        lock.lock()
        count += 1
        lock.unlock()
        unsafe pthread_cond_signal(condition)
    }

    /// Waits for a signal and takes it.
    package func wait() {
        lock.lock()
        while count == 0 { unsafe pthread_cond_wait(condition, lock.mutex) }
        count -= 1
        lock.unlock()
    }

    /// Waits for a signal for some time at most, and takes it.
    ///
    /// - Returns: False where no signal came in that time. With zero or less it does not wait.
    package func wait(upTo longest: Duration) -> Bool {
        lock.lock()
        defer { lock.unlock() }
        if count == 0, longest > .zero {
            var deadline = timespec(SystemClock.monotonicNanoseconds(after: longest))
            while count == 0 {
                if unsafe pthread_cond_timedwait(condition, lock.mutex, &deadline) != 0 { break }
            }
        }
        guard count > 0 else { return false }
        count -= 1
        return true
    }

    /// Drops the signals that no wait has taken.
    package func reset() {
        lock.lock()
        count = 0
        lock.unlock()
    }
}
