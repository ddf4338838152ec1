import LoadGen
import Testing

@Suite struct PhasesTests {
    private let second: UInt64 = 1_000_000_000

    @Test func measuresFromTheEndOfTheWarmUpToTheEnd() {
        let phases = Phases(start: 5, warmup: .seconds(2), duration: .seconds(3))
        #expect(!phases.isMeasured(4 + 2 * second))
        #expect(phases.isMeasured(5 + 2 * second))
        #expect(phases.isMeasured(4 + 5 * second))
        #expect(!phases.isMeasured(5 + 5 * second))
    }

    @Test func hasNoEndWhereANumberOfRequestsEndsIt() {
        let phases = Phases(start: 0, warmup: .zero, duration: nil)
        #expect(phases.isMeasured(.max - 1))
    }

    @Test func endsAnIntervalWithTheWarmUp() {
        let phases = Phases(start: 0, warmup: .milliseconds(2500), duration: .seconds(2))
        #expect((0..<5).map(phases.intervalEnd) == [5, 15, 25, 35, 45].map { $0 * second / 10 })
        #expect((0..<6).map(phases.isMeasuredInterval) == [false, false, false, true, true, false])
    }
}
