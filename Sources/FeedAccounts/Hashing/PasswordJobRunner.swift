internal import FeedConcurrency
internal import Synchronization

/// Computes the outcomes of jobs, on any thread, and counts the hashes.
final class PasswordJobRunner: Sendable {
    private let functions: PasswordHasher.Functions
    private let clock: @Sendable () -> MonotonicInstant
    private let runs = Atomic<UInt64>(0)
    private let lastRunNanoseconds = Atomic<Int64>(20_000_000)

    /// A runner that has not hashed yet.
    init(_ functions: PasswordHasher.Functions, clock: @escaping @Sendable () -> MonotonicInstant) {
        self.functions = functions
        self.clock = clock
    }

    /// The number of hashes that were computed.
    var runCount: UInt64 { runs.load(ordering: .relaxed) }

    /// How long the last hash took; 20 ms before the first.
    var lastRunTime: Duration { .nanoseconds(lastRunNanoseconds.load(ordering: .relaxed)) }

    /// Whether nobody waits for the job any more.
    func isOver(_ job: PasswordJob) -> Bool { job.interest.isOver || clock() >= job.deadline }

    /// The outcome of a job, after a hash where somebody waits for it.
    func run(_ job: PasswordJob) -> PasswordJob.Outcome {
        guard !isOver(job) else { return .skipped }
        let begin = clock()
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
