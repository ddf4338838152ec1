import FeedTestSupport
import Testing

/// `FEED_POWER_CUTS` sets how many power cuts there are; `FEED_SEED` replays one run.
@Suite struct PowerCutTests {
    @Test(arguments: [PowerCutRun.Fault.none, .failingSync], [false, true])
    func keepsEveryAcknowledgedRecordAndNothingElse(
        _ fault: PowerCutRun.Fault,
        _ keepsAll: Bool
    ) {
        let wanted = Int(TestEnvironment.number("FEED_POWER_CUTS") ?? 2000)
        if let seed = TestEnvironment.number("FEED_SEED") {
            var run = PowerCutRun(seed: seed, fault: fault, keepsAll: keepsAll)
            #expect(run.run() == nil, "seed \(seed)")
            return
        }
        var cutCount = 0
        var seed = TestEnvironment.firstSeed - 1
        while cutCount < wanted {
            seed += 1
            var run = PowerCutRun(seed: seed, fault: fault, keepsAll: keepsAll)
            let complaint = run.run()
            #expect(complaint == nil, "seed \(seed)")
            if complaint != nil { return }
            cutCount += run.cutCount
        }
        #expect(cutCount >= wanted)
    }

    @Test(arguments: [PowerCutRun.Fault.noSync, .blindHash, .earlyUnlink])
    func noticesAJournalThatIsBrokenOnPurpose(_ fault: PowerCutRun.Fault) {
        // A torn record is taken for a whole one only where the tear is within it: that is rare.
        let complaints = (1...300 as ClosedRange<UInt64>).compactMap { seed -> String? in
            var run = PowerCutRun(seed: seed, fault: fault)
            return run.run()
        }
        #expect(complaints.count > 3, "\(complaints.count) of 300 runs complained.")
    }
}
