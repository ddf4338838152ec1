import FeedAccounts
import FeedConcurrency
import FeedTestSupport
import Testing

/// Outcomes of jobs by their names, and a wait for each.
final class JobOutcomes: Sendable {
    private let outcomes = Locked<[String: PasswordJob.Outcome]>([:])
    private let arrived = Semaphore()

    func job(
        _ name: String,
        _ purpose: PasswordJob.Purpose,
        password: String = "secret",
        interest: PasswordJob.Interest = PasswordJob.Interest(),
        deadline: UInt64 = .max,
        host: Int = 0
    ) -> PasswordJob {
        PasswordJob(
            host: host,
            password: Secret(copying: password.utf8),
            purpose: purpose,
            interest: interest,
            deadline: MonotonicInstant(nanoseconds: deadline)
        ) { [self] outcome in
            outcomes.withLock { $0[name] = outcome }
            arrived.signal()
        }
    }

    func wait(_ count: Int) -> [String: PasswordJob.Outcome] {
        for _ in 0..<count { arrived.wait() }
        return outcomes.withLock { $0 }
    }
}

/// A hash that waits until a test lets it go on.
final class HashGate: Sendable {
    let begun = Semaphore()
    let open = Semaphore()
    var functions: PasswordHasher.Functions {
        PasswordHasher.Functions(
            hash: { [self] _ in
                begun.signal()
                open.wait()
                return "hash"
            },
            matches: { _, _ in false }
        )
    }
}

extension PasswordHasher {
    /// A hasher that is hashing the job "0".
    static func busy(
        queueLimit: Int,
        _ gate: HashGate,
        _ outcomes: JobOutcomes,
        clock: @escaping @Sendable () -> MonotonicInstant = { MonotonicInstant.now }
    ) throws -> PasswordHasher {
        let hasher = PasswordHasher(queueLimit: queueLimit, functions: gate.functions, clock: clock)
        try hasher.start()
        #expect(hasher.offer(outcomes.job("0", .create)))
        gate.begun.wait()
        return hasher
    }
}
