import FeedTestSupport
import LoadGen
import Testing

@Suite struct BackoffTests {
    @Test(arguments: [(1, 50), (2, 100), (3, 200), (4, 400), (5, 800), (6, 1000), (1000, 1000)])
    func doublesToASecondAndIsNeverUnderHalf(_ round: Int, _ milliseconds: UInt64) {
        var generator = SeededGenerator(seed: 5)
        let waits = (0..<1000).map { _ in Backoff.nanoseconds(round: round, using: &generator) }
        let longest = milliseconds * 1_000_000
        #expect(waits.allSatisfy { (longest / 2...longest).contains($0) })
        // Spread out, so that what was lost together does not come back together.
        #expect(Set(waits).count > 900)
    }
}
