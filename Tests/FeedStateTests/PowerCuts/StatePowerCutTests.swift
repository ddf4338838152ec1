import FeedTestSupport
import Testing

/// That the power may go at any moment, and nothing that a client was told goes with it: the
/// journal, the database and all of recovery on one disk.
///
/// `FEED_POWER_CUTS` sets how many power cuts there are; `FEED_SEED` replays one run.
@Suite struct StatePowerCutTests {
    @Test(arguments: [StatePowerCutRun.Fault.none, .failingSync])
    func keepsEveryAnsweredCallOnce(_ fault: StatePowerCutRun.Fault) async throws {
        let usual: UInt64 = fault == .none ? 2000 : 1000
        let wanted = Int(TestEnvironment.number("FEED_POWER_CUTS") ?? usual)
        let replayed = TestEnvironment.number("FEED_SEED")
        var seed = replayed ?? TestEnvironment.firstSeed
        var cutCount = 0
        var checkpointCount = 0
        var backupCount = 0
        while cutCount < wanted {
            // On a thread of its own, beside which other tests wait for sockets.
            let lives = try await offload { [seed] in
                let keepsJournal = seed.isMultiple(of: 2)
                var run = StatePowerCutRun(seed: seed, fault: fault, keepsJournal: keepsJournal)
                return (
                    complaint: run.run(), cutCount: run.cutCount,
                    checkpointCount: run.checkpointCount,
                    backupCount: run.backupCount
                )
            }
            #expect(lives.complaint == nil, "seed \(seed)")
            guard lives.complaint == nil, replayed == nil else { return }
            cutCount += lives.cutCount
            checkpointCount += lives.checkpointCount
            backupCount += lives.backupCount
            seed += 1
        }
        #expect(checkpointCount > wanted / 4, "Only \(checkpointCount) checkpoints ended.")
        #expect(backupCount > wanted / 8, "Only \(backupCount) backups were made.")
    }

    @Test(arguments: [
        StatePowerCutRun.Fault.noSync, .earlyAnswer, .forgottenOutcomes, .forgottenMarks,
        .forgottenUsers, .earlyForget,
    ])
    func noticesAServiceThatIsBrokenOnPurpose(_ fault: StatePowerCutRun.Fault) {
        let complaints = (1...60 as ClosedRange<UInt64>).compactMap { seed -> String? in
            var run = StatePowerCutRun(seed: seed, fault: fault)
            return run.run()
        }
        #expect(complaints.count > 3, "\(complaints.count) of 60 runs complained.")
    }
}
