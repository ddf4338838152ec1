import LoadGen
import Testing

/// The idle share of a loop is computed from two readings.
struct LoopReadingTests {
    /// A reading at a second, of a thread and of a machine with 100 ticks a second.
    private func reading(
        second: Double,
        run: Double = 0,
        wait: Double = 0,
        stolen: Double = 0
    ) throws -> LoopReading {
        let (all, steal) = (Int(second * 100), Int(stolen * 100))
        return LoopReading(
            instantNanoseconds: UInt64(second * 1e9),
            account: .init(runNanoseconds: UInt64(run * 1e9), waitNanoseconds: UInt64(wait * 1e9)),
            machine: try #require(MachineSample(parsing: "cpu 0 0 0 \(all - steal) 0 0 0 \(steal)"))
        )
    }

    private func idleShare(
        run: Double,
        wait: Double = 0,
        stolen: Double = 0
    ) throws -> Double {
        let start = try reading(second: 100, run: 7, wait: 3, stolen: 20)
        let end = try reading(second: 110, run: 7 + run, wait: 3 + wait, stolen: 20 + stolen)
        return try #require(start.idleShare(until: end))
    }

    @Test func runningWaitingAndStolenTimeIsNoSleep() throws {
        #expect(try idleShare(run: 0) == 1)
        #expect(abs(try idleShare(run: 3) - 0.7) < 1e-9)
        #expect(abs(try idleShare(run: 3, wait: 1) - 0.6) < 1e-9)
        #expect(abs(try idleShare(run: 3, wait: 1, stolen: 2) - 0.4) < 1e-9)
    }

    @Test func staysAShareWhereTheKernelsAccountsAreLate() throws {
        #expect(try idleShare(run: 10.1) == 0)
        #expect(try idleShare(run: 9, stolen: 2) == 0)
        let start = try reading(second: 1, run: 0.5)
        let end = try reading(second: 2, run: 0.4)
        #expect(start.idleShare(until: end) == 1)
    }

    @Test func isNotKnownWhereNoTimePassed() throws {
        let (start, end) = (try reading(second: 2, run: 1), try reading(second: 1))
        #expect(start.idleShare(until: start) == nil)
        #expect(start.idleShare(until: end) == nil)
    }
}
