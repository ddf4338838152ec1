import FeedAccounts
import FeedConcurrency
import FeedTestSupport
import Testing

@Suite struct PasswordHasherTests {
    @Test func passwordsMatchTheirHashes() throws {
        let hasher = PasswordHasher(queueLimit: 32, functions: .weakArgon2id)
        try hasher.start()
        defer { hasher.stop() }
        let outcomes = JobOutcomes()
        #expect(hasher.offer(outcomes.job("new", .create, password: "pass wörd")))
        guard case .hashed(let hash) = outcomes.wait(1)["new"] else {
            Issue.record("The password was not hashed.")
            return
        }
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
