import FeedRanking
import FeedTestSupport
import Testing

@Suite struct BallotTableTests {
    private static func postTable(_ count: Int) -> PostTable {
        var posts = PostTable()
        for slot in 0..<count {
            let record = PostRecord(
                content: ContentBlob(PostContent(), updateTimeMilliseconds: 0, editRevision: 1),
                feed: FeedID(rawValue: 0),
                voteMode: .ballot,
                createTimeMilliseconds: 0,
                revision: 1
            )
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
