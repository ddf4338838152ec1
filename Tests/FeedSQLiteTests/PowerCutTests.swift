import FeedTestSupport
import Testing

/// That the power may go at any moment, and no transaction that was committed goes with it.
///
/// `FEED_POWER_CUTS` sets how many power cuts there are; `FEED_SEED` replays one run.
@Suite struct PowerCutTests {
    @Test(arguments: [DatabasePowerCutRun.Fault.none, .failingSync])
    func keepsEveryTransactionWhole(_ fault: DatabasePowerCutRun.Fault) {
        let wanted = Int(TestEnvironment.number("FEED_POWER_CUTS") ?? 400)
        let replayed = TestEnvironment.number("FEED_SEED")
        var cutCount = 0
        var seed = replayed ?? TestEnvironment.firstSeed
        while cutCount < wanted {
            var run = DatabasePowerCutRun(seed: seed, fault: fault)
            let complaint = run.run()
            #expect(complaint == nil, "seed \(seed)")
            guard complaint == nil, replayed == nil else { return }
            cutCount += run.cutCount
            seed += 1
        }
    }

    @Test(arguments: [DatabasePowerCutRun.Fault.lyingDisk, .synchronousNormal])
    func noticesADatabaseThatIsNotSynced(_ fault: DatabasePowerCutRun.Fault) {
        let complaints = (1...30 as ClosedRange<UInt64>).compactMap { seed -> String? in
            var run = DatabasePowerCutRun(seed: seed, fault: fault)
            return run.run()
        }
        #expect(complaints.count > 10, "\(complaints.count) of 30 runs complained.")
    }

    @Test func losesNothingBetweenAJournalAndItsCheckpoint() {
        for seed in TestEnvironment.seeds(1...150) {
            var run = CheckpointRun(seed: seed)
            let complaint = run.run()
            #expect(complaint == nil, "seed \(seed)")
            if complaint != nil { return }
        }
    }

    @Test func noticesAJournalForgottenBeforeItsCheckpoint() {
        let complaints = (1...100 as ClosedRange<UInt64>).compactMap { seed -> String? in
            var run = CheckpointRun(seed: seed, forgetsEarly: true)
            return run.run()
        }
        #expect(complaints.count > 3, "\(complaints.count) of 100 runs complained.")
    }
}
