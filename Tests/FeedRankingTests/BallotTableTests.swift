import FeedRanking
import FeedTestSupport
import Testing

@Suite struct BallotTableTests {
    /// Posts with many votes, as the ballots to come make them.
    private static func postTable(_ count: Int) -> PostTable {
        var posts = PostTable()
        for slot in 0..<count {
            var record = PostRecord(
                content: ContentBlob(PostContent(), updateTimeMilliseconds: 0, editRevision: 1),
                feed: FeedID(rawValue: 0),
                voteMode: .ballot,
                createTimeMilliseconds: 0,
                revision: 1
            )
            record.upvoteCount = 1_000_000
            posts.insert(record, at: UInt32(slot))
        }
        return posts
    }

    @Test(arguments: TestEnvironment.seeds(1...4))
    func agreesWithADictionary(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let posts = Self.postTable(50)
        var table = BallotTable()
        var model: [UInt64: VoteDirection] = [:]
        for _ in 0..<20_000 {
            let slot = UInt32.random(in: 0..<50, using: &random)
            let number = UInt32.random(in: 0..<45, using: &random)
            let isUser = random.oneIn(2)
            let voter = VoterID(rawValue: isUser ? VoterID.firstUser + number : number)
            let direction: VoteDirection? = [.up, .down, nil].randomElement(using: &random) ?? nil
            let key = UInt64(slot) << 32 | UInt64(voter.rawValue)
            #expect(table.ballot(slot, voter) == model[key], "FEED_SEED=\(seed)")
            #expect(table.set(direction, slot, voter, posts) == model[key], "FEED_SEED=\(seed)")
            model[key] = direction
        }
    }

    /// Most voters of some chunks vote, so their ballots move out of the table of words, and some posts
    /// are deleted.
    @Test(arguments: TestEnvironment.seeds(1...4))
    func agreesWithADictionaryWhereChunksAreCrowded(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var posts = Self.postTable(8)
        var table = BallotTable()
        var model: [UInt32: [UInt32: VoteDirection]] = [:]
        var live = Array(UInt32(0)..<8)
        for step in 1...40_000 {
            if step % 9_000 == 0 {
                let slot = live.remove(at: Int.random(in: live.indices, using: &random))
                posts.remove(slot)
                model[slot] = nil
            }
            let slot = live.randomElement(using: &random) ?? 0
            // Chunks 0 and 1 become crowded at different times, and chunk 5 never does.
            let chunk = [0, 0, 0, 0, 0, 0, 0, 0, 1, 5].randomElement(using: &random) ?? 0
            let number = UInt32(
                chunk * 1_024 + Int.random(in: 0..<(chunk == 5 ? 20 : 1_024), using: &random)
            )
            let isUser = random.oneIn(4)
            let voter = VoterID(rawValue: isUser ? VoterID.firstUser + number : number)
            let direction: VoteDirection? = [.up, .down, nil].randomElement(using: &random) ?? nil
            let old = model[slot]?[voter.rawValue]
            #expect(table.ballot(slot, voter) == old, "FEED_SEED=\(seed)")
            #expect(table.set(direction, slot, voter, posts) == old, "FEED_SEED=\(seed)")
            model[slot, default: [:]][voter.rawValue] = direction
        }
        var found: [UInt32: [UInt32: VoteDirection]] = [:]
        var count = 0
        table.forEach(posts) { slot, voter, direction in
            found[slot, default: [:]][voter.rawValue] = direction
            count += 1
        }
        #expect(found == model, "FEED_SEED=\(seed)")
        #expect(count == model.values.reduce(0) { $0 + $1.count }, "FEED_SEED=\(seed)")
    }

    @Test func crowdedChunksTakeLessThanAByteABallot() {
        let posts = Self.postTable(10)
        var table = BallotTable()
        for number in 0..<100_000 {
            _ = table.set(.down, UInt32(number % 10), VoterID(rawValue: UInt32(number / 10)), posts)
        }
        #expect(table.byteCount < 100_000)
        #expect(table.ballot(3, VoterID(rawValue: 9_999)) == .down)
    }

    @Test func forgetsTheCrowdedChunksOfDeletedPosts() {
        var posts = Self.postTable(101)
        var table = BallotTable()
        for slot in UInt32(0)..<100 {
            for number in UInt32(0)..<1_024 {
                _ = table.set(.up, slot, VoterID(rawValue: number), posts)
            }
            posts.remove(slot)
        }
        #expect(table.byteCount <= 8 * 264 + 16 * 1_024)
        #expect(table.ballot(100, VoterID(rawValue: 7)) == nil)
    }

    @Test(arguments: [1_000, 10_000, 77_777, 300_000])
    func costsAtMostSixteenBytesABallot(count: Int) {
        let posts = Self.postTable(10)
        var table = BallotTable()
        for number in 0..<count {
            let voter = VoterID(rawValue: UInt32(number / 10))
            _ = table.set(.up, UInt32(number % 10), voter, posts)
            if number > 500 {
                #expect(table.byteCount <= 16 * (number + 1))
            }
        }
    }

    @Test func forgetsTheBallotsOfDeletedPosts() {
        var posts = Self.postTable(2)
        var table = BallotTable()
        for number in 0..<5_000 {
            _ = table.set(.up, 0, VoterID(rawValue: UInt32(number)), posts)
        }
        posts.remove(0)
        for number in 0..<5_000 {
            _ = table.set(.down, 1, VoterID(rawValue: UInt32(number)), posts)
        }
        #expect(table.byteCount <= 16 * 5_100 + 16 * 5_000 / 2)
        #expect(table.ballot(1, VoterID(rawValue: 77)) == .down)
    }
}
