import FeedAccounts
import FeedConcurrency
import FeedTestSupport
import Glibc
import Testing

@Suite struct PasswordHasherTests {
    @Test func passwordsMatchTheirHashes() throws {
        let hasher = PasswordHasher(queueLimit: 32, functions: .weakArgon2id)
        try hasher.start()
        defer { hasher.stop() }
        let outcomes = JobOutcomes()
        #expect(hasher.offer(outcomes.job("new", .create, password: "pass wörd")))
        guard case .hashed(let hash) = outcomes.wait(1)["new"]
        else { throw Unexpected("The password was not hashed.") }
        #expect(hasher.offer(outcomes.job("right", .verify(hash), password: "pass wörd")))
        #expect(hasher.offer(outcomes.job("wrong", .verify(hash), password: "pass word")))
        #expect(hasher.offer(outcomes.job("none", .verify(nil), password: "pass wörd")))
        let all = outcomes.wait(3)
        #expect(all["right"] == .matches)
        #expect(all["wrong"] == .differs)
        #expect(all["none"] == .differs)
        // A user who is not known costs a hash, as all others do.
        #expect(hasher.runCount == 4)
    }

    @Test func hashesHaveTheirCost() throws {
        let functions = PasswordHasher.Functions.argon2id
        let password = Secret(copying: "password".utf8)
        let hash = try #require(functions.hash(password))
        #expect(hash.hasPrefix("$argon2id$v=19$m=19456,t=2,p=1$"))
        #expect(functions.matches(hash, password))
    }

    /// The hash in place of a missing one is whole: a library that refuses its form would return at
    /// once, and time would tell who has an account.
    @Test func unknownUsersCostAHash() throws {
        let runs = Locked<[String]>([])
        let functions = PasswordHasher.Functions(
            hash: { _ in nil },
            matches: { hash, _ in
                runs.withLock { $0.append(hash) }
                return true
            }
        )
        let hasher = PasswordHasher(queueLimit: 32, functions: functions)
        try hasher.start()
        defer { hasher.stop() }
        let outcomes = JobOutcomes()
        #expect(hasher.offer(outcomes.job("none", .verify(nil))))
        #expect(outcomes.wait(1)["none"] == .differs)
        let decoy = try #require(runs.withLock { $0 }.first)
        #expect(decoy.utf8.count == 97)
        #expect(decoy.hasPrefix("$argon2id$v=19$m=19456,t=2,p=1$"))
    }

    @Test func aFullQueueRefuses() throws {
        let gate = HashGate()
        let outcomes = JobOutcomes()
        let hasher = try PasswordHasher.busy(queueLimit: 2, gate, outcomes)
        #expect(hasher.offer(outcomes.job("1", .create)))
        #expect(hasher.offer(outcomes.job("2", .create)))
        #expect(!hasher.offer(outcomes.job("3", .create)))
        #expect(hasher.queuedCount == 2)
        for _ in 0..<3 { gate.open.signal() }
        #expect(outcomes.wait(3).count == 3)
        hasher.stop()
        #expect(!hasher.offer(outcomes.job("4", .create)))
    }

    @Test func jobsOfClientsThatHaveGoneAreSkipped() throws {
        let gate = HashGate()
        let outcomes = JobOutcomes()
        let interest = PasswordJob.Interest()
        let hasher = try PasswordHasher.busy(queueLimit: 8, gate, outcomes)
        #expect(hasher.offer(outcomes.job("gone", .create, interest: interest)))
        #expect(hasher.offer(outcomes.job("late", .create, deadline: 0)))
        interest.end()
        gate.open.signal()
        let all = outcomes.wait(3)
        #expect(all == ["0": .hashed("hash"), "gone": .skipped, "late": .skipped])
        #expect(hasher.runCount == 1)
        hasher.stop()
    }

    @Test func aStopSkipsWhatHasNotBegun() throws {
        let gate = HashGate()
        let outcomes = JobOutcomes()
        let hasher = try PasswordHasher.busy(queueLimit: 8, gate, outcomes)
        #expect(hasher.offer(outcomes.job("1", .create)))
        let stopper = NamedThread("stopper")
        try stopper.start { hasher.stop() }
        #expect(outcomes.wait(1) == ["1": .skipped])
        gate.open.signal()
        stopper.join()
        #expect(outcomes.wait(1)["0"] == .hashed("hash"))
    }

    @Test func aStopWaitsForBothHashesUnderWay() throws {
        let gate = HashGate()
        let outcomes = JobOutcomes()
        let hasher = try PasswordHasher.busy(queueLimit: 2, gate, outcomes)
        #expect(hasher.offer(outcomes.job("1", .create)))
        #expect(hasher.offer(outcomes.job("2", .create)))
        gate.open.signal()
        for _ in 1...2 { gate.begun.wait() }
        let stopper = NamedThread("stopper")
        try stopper.start { hasher.stop() }
        for _ in 1...2 { gate.open.signal() }
        stopper.join()
        #expect(outcomes.wait(3).values.allSatisfy { $0 == .hashed("hash") })
    }
}

/// Whose password is hashed next, and on which thread.
@Suite struct PasswordTurnsTests {
    /// The queue is full of the jobs of one host, and the host's newest one makes room for another host.
    @Test func aHostThatFillsTheQueueGivesWay() throws {
        let gate = HashGate()
        let outcomes = JobOutcomes()
        let hasher = try PasswordHasher.busy(queueLimit: 4, gate, outcomes)
        for number in 1...4 { #expect(hasher.offer(outcomes.job("\(number)", .create))) }
        #expect(!hasher.offer(outcomes.job("5", .create)))
        #expect(hasher.offer(outcomes.job("other", .create, host: 1)))
        #expect(outcomes.wait(1) == ["4": .crowdedOut])
        #expect(hasher.refusedCount == 2)
        #expect(hasher.queuedCount == 4)
        // The other host has its turn before the rest of the first one's.
        gate.open.signal()
        gate.open.signal()
        #expect(outcomes.wait(2)["other"] == .hashed("hash"))
        for _ in 0..<3 { gate.open.signal() }
        #expect(outcomes.wait(3).values.count { $0 == .hashed("hash") } == 5)
        hasher.stop()
    }

    /// Of more than half a queue the idle thread hashes the oldest, and the other thread waits.
    @Test func aFloodGetsIdleProcessorsOnly() throws {
        /// SCHED_IDLE of sched(7).
        let idle: Int32 = 5
        let gate = HashGate()
        let idleHashes = Locked<Set<String>>([])
        let niceness = Locked<Set<Int32>>([])
        var functions = gate.functions
        functions.matches = { hash, _ in
            let value = getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0)
            niceness.withLock { _ = $0.insert(value) }
            if sched_getscheduler(0) == idle { idleHashes.withLock { _ = $0.insert(hash) } }
            gate.begun.signal()
            gate.open.wait()
            return true
        }
        let hasher = PasswordHasher(queueLimit: 4, functions: functions)
        try hasher.start()
        defer { hasher.stop() }
        let outcomes = JobOutcomes()
        for number in 0...4 {
            #expect(hasher.offer(outcomes.job("\(number)", .verify("\(number)"))))
            // The first is being hashed while the others wait.
            if number == 0 { gate.begun.wait() }
        }
        for _ in 0...4 { gate.open.signal() }
        #expect(outcomes.wait(5).values.allSatisfy { $0 == .matches })
        // When the first was done, four waited, and when the second was, three.
        #expect(idleHashes.withLock { $0 } == ["1", "2"])
        #expect(niceness.withLock { $0 } == [19])
    }

    /// A host with less than half of the mean does not wait for an idle processor, also if it comes again.
    @Test func aHostBelowItsShareHasNoPartInAFlood() throws {
        let gate = HashGate()
        let outcomes = JobOutcomes()
        var functions = gate.functions
        functions.matches = { _, _ in
            gate.begun.signal()
            return true
        }
        let hasher = PasswordHasher(queueLimit: 6, functions: functions)
        try hasher.start()
        #expect(hasher.offer(outcomes.job("0", .create)))
        gate.begun.wait()
        for number in 1...5 { #expect(hasher.offer(outcomes.job("\(number)", .create))) }
        for number in 6...10 {
            gate.open.signal()
            _ = outcomes.wait(1)
            // The flood's thread has one of five, and four are a flood.
            gate.begun.wait()
            #expect(hasher.offer(outcomes.job("\(number)", .create)))
        }
        for name in ["newcomer", "again"] {
            #expect(hasher.offer(outcomes.job(name, .verify(nil), host: 1)))
            try #require(gate.begun.wait(upTo: .seconds(60)), "\(name)")
            #expect(outcomes.wait(1)[name] == .differs)
        }
        for _ in 0..<6 { gate.open.signal() }
        #expect(outcomes.wait(6).count == 13)
        hasher.stop()
    }

    /// Hashes that a host had while nobody else waited do not put it behind others.
    @Test func aHostThatWasAloneIsNotBehind() throws {
        let gate = HashGate()
        let outcomes = JobOutcomes()
        let hashes = Locked<[String]>([])
        var functions = gate.functions
        functions.matches = { hash, _ in
            hashes.withLock { $0.append(hash) }
            return true
        }
        let hasher = PasswordHasher(queueLimit: 8, functions: functions)
        try hasher.start()
        defer { hasher.stop() }
        for _ in 0..<3 {
            #expect(hasher.offer(outcomes.job("alone", .verify("alone"), host: 1)))
            _ = outcomes.wait(1)
        }
        #expect(hasher.offer(outcomes.job("0", .create, host: 2)))
        gate.begun.wait()
        #expect(hasher.offer(outcomes.job("first", .verify("first"), host: 1)))
        #expect(hasher.offer(outcomes.job("second", .verify("second"), host: 0)))
        gate.open.signal()
        _ = outcomes.wait(3)
        #expect(hashes.withLock { $0.suffix(2) } == ["first", "second"])
    }

    /// Who has waited too long leaves the queue while the idle thread has no processor.
    @Test func aFloodLosesItsOldJobs() throws {
        let gate = HashGate()
        let now = Locked<UInt64>(0)
        let outcomes = JobOutcomes()
        let hasher = try PasswordHasher.busy(queueLimit: 4, gate, outcomes) {
            MonotonicInstant(nanoseconds: now.withLock { $0 })
        }
        for number in 1...4 {
            let deadline: UInt64 = number == 1 ? .max : 10
            #expect(hasher.offer(outcomes.job("\(number)", .create, deadline: deadline)))
        }
        gate.open.signal()
        gate.begun.wait()
        // The flood's thread has the first of the four.
        #expect(outcomes.wait(1) == ["0": .hashed("hash")])
        now.withLock { $0 = 20 }
        let skipped = outcomes.wait(3)
        #expect(["2", "3", "4"].allSatisfy { skipped[$0] == .skipped })
        #expect(hasher.queuedCount == 0)
        gate.open.signal()
        #expect(outcomes.wait(1)["1"] == .hashed("hash"))
        hasher.stop()
    }
}

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
