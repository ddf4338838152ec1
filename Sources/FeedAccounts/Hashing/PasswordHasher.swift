package import FeedConcurrency
internal import Synchronization

/// Hashes passwords, one after another, on a thread that stands back behind votes.
///
/// A few people get their hashes also where other programs keep all processors busy: their thread has
/// the highest niceness. A *flood*, more than half a queue, gets what nobody else wants: its thread is
/// idle. The queue is short: who finds it full is refused at once and comes again, instead of waiting
/// longer than people do.
package final class PasswordHasher: Sendable {
    /// Computes hashes; tests count the runs or hold them up.
    package struct Functions: Sendable {
        /// Hashes a password; nil where there is no memory.
        package var hash: @Sendable (Secret) -> String?
        /// Whether a hash is of a password.
        package var matches: @Sendable (String, Secret) -> Bool

        /// Functions in place of argon2id's.
        package init(
            hash: @escaping @Sendable (Secret) -> String?,
            matches: @escaping @Sendable (String, Secret) -> Bool
        ) {
            self.hash = hash
            self.matches = matches
        }

        /// argon2id.
        package static var argon2id: Functions {
            Functions(hash: { PasswordHash.make(of: $0) }, matches: PasswordHash.matches)
        }

        /// argon2id with the least memory and one pass: weak, and quick enough for tests.
        package static var weakArgon2id: Functions {
            Functions(
                hash: { PasswordHash.make(of: $0, passCount: 1, memoryByteCount: 8 << 10) },
                matches: { hash, password in
                    hash != PasswordHash.decoy && PasswordHash.matches(hash, password)
                }
            )
        }
    }

    private struct State {
        /// The jobs that have not begun, the oldest first.
        var jobs: [PasswordJob] = []
        /// Whether a thread hashes; the other waits.
        var isHashing = false
        var isStopped = false
    }

    /// The number of jobs that may wait.
    package let queueLimit: Int
    // Two threads, as Linux lets only a privileged one be idle for a time.
    private let usualThread = NamedThread("feed-password", priority: .nice(19))
    private let floodThread = NamedThread("feed-pw-flood", priority: .idle)
    private let state = Lock(State())
    private let functions: Functions
    private let clock: @Sendable () -> MonotonicInstant
    private let runs = Atomic<UInt64>(0)
    private let refused = Atomic<UInt64>(0)
    private let lastRunNanoseconds = Atomic<Int64>(20_000_000)

    /// A hasher whose thread is not started.
    package init(
        queueLimit: Int,
        functions: Functions = .argon2id,
        clock: @escaping @Sendable () -> MonotonicInstant = { MonotonicInstant.now }
    ) {
        self.queueLimit = queueLimit
        self.functions = functions
        self.clock = clock
    }

    /// The number of jobs that have not begun.
    package var queuedCount: Int { state.withLock { $0.jobs.count } }

    /// The number of hashes that were computed.
    package var runCount: UInt64 { runs.load(ordering: .relaxed) }

    /// The number of jobs that the queue had no room for.
    package var refusedCount: UInt64 { refused.load(ordering: .relaxed) }

    /// How long a full queue takes, by the time of the last hash.
    package var retryTime: Duration {
        .nanoseconds(lastRunNanoseconds.load(ordering: .relaxed)) * queueLimit
    }

    /// Starts the threads.
    package func start() throws(ThreadStartError) {
        for thread in [usualThread, floodThread] { try thread.start { [self] in run(thread) } }
    }

    /// Adds a job; false where the queue is full or the threads have stopped.
    package func offer(_ job: PasswordJob) -> Bool {
        let (isTaken, next): (Bool, NamedThread?) = state.withLock { state in
            guard !state.isStopped, state.jobs.count < queueLimit else { return (false, nil) }
            state.jobs.append(job)
            return (true, nextThread(state))
        }
        next?.wake()
        if !isTaken { refused.wrappingAdd(1, ordering: .relaxed) }
        return isTaken
    }

    /// Skips what has not begun, and waits for the hash under way.
    package func stop() {
        let skipped = state.withLock { state in
            state.isStopped = true
            defer { state.jobs = [] }
            return state.jobs
        }
        for job in skipped { job.finish(.skipped) }
        for thread in [usualThread, floodThread] {
            thread.wake()
            thread.join()
        }
    }

    private func run(_ thread: NamedThread) {
        while true {
            let (job, isStopped): (PasswordJob?, Bool) = state.withLock { state in
                guard nextThread(state) === thread else { return (nil, state.isStopped) }
                state.isHashing = true
                return (state.jobs.removeFirst(), false)
            }
            if let job {
                job.finish(outcome(of: job))
                let next = state.withLock { state in
                    state.isHashing = false
                    return nextThread(state)
                }
                next?.wake()
            } else if isStopped {
                return
            } else {
                thread.waitForWakeUp(upTo: .seconds(3600))
            }
        }
    }

    /// The thread that is to hash the oldest job; nil where none waits, or a thread hashes.
    private func nextThread(_ state: State) -> NamedThread? {
        guard !state.jobs.isEmpty, !state.isHashing else { return nil }
        return state.jobs.count > queueLimit / 2 ? floodThread : usualThread
    }

    private func outcome(of job: PasswordJob) -> PasswordJob.Outcome {
        let begin = clock()
        guard !job.interest.isOver, begin < job.deadline else { return .skipped }
        defer {
            runs.wrappingAdd(1, ordering: .relaxed)
            let took = clock().duration(since: begin)
            lastRunNanoseconds.store(Int64(took / .nanoseconds(1)), ordering: .relaxed)
        }
        switch job.purpose {
        case .create:
            guard let hash = functions.hash(job.password) else { return .noMemory }
            return .hashed(hash)
        case .verify(let hash?):
            return functions.matches(hash, job.password) ? .matches : .differs
        case .verify(nil):
            _ = functions.matches(PasswordHash.decoy, job.password)
            return .differs
        }
    }
}
