package import FeedConcurrency
internal import Synchronization

/// Hashes passwords on threads that stand back behind votes.
///
/// At most half a queue is hashed one after another at niceness 19, which gets some time also where
/// other programs keep all processors busy. Where more wait, that is a *flood*, whose oldest job goes to a
/// ``FloodHasher``, which gets only what no other thread wants. The queue is short: who finds it full is
/// refused at once and comes again, instead of waiting longer than people do.
///
/// Hosts take turns, and none fills the queue: where it is full, the newest job of the host with most of them
/// gives way to a host with fewer. A host that has had less than half of what hosts have on average is next,
/// and its job is not the flood's. What hosts have had is forgotten once nothing waits.
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
        /// The jobs that have not begun, by host; each costs 1,000, so that halved costs still differ.
        var jobs = FairQueue<Int, PasswordJob>(halvingCost: 64_000)
        /// The number of jobs that have begun and are not done.
        var begunCount = 0
        var isStopped = false

        mutating func takeNext() -> PasswordJob? {
            guard let (host, job) = jobs.popFirst() else { return nil }
            jobs.charge(host, 1_000)
            begunCount += 1
            return job
        }

        /// Ends a job that has begun; with the last one it forgets what hosts have had.
        mutating func endJob() {
            begunCount -= 1
            if begunCount == 0 { jobs.forgetCosts() }
        }
    }

    /// How often the thread looks around while the flood's thread hashes.
    private static let floodInterval = Duration.milliseconds(10)

    /// The number of jobs that may wait.
    package let queueLimit: Int
    private let thread = NamedThread("feed-password", priority: .nice(19))
    private let flood: FloodHasher
    private let runner: PasswordJobRunner
    private let state = Lock(State())
    private let refused = Atomic<UInt64>(0)

    /// A hasher whose threads are not started.
    package init(
        queueLimit: Int,
        functions: Functions = .argon2id,
        clock: @escaping @Sendable () -> MonotonicInstant = { MonotonicInstant.now }
    ) {
        self.queueLimit = queueLimit
        runner = PasswordJobRunner(functions, clock: clock)
        flood = FloodHasher(runner)
    }

    /// The number of jobs that have not begun.
    package var queuedCount: Int { state.withLock { $0.jobs.count } }

    /// The number of hashes that were computed.
    package var runCount: UInt64 { runner.runCount }

    /// The number of jobs that the queue had no room for.
    package var refusedCount: UInt64 { refused.load(ordering: .relaxed) }

    /// How long a full queue takes, by the time of the last hash.
    package var retryTime: Duration { runner.lastRunTime * queueLimit }

    /// Starts the threads; where the system refuses one, none is left.
    package func start() throws(ThreadStartError) {
        // Not first on the flood's thread, for which others would wait then.
        Sodium.prepare()
        try flood.start()
        do throws(ThreadStartError) {
            try thread.start { [self] in
                while advance() {}
            }
        } catch {
            flood.stop()
            throw error
        }
    }

    /// Adds a job; false where the queue is full or the threads have stopped.
    package func offer(_ job: PasswordJob) -> Bool {
        let (isTaken, crowdedOut) = state.withLock { state -> (Bool, PasswordJob?) in
            guard !state.isStopped else { return (false, nil) }
            var crowdedOut: PasswordJob?
            if state.jobs.count >= queueLimit {
                crowdedOut = state.jobs.giveWay(to: job.host)
                guard crowdedOut != nil else { return (false, nil) }
            }
            state.jobs.append(job, of: job.host)
            return (true, crowdedOut)
        }
        if isTaken { thread.wake() }
        if !isTaken || crowdedOut != nil { refused.wrappingAdd(1, ordering: .relaxed) }
        crowdedOut?.finish(.crowdedOut)
        return isTaken
    }

    /// Skips what has not begun, and waits for the hashes under way.
    package func stop() {
        let skipped = state.withLock { state in
            state.isStopped = true
            return state.jobs.removeAll { _ in true }
        }
        for job in skipped { job.finish(.skipped) }
        thread.wake()
        thread.join()
        flood.stop()
        finishFlooded()
    }

    /// Does what is due, or waits; false once the hasher has stopped.
    private func advance() -> Bool {
        // In a flood the thread waits for the other one, and wake-ups of each offer would be left.
        thread.forgetWakeUps()
        finishFlooded()
        let isFloodBusy = flood.isBusy
        let (job, isFlood, isStopped) = state.withLock { state in
            // A host that stays below its share has no part in the flood.
            let isFlood = state.jobs.count > queueLimit / 2 && !state.jobs.isNextBelowShare
            let job = isFlood && isFloodBusy ? nil : state.takeNext()
            return (job, isFlood, state.isStopped)
        }
        guard !isStopped else { return false }
        if let job {
            if isFlood { flood.begin(job) } else { finish(job, runner.run(job)) }
        } else if isFloodBusy {
            // Who has gone makes room for others.
            let skipped = state.withLock { $0.jobs.removeAll(where: runner.isOver) }
            for job in skipped { job.finish(.skipped) }
            flood.waitForDone(upTo: Self.floodInterval)
        } else {
            thread.waitForWakeUp(upTo: .seconds(3600))
        }
        return true
    }

    /// Finishes the job that the flood's thread has done, if there is one.
    private func finishFlooded() {
        if let (job, outcome) = flood.takeDone() { finish(job, outcome) }
    }

    private func finish(_ job: PasswordJob, _ outcome: PasswordJob.Outcome) {
        state.withLock { $0.endJob() }
        job.finish(outcome)
    }
}
