import LoadGen
import Testing

@Suite struct PermutationTests {
    @Test(arguments: [1, 2, 3, 5, 16, 17, 100, 1000, 4097])
    func isABijection(_ count: Int) {
        for seed in [1, 99] as [UInt64] {
            let permutation = Permutation(count: count, seed: seed)
            #expect(
                (0..<count).map { permutation($0) }.sorted() == Array(0..<count),
                "seed \(seed)"
            )
        }
    }

    @Test func anotherSeedScattersOtherwise() {
        let one = Permutation(count: 1000, seed: 1)
        let other = Permutation(count: 1000, seed: 2)
        #expect((0..<1000).filter { one($0) == other($0) }.count < 20)
    }
}

@Suite struct KeyChoiceTests {
    private func counts(_ keys: KeyDistribution, posts: Int, draws: Int) -> [Int] {
        let choice = KeyChoice(keys, postCount: posts, seed: 1)
        var stream = RandomStream(seed: 1, thread: 0, client: 0)
        var counts = [Int](repeating: 0, count: posts)
        for index in 0..<draws { counts[choice.next(&stream, index: index)] += 1 }
        return counts
    }

    @Test(arguments: [
        KeyDistribution.uniform, .zipf(exponent: 0.99), .hot(fraction: 0.2, share: 0.8),
        .latest(exponent: 0.99), .one,
    ])
    func theHottestPostGetsItsAnnouncedShare(_ keys: KeyDistribution) {
        let counts = counts(keys, posts: 50, draws: 200_000)
        let share = KeyChoice(keys, postCount: 50, seed: 1).hottestShare
        let hottest = Double(counts.max() ?? 0) / 200_000
        #expect(abs(hottest / share - 1) < 0.06, "\(keys): \(hottest) of \(share)")
    }

    /// A million posts and more are drawn without a table, by the same distribution.
    @Test(arguments: [1 << 20, 1 << 20 + 1])
    func drawsAsManyPostsByTheSameDistribution(postCount: Int) {
        let choice = KeyChoice(.latest(exponent: 1.2), postCount: postCount, seed: 1)
        let zipf = ZipfDistribution(count: postCount, exponent: 1.2)
        var stream = RandomStream(seed: 4, thread: 0, client: 0)
        var counts = [Int](repeating: 0, count: 4)
        for index in 0..<200_000 {
            let rank = postCount - choice.next(&stream, index: index)
            if rank <= 4 { counts[rank - 1] += 1 }
        }
        for rank in 1...4 {
            let expected = zipf.probability(ofRank: rank) * 200_000
            let deviations = abs(Double(counts[rank - 1]) - expected) / expected.squareRoot()
            #expect(deviations < 5, "rank \(rank) of \(postCount), seed 4")
        }
    }

    @Test(arguments: [1, 2, 7, 1000], [0, 0.99, 3])
    func tablesHaveTheWeightsTheyWereGiven(count: Int, exponent: Double) {
        let zipf = ZipfDistribution(count: count, exponent: exponent)
        let values = (0..<UInt32(count)).map { $0 * 3 }
        let found = AliasTable(values, weights: zipf.weights).probabilities
        for rank in 1...count {
            let expected = zipf.probability(ofRank: rank)
            #expect(abs((found[values[rank - 1]] ?? 0) - expected) < 1e-8, "rank \(rank)")
        }
        #expect(found.count == count)
    }

    @Test func theNewestPostIsTheHottestOfLatest() {
        let counts = counts(.latest(exponent: 1), posts: 50, draws: 10_000)
        #expect(counts.firstIndex(of: counts.max() ?? 0) == 49)
    }

    @Test func sequentialKeysGoRound() {
        #expect(counts(.sequential, posts: 10, draws: 35) == [4, 4, 4, 4, 4, 3, 3, 3, 3, 3])
    }

    @Test(arguments: [
        "uniform", "zipf:0.99", "zipf:0", "hot:0.2:0.8", "latest:1.1", "seq", "one",
    ])
    func readsItsOwnText(_ text: String) throws {
        let keys = try #require(KeyDistribution(parsing: text))
        #expect(KeyDistribution(parsing: keys.description) == keys)
    }

    @Test(arguments: [
        "", "zipf", "zipf:-1", "zipf:x", "zipf:nan", "hot:0:1", "hot:0.2", "hot:1:2", "two",
    ])
    func refuses(_ text: String) {
        #expect(KeyDistribution(parsing: text) == nil)
    }
}
