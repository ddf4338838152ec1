package import FeedConcurrency
internal import Synchronization

/// Hashes passwords on threads that stand back behind votes.
///
/// At most half a queue is hashed one after another at niceness 19, which gets some time also if
/// other programs keep all processors busy. If more wait, that is a *flood*, whose oldest job goes to a
/// ``FloodHasher``, which gets only what no other thread wants. The queue is short: who finds it full is
/// refused at once and comes again, instead of waiting longer than people do.
///
/// Hosts take turns, and none fills the queue: if it is full, the newest job of the host with most of them
/// gives way to a host with fewer. A host that has had less than half of what hosts have on average is next,
/// and its job is not the flood's. What hosts have had is forgotten once nothing waits.
package final class PasswordHasher: Sendable {
    package struct Functions: Sendable {
        /// Hashes a password; nil if there is no memory.
        package var hash: @Sendable (Secret) -> String?
        package var matches: @Sendable (String, Secret) -> Bool

        package init(
            hash: @escaping @Sendable (Secret) -> String?,
            matches: @escaping @Sendable (String, Secret) -> Bool
        ) {
            self.hash = hash
            self.matches = matches
        }

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

    package let queueLimit: Int
    private let thread = NamedThread("feed-password", priority: .nice(19))
    private let flood: FloodHasher
    private let runner: PasswordJobRunner
    private let state = Lock(State())
    private let refused = Atomic<UInt64>(0)

    package init(
        queueLimit: Int,
        functions: Functions = .argon2id,
        clock: @escaping @Sendable () -> MonotonicInstant = { MonotonicInstant.now }
    ) {
        self.queueLimit = queueLimit
        runner = PasswordJobRunner(functions, clock: clock)
        flood = FloodHasher(runner)
    }

    package var queuedCount: Int { state.withLock { $0.jobs.count } }

    package var runCount: UInt64 { runner.runCount }

    package var refusedCount: UInt64 { refused.load(ordering: .relaxed) }

    /// How long a full queue takes, by the time of the last hash.
    package var retryTime: Duration { runner.lastRunTime * queueLimit }

    /// Starts the threads; if the system refuses one, none is left.
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

    /// Adds a job; false if the queue is full or the threads have stopped.
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

/// A password that waits to be hashed, and what happens to the result.
package struct PasswordJob: Sendable {
    package enum Purpose: Sendable, Equatable {
        case create
        /// To compare it with the hash of an account; nil if there is no such account, which takes
        /// as long.
        case verify(String?)
    }

    package enum Outcome: Sendable, Equatable {
        case hashed(String)
        case matches
        /// The password is not the account's, or there is no such account.
        case differs
        /// The job was not done: its client has gone, its time was over, or the thread has stopped.
        case skipped
        /// The queue was full, and the job's host had most of it: another host has the place.
        case crowdedOut
        case noMemory
    }

    /// Whether a job's client still waits; shared with the thread that knows.
    package final class Interest: Sendable {
        private let hasEnded = Atomic(false)

        package init() {}

        package func end() { hasEnded.store(true, ordering: .relaxed) }

        package var isOver: Bool { hasEnded.load(ordering: .relaxed) }
    }

    /// A number for the host that asks, by which turns are taken.
    fileprivate let host: Int
    fileprivate let password: Secret
    fileprivate let purpose: Purpose
    fileprivate let interest: Interest
    /// When the job need not begin any more.
    fileprivate let deadline: MonotonicInstant
    /// Gets the outcome, once, on a hashing thread or the one that stops it; returns soon.
    fileprivate let finish: @Sendable (Outcome) -> Void

    package init(
        host: Int,
        password: Secret,
        purpose: Purpose,
        interest: Interest,
        deadline: MonotonicInstant,
        finish: @escaping @Sendable (Outcome) -> Void
    ) {
        self.host = host
        self.password = password
        self.purpose = purpose
        self.interest = interest
        self.deadline = deadline
        self.finish = finish
    }
}

/// Computes the outcomes of jobs, on any thread, and counts the hashes.
private final class PasswordJobRunner: Sendable {
    private let functions: PasswordHasher.Functions
    private let clock: @Sendable () -> MonotonicInstant
    private let runs = Atomic<UInt64>(0)
    private let lastRunNanoseconds = Atomic<Int64>(20_000_000)

    init(_ functions: PasswordHasher.Functions, clock: @escaping @Sendable () -> MonotonicInstant) {
        self.functions = functions
        self.clock = clock
    }

    var runCount: UInt64 { runs.load(ordering: .relaxed) }

    /// How long the last hash took; 20 ms before the first.
    var lastRunTime: Duration { .nanoseconds(lastRunNanoseconds.load(ordering: .relaxed)) }

    func isOver(_ job: PasswordJob) -> Bool { job.interest.isOver || clock() >= job.deadline }

    /// The outcome of a job, after a hash if somebody waits for it.
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

/// Hashes the password of one job at a time on a thread that gets only what no other wants
/// (`NamedThread.Priority.idle`).
///
/// Such a thread may lose its processor for seconds, also while it holds a lock. So it shares locks of
/// the program with the thread that gives it jobs alone, and that one finishes them. The kernel's lock
/// of the address space is left: a hash maps and unmaps its memory.
private final class FloodHasher: Sendable {
    private enum Work {
        case none
        case begun(PasswordJob)
        case done(PasswordJob, PasswordJob.Outcome)
    }

    private struct State {
        var work = Work.none
        var isStopped = false

        mutating func end(_ outcome: PasswordJob.Outcome) {
            if case .begun(let job) = work { work = .done(job, outcome) }
        }
    }

    private let thread = NamedThread("feed-pw-flood", priority: .idle)
    private let state = Lock(State())
    private let done = Semaphore()
    private let runner: PasswordJobRunner

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

    func waitForDone(upTo longest: Duration) { _ = done.wait(upTo: longest) }

    func start() throws(ThreadStartError) { try thread.start { [self] in run() } }

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
