#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// A count that threads raise and wait for.
///
/// It is a POSIX condition with its mutex, as ``Lock`` does not wait for an event. The thread sanitizer
/// sees that what a thread did before ``signal()`` comes before what another thread does after its
/// wait. Deadlines are on the monotonic clock, so they do not depend on the time of day.
@safe
package final class Semaphore: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    /// The signals that no wait has taken yet; the mutex guards it.
    private var count: Int

    /// A semaphore with some signals; a wait takes one.
    package init(count: Int = 0) {
        precondition(count >= 0, "A semaphore does not begin below zero.")
        self.count = count
        unsafe mutex = .allocate(capacity: 1)
        unsafe condition = .allocate(capacity: 1)
        var attributes = pthread_condattr_t()
        unsafe pthread_condattr_init(&attributes)
        #if !canImport(Darwin)
        unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        #endif
        let codes = unsafe (
            pthread_mutex_init(mutex, nil), pthread_cond_init(condition, &attributes)
        )
        unsafe pthread_condattr_destroy(&attributes)
        precondition(codes == (0, 0), "A semaphore cannot be made: errors \(codes).")
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe pthread_mutex_destroy(mutex)
        unsafe condition.deallocate()
        unsafe mutex.deallocate()
    }

    /// Adds one signal, and wakes one waiting thread.
    package func signal() {
        locked { count += 1 }
        unsafe pthread_cond_signal(condition)
    }

    /// Waits for a signal and takes it.
    package func wait() {
        locked {
            while count == 0 { unsafe pthread_cond_wait(condition, mutex) }
            count -= 1
        }
    }

    /// Waits for a signal for some time at most, and takes it.
    ///
    /// - Returns: False where no signal came in that time. With zero or less it does not wait.
    package func wait(upTo longest: Duration) -> Bool {
        locked {
            if count == 0, longest > .zero {
                let deadline = SystemClock.monotonicNanoseconds(after: longest)
                while count == 0, isSignalled(by: deadline) {}
            }
            guard count > 0 else { return false }
            count -= 1
            return true
        }
    }

    /// Waits with the mutex held for the condition; false if the monotonic clock reads `deadline` before.
    private func isSignalled(by deadline: UInt64) -> Bool {
        #if canImport(Darwin)
        let now = SystemClock.monotonicNanoseconds()
        var rest = timespec(deadline - min(now, deadline))
        return unsafe pthread_cond_timedwait_relative_np(condition, mutex, &rest) == 0
        #else
        var moment = timespec(deadline)
        return unsafe pthread_cond_timedwait(condition, mutex, &moment) == 0
        #endif
    }

    /// Drops the signals that no wait has taken.
    package func reset() {
        locked { count = 0 }
    }

    /// Runs the body with the mutex held.
    private func locked<Result>(_ body: () -> Result) -> Result {
        let code = unsafe pthread_mutex_lock(mutex)
        precondition(code == 0, "The mutex of a semaphore cannot be taken.")
        defer { unsafe pthread_mutex_unlock(mutex) }
        return body()
    }
}
