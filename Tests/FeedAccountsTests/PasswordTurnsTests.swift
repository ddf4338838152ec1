import FeedAccounts
import FeedConcurrency
import FeedTestSupport
import Glibc
import Testing

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
