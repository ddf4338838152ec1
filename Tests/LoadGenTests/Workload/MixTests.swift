import LoadGen
import Testing

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
