internal import FeedConcurrency

/// Hashes the password of one job at a time on a thread that gets only what no other wants
/// (`NamedThread.Priority.idle`).
///
/// Such a thread may lose its processor for seconds, also while it holds a lock. So it shares locks of
/// the program with the thread that gives it jobs alone, and that one finishes them. The kernel's lock
/// of the address space is left: a hash maps and unmaps its memory.
final class FloodHasher: Sendable {
    private enum Work {
        case none
        case begun(PasswordJob)
        case done(PasswordJob, PasswordJob.Outcome)
    }

    private struct State {
        var work = Work.none
        var isStopped = false

        /// The job under way is done.
        mutating func end(_ outcome: PasswordJob.Outcome) {
            if case .begun(let job) = work { work = .done(job, outcome) }
        }
    }

    private let thread = NamedThread("feed-pw-flood", priority: .idle)
    private let state = Lock(State())
    private let done = Semaphore()
    private let runner: PasswordJobRunner

    /// A hasher whose thread is not started.
    init(_ runner: PasswordJobRunner) { self.runner = runner }

    /// Whether a job is being hashed, or waits for ``takeDone()``.
    var isBusy: Bool {
        state.withLock { state in
            if case .none = state.work { false } else { true }
        }
    }

    /// Begins a job; none is under way.
    func begin(_ job: PasswordJob) {
        // Of an earlier job that was taken before anybody waited.
        done.reset()
        state.withLock { $0.work = .begun(job) }
        thread.wake()
    }

    /// The job that is done, once.
    func takeDone() -> (job: PasswordJob, outcome: PasswordJob.Outcome)? {
        state.withLock { state in
            guard case .done(let job, let outcome) = state.work else { return nil }
            state.work = .none
            return (job, outcome)
        }
    }

    /// Waits until a job is done, for some time at most.
    func waitForDone(upTo longest: Duration) { _ = done.wait(upTo: longest) }

    /// Starts the thread.
    func start() throws(ThreadStartError) {
        try thread.start { [self] in run() }
    }

    /// Waits for the hash under way, whose job ``takeDone()`` gives then, and ends the thread.
    ///
    /// A job that the thread has not seen yet is skipped.
    func stop() {
        state.withLock { $0.isStopped = true }
        thread.wake()
        thread.join()
    }

    private func run() {
        while true {
            if let outcome = hashBegun() {
                state.withLock { $0.end(outcome) }
                done.signal()
            } else if state.withLock({ $0.isStopped }) {
                return
            } else {
                thread.waitForWakeUp(upTo: .seconds(3600))
            }
        }
    }

    /// The outcome of the job that has begun, if there is one.
    ///
    /// At its end the state has the job's last reference: to free memory may take a lock of a loop.
    private func hashBegun() -> PasswordJob.Outcome? {
        let (work, isStopped) = state.withLock { ($0.work, $0.isStopped) }
        guard case .begun(let job) = work else { return nil }
        return isStopped ? .skipped : runner.run(job)
    }
}
