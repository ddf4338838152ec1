internal import Foundation

/// A value behind a lock that the thread sanitizer understands.
///
/// A contended `Mutex` is handed over inside the kernel, where the sanitizer does not see it and
/// reports a race that is none.
package final class Locked<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    /// Takes the value, which from then on only the lock leads to.
    package init(_ value: Value) { self.value = value }

    /// Runs the body with the lock held.
    package func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}

/// Lets other tasks run; throws if the task is cancelled, as that of a test which has lasted too long.
package func yieldUnlessCancelled() async throws {
    try Task.checkCancellation()
    await Task.yield()
}

/// Runs blocking work on a thread of its own, so that it never holds a thread of Swift's pool.
///
/// It is work of the task: what it checks is told as of the task's test.
package func offload<Value: Sendable>(
    _ body: @escaping @Sendable () throws -> Value
) async throws -> Value {
    try await withTaskExecutorPreference(ThreadExecutor()) { try body() }
}

/// Runs each job on a thread of its own.
private final class ThreadExecutor: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let thread = Thread { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        thread.stackSize = 1 << 20
        thread.start()
    }
}
