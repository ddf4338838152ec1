import LoadGen
import Testing

@Suite struct ZipfDistributionTests {
    /// Compares frequencies with the closed form by Pearson's chi-square; 99 degrees of freedom stay
    /// under 149 in 999 of 1000 draws, and the seed is fixed.
    @Test(arguments: [0, 0.5, 0.99, 1, 1.5, 3])
    func frequenciesFollowTheClosedForm(_ exponent: Double) {
        let count = 100
        let draws = 200_000
        let zipf = ZipfDistribution(count: count, exponent: exponent)
        var stream = RandomStream(seed: 42, thread: 0, client: 0)
        var seen = [Int](repeating: 0, count: count + 1)
        for _ in 0..<draws { seen[zipf.next(&stream)] += 1 }
        var chiSquare = 0.0
        var degrees = -1
        for rank in 1...count {
            let expected = zipf.probability(ofRank: rank) * Double(draws)
            // Pearson's statistic needs a handful of expected draws in each cell.
            guard expected >= 5 else { continue }
            degrees += 1
            chiSquare +=
                (Double(seen[rank]) - expected) * (Double(seen[rank]) - expected) / expected
        }
        #expect(chiSquare < Double(degrees) + 50, "seed 42, exponent \(exponent)")
        #expect(seen[0] == 0)
    }

    @Test(arguments: [0, 0.99, 5])
    func oneRankGetsEverything(_ exponent: Double) {
        let zipf = ZipfDistribution(count: 1, exponent: exponent)
        var stream = RandomStream(seed: 1, thread: 0, client: 0)
        #expect((0..<100).allSatisfy { _ in zipf.next(&stream) == 1 })
    }

    @Test func theTailIsReachedAndNeverPassed() {
        let zipf = ZipfDistribution(count: 10_000_000, exponent: 0.2)
        var stream = RandomStream(seed: 3, thread: 0, client: 0)
        let ranks = (0..<100_000).map { _ in zipf.next(&stream) }
        #expect(ranks.allSatisfy { (1...10_000_000).contains($0) })
        #expect((ranks.max() ?? 0) > 9_900_000)
    }
}
