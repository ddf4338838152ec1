import FeedTestSupport
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

    @Test(arguments: ["uniform", "zipf:0.99", "zipf:0", "hot:0.2:0.8", "latest:1.1", "seq", "one"])
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

@Suite struct MixTests {
    @Test func operationsComeAsOftenAsTheirWeights() throws {
        let mix = try #require(Mix(parsing: "vote=70,create=5,list=5,page=15,get=5"))
        var stream = RandomStream(seed: 5, thread: 0, client: 0)
        var counts: [Operation: Int] = [:]
        for _ in 0..<100_000 { counts[mix.next(&stream), default: 0] += 1 }
        for operation in Operation.allCases {
            let expected = Double(mix.weights[Int(operation.rawValue)]) / 100
            #expect(abs(Double(counts[operation] ?? 0) / 100_000 - expected) < 0.005)
        }
    }

    @Test func presetsAreMixes() {
        #expect(Mix(parsing: "vote") == .vote)
        #expect(Mix(parsing: "feed")?.description == "vote=9,create=1,page=90")
    }

    @Test(arguments: ["vote=95,page=5", "get=1 list=2", "vote=1"])
    func readsWhatItShould(_ text: String) {
        #expect(Mix(parsing: text) != nil)
    }

    @Test(arguments: ["", "vote=0", "vote=-1", "vote=1,vote=2", "like=1", "vote=1=2", "vote=x"])
    func refuses(_ text: String) {
        #expect(Mix(parsing: text) == nil)
    }
}

@Suite struct RequestStreamTests {
    private func requests(seed: UInt64, thread: Int, client: Int) throws -> [PlannedRequest] {
        let mix = try #require(Mix(parsing: "vote=50,get=40,create=10"))
        let keys = KeyChoice(.zipf(exponent: 0.99), postCount: 1000, seed: seed)
        var stream = RequestStream(mix: mix, keys: keys, seed: seed, thread: thread, client: client)
        return (0..<500).map { _ in stream.next() }
    }

    /// The posts of a mix of votes alone are those of the choice of posts, drawn one after the other.
    @Test(arguments: [KeyDistribution.uniform, .zipf(exponent: 0.99), .sequential, .one])
    func drawsThePostsOfItsChoice(_ distribution: KeyDistribution) {
        let keys = KeyChoice(distribution, postCount: 1000, seed: 3)
        var stream = RequestStream(mix: .vote, keys: keys, seed: 3, thread: 1, client: 2)
        var random = RandomStream(seed: 3, thread: 1, client: 2)
        let drawn = (0..<500).map { _ in stream.next() }
        let expected = (0..<500).map { UInt32(keys.next(&random, index: 2 + $0)) }
        #expect(drawn.allSatisfy { $0.operation == .vote })
        #expect(drawn.map(\.argument) == expected)
    }

    /// Votes that are drawn together are those that are drawn one by one, whoever casts them.
    @Test(
        arguments: [KeyDistribution.uniform, .zipf(exponent: 0.99), .sequential, .one],
        [0, 3]
    )
    func drawsVotesTogether(_ distribution: KeyDistribution, voterCount: Int) {
        let alone = RequestStream(
            mix: .vote,
            keys: KeyChoice(distribution, postCount: 1000, seed: 3),
            seed: 3,
            thread: 1,
            client: 2,
            voterCount: voterCount
        )
        var (one, many) = (alone, alone)
        var drawn: [PlannedRequest] = []
        for count in [1, 0, 64, 7] { many.nextVotes(count) { drawn.append($0) } }
        // What follows them, too.
        drawn.append(many.next())
        #expect(drawn == (0..<73).map { _ in one.next() })
        #expect(Set(drawn.map(\.voter)).count == max(1, voterCount))
    }

    @Test func isTheSameForTheSameSeed() throws {
        #expect(
            try requests(seed: 1, thread: 0, client: 3) == requests(seed: 1, thread: 0, client: 3)
        )
    }

    @Test(arguments: [(2, 0, 3), (1, 1, 3), (1, 0, 4)] as [(UInt64, Int, Int)])
    func isAnotherForAnotherSeedThreadOrClient(_ seed: UInt64, _ thread: Int, _ client: Int) throws
    {
        let one = try requests(seed: 1, thread: 0, client: 3)
        let other = try requests(seed: seed, thread: thread, client: client)
        #expect(one != other)
    }

    @Test func numbersItsNewPosts() throws {
        let created = try requests(seed: 1, thread: 0, client: 0)
            .filter { $0.operation == .create }.map(\.argument)
        #expect(created == Array(1...UInt32(created.count)))
    }

    @Test func titlesStartApart() {
        let prefixes = (0..<10_000).map { PostText.title(maker: 0, number: $0).prefix(8) }
        #expect(Set(prefixes).count > 9_990)
    }
}

@Suite struct VoteScheduleTests {
    private static func votes(_ schedule: VoteSchedule) -> [UInt32] {
        var schedule = schedule
        return (0..<schedule.count).map { _ in schedule.takeNext() }
    }

    @Test func sumsWhateverAFileRecords() {
        #expect([UInt64]().clampedSum == 0)
        #expect([3, 0, 4].clampedSum == 7)
        #expect([1, UInt64.max, 5].clampedSum == .max)
    }

    /// All threads together cast what is planned, and none much more than another.
    @Test(arguments: TestEnvironment.seeds(1...30))
    func castsExactlyWhatIsPlanned(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        // A few posts have most votes, as in real files, and some have none.
        let counts = (0..<Int.random(in: 1...60, using: &random)).map { _ in
            random.oneIn(3)
                ? 0 : UInt64.random(in: 0..<(random.oneIn(8) ? 5000 : 40), using: &random)
        }
        let planned = PlannedVotes(counts)
        let threadCount = Int.random(in: 1...7, using: &random)
        var cast = [UInt64](repeating: 0, count: counts.count)
        var sizes: [Int] = []
        for thread in 0..<threadCount {
            let schedule = VoteSchedule(
                planned,
                thread: thread,
                threadCount: threadCount,
                seed: seed
            )
            sizes.append(schedule.count)
            for number in Self.votes(schedule) { cast[Int(number)] += 1 }
        }
        #expect(cast == counts, "FEED_SEED=\(seed)")
        #expect((sizes.max() ?? 0) - (sizes.min() ?? 0) <= 1, "FEED_SEED=\(seed)")
    }

    @Test func isTheSameForTheSameSeed() {
        let planned = PlannedVotes([UInt64](repeating: 20, count: 50))
        func votes(_ seed: UInt64, _ thread: Int) -> [UInt32] {
            Self.votes(VoteSchedule(planned, thread: thread, threadCount: 2, seed: seed))
        }
        #expect(votes(1, 0) == votes(1, 0))
        #expect(votes(1, 0) != votes(2, 0))
        #expect(votes(1, 0) != votes(1, 1))
    }

    /// The order does not depend on the threads: they take turns in it.
    @Test(arguments: [2, 3, 5])
    func dealsOneOrderToTheThreads(threadCount: Int) {
        let planned = PlannedVotes((0..<40).map { $0 * 7 })
        let all = Self.votes(VoteSchedule(planned, thread: 0, threadCount: 1, seed: 3))
        for thread in 0..<threadCount {
            let share = VoteSchedule(planned, thread: thread, threadCount: threadCount, seed: 3)
            let turns = stride(from: thread, to: all.count, by: threadCount).map { all[$0] }
            #expect(Self.votes(share) == turns)
        }
    }

    /// Of 100 posts with 1,000 votes each, any tenth of the order has about 100 of each: far apart
    /// from 60 or 150 if all orders are equally likely.
    @Test func mixesAllPostsThroughout() {
        let planned = PlannedVotes([UInt64](repeating: 1000, count: 100))
        let votes = Self.votes(VoteSchedule(planned, thread: 0, threadCount: 1, seed: 5))
        for start in stride(from: 0, to: votes.count, by: 10_000) {
            var seen = [Int](repeating: 0, count: 100)
            for number in votes[start..<start + 10_000] { seen[Int(number)] += 1 }
            #expect(seen.allSatisfy { (60...150).contains($0) }, "from \(start), seed 5")
        }
    }

    /// Two votes in a row fall on each pair of 20 posts equally often: chi-squared has 361 degrees
    /// of freedom, as each post has its votes, and lies in this range in 99 of 100 random orders.
    @Test(arguments: [100_000, 131_072, 200_003])
    func followsNoPostWithAFavourite(voteCount: Int) {
        let share = UInt64(voteCount / 20)
        var counts = [UInt64](repeating: share, count: 20)
        counts[0] += UInt64(voteCount) - 20 * share
        let votes = Self.votes(
            VoteSchedule(PlannedVotes(counts), thread: 0, threadCount: 1, seed: 11)
        )
        var pairs = [Double](repeating: 0, count: 400)
        for (vote, next) in zip(votes, votes.dropFirst()) { pairs[Int(vote * 20 + next)] += 1 }
        let expected = Double(votes.count - 1) / 400
        let distance = pairs.reduce(0) { $0 + ($1 - expected) * ($1 - expected) / expected }
        #expect((290...510).contains(distance), "chi-squared \(distance), seed 11")
    }

    /// The first votes of a trillion are computed like those of a thousand, in the same memory.
    @Test func streamsATrillionVotes() {
        let half = UInt64(PlannedVotes.maximumCount) / 2
        var schedule = VoteSchedule(
            PlannedVotes([half - 1, 0, half, 1]),
            thread: 1,
            threadCount: 3,
            seed: 1
        )
        #expect(schedule.remainingCount == PlannedVotes.maximumCount / 3)
        var seen = [Int](repeating: 0, count: 4)
        for _ in 0..<10_000 { seen[Int(schedule.takeNext())] += 1 }
        #expect(schedule.remainingCount == PlannedVotes.maximumCount / 3 - 10_000)
        #expect(seen[1] == 0 && seen[3] <= 1)
        #expect((4_700...5_300).contains(seen[0]))
        #expect(PlannedVotes.byteCount(numberCount: 4) == 72)
    }
}

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
