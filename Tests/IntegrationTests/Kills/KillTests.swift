import FeedTestSupport
import Testing

/// The service is killed at random moments under votes, creates, edits and deletes: what it
/// acknowledged is there, and nothing is there twice.
@Suite(
    .serialized,
    .timeLimit(.minutes(10)),
    .enabled(DurableService.absence, DurableService.isBuilt)
)
struct KillTests {
    /// Cycles in a directory, before another one begins.
    static let cyclesOfRun = 10

    /// Cycles in all: `FEED_KILL_CYCLES`, or 50.
    static var cycleCount: UInt64 { TestEnvironment.number("FEED_KILL_CYCLES") ?? 50 }

    @Test(
        "T-RUN-6: a kill loses nothing that was acknowledged, and doubles nothing",
        arguments: TestEnvironment.seeds(1...(max(1, cycleCount / UInt64(cyclesOfRun))))
    )
    func survivesKills(seed: UInt64) async throws {
        let summary = try await KillRun.run(seed: seed, cycles: Self.cyclesOfRun)
        print("seed \(seed): \(summary)")
        #expect(summary.problems.isEmpty, "seed \(seed)")
        // Else the run would have shown nothing.
        #expect(summary.cycleCount == Self.cyclesOfRun)
        #expect(summary.acknowledgedVoteCount > 1000)
        #expect(summary.acknowledgedChangeCount > 100)
        #expect(summary.killsBehindCheckpoint > 0)
        #expect(summary.checkpointedRecord > 0)
    }

    @Test("a service that counts wrong would be seen", arguments: KillFault.allCases)
    func seesFaults(_ fault: KillFault) async throws {
        let summary = try await KillRun.run(seed: 1, cycles: 20, fault: fault)
        #expect(!summary.problems.isEmpty, "\(fault)")
    }
}
