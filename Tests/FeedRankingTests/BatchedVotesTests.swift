import FeedRanking
import FeedRankingModel
import FeedTestSupport
import Testing

/// Votes that are cast together leave behind what the same votes leave behind one by one.
@Suite struct BatchedVotesTests {
    private static let postCount: UInt64 = 40
    private static let stripeCount = 4

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func castAsOneByOne(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let together = try Self.makeStore(NoChanges())
        let single = try Self.makeStore(NoChanges())
        var votes = BatchedVotes()
        var refusedCount = 0
        for _ in 0..<50 {
            let voter = Self.draw(&votes, &random)
            together.castVotes(&votes, voter: voter)
            var due: [UInt64: Bool] = [:]
            for item in 0..<votes.count {
                let vote = votes.entries[item]
                let result = Self.cast(vote, voter, single)
                expect(vote, isAs: result, "seed \(seed)")
                if case .success(let outcome) = result {
                    due[vote.post.rawValue % UInt64(Self.stripeCount)] = outcome.refreshIsDue
                }
            }
            let refreshed = votes.refreshDue.map { $0.rawValue % UInt64(Self.stripeCount) }
            let isDue = due.filter(\.value).keys
            #expect(isDue.allSatisfy(refreshed.contains), "seed \(seed)")
            #expect(Set(refreshed).count == refreshed.count, "One post a stripe; seed \(seed).")
            let refused = (0..<votes.count).count { votes.entries[$0].refusal != nil }
            #expect(refused == votes.refusedCount, "seed \(seed)")
            #expect(together.revision == single.revision, "seed \(seed)")
            refusedCount += refused
        }
        #expect(refusedCount > 100, "Votes are refused; seed \(seed).")
        #expect(try Self.counts(together) == Self.counts(single), "seed \(seed)")
        together.checkInvariants()
    }

    /// Many stripes have few votes each, which are cast in another order than they were given in.
    @Test(arguments: [1, 2, 256, 1024])
    func castTheVotesOnAPostInTheirOrder(stripeCount: Int) throws {
        let store = try Self.makeStore(NoChanges(), stripeCount: stripeCount)
        var votes = BatchedVotes()
        votes.count = BatchedVotes.capacity
        for item in 0..<votes.count {
            // No post of a ballot feed, nor the one that is deleted.
            votes.entries[item].post = PostID(rawValue: UInt64(8 + item % 3))
        }
        store.castVotes(&votes)
        #expect(votes.refusedCount == 0)
        for item in 0..<votes.count {
            #expect(votes.entries[item].upvoteCount == UInt64(item / 3 + 1))
        }
    }

    /// The revisions of the changes rise without a gap, and a store that the changes are put back
    /// into has the same state: a restart forgets a revision that the sink was not given.
    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func handEachVoteToTheSinkUnderARevisionOfItsOwn(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let changes = RecordedChanges()
        let store = try Self.makeStore(changes)
        var votes = BatchedVotes()
        let first = store.revision
        changes.revisions.removeAll()
        for _ in 0..<50 {
            let voter = Self.draw(&votes, &random)
            store.castVotes(&votes, voter: voter, sink: changes)
        }
        #expect(changes.revisions == Array(first + 1...store.revision), "seed \(seed)")
        let restored = FeedStore(stripeCount: 2) { 0 }
        try changes.restore(to: restored)
        #expect(restored.stateHash() == store.stateHash(), "seed \(seed)")
        #expect(restored.revision == store.revision, "seed \(seed)")
    }

    /// Draws votes on posts of all kinds, some of which are missing; returns who casts them.
    private static func draw(
        _ votes: inout BatchedVotes,
        _ random: inout SeededGenerator
    ) -> VoterID? {
        votes.count = Int.random(in: 1...BatchedVotes.capacity, using: &random)
        // Half of the batches are of what every batch is of: votes that count on posts of a tally.
        let isPlain = Bool.random(using: &random)
        for item in 0..<votes.count {
            let post = UInt64.random(in: 0...postCount + 1, using: &random)
            votes.entries[item].post = PostID(rawValue: isPlain ? 8 + post % 3 : post)
            let direction = [VoteDirection.up, .down, isPlain ? .up : .clear]
                .randomElement(using: &random)
            votes.entries[item].direction = direction ?? .up
        }
        return [VoterID(rawValue: 0), VoterID(rawValue: VoterID.firstUser), nil]
            .randomElement(using: &random) ?? nil
    }

    private func expect(
        _ vote: BatchedVotes.Entry,
        isAs single: Result<VoteOutcome, RankingError>,
        _ comment: Comment
    ) {
        switch single {
        case .success(let outcome):
            #expect(vote.refusal == nil, comment)
            #expect(vote.upvoteCount == outcome.upvoteCount, comment)
            #expect(vote.downvoteCount == outcome.downvoteCount, comment)
            #expect(vote.standingVote == outcome.standingVote, comment)
        case .failure(.postNotFound): #expect(vote.refusal == .postNotFound, comment)
        case .failure(.clearOnTally): #expect(vote.refusal == .clearOnTally, comment)
        case .failure(.voterRequired): #expect(vote.refusal == .voterRequired, comment)
        case .failure(.userRequired): #expect(vote.refusal == .userRequired, comment)
        case .failure(let error): Issue.record("\(error)")
        }
    }

    private static func cast(
        _ vote: BatchedVotes.Entry,
        _ voter: VoterID?,
        _ store: FeedStore
    ) -> Result<VoteOutcome, RankingError> {
        do throws(RankingError) {
            return .success(try store.castVote(vote.post, vote.direction, voter: voter))
        } catch {
            return .failure(error)
        }
    }

    private static func counts(_ store: FeedStore) throws -> [[UInt64]] {
        store.sortedPosts().map {
            [$0.counts.id.rawValue, $0.counts.upvoteCount, $0.counts.downvoteCount]
        }
    }

    /// Posts of a tally, every fourth of a ballot feed, and post 12 of one of users' ballots; post 6 is
    /// deleted.
    private static func makeStore(
        _ sink: some ChangeSink,
        stripeCount: Int = stripeCount
    ) throws -> FeedStore {
        var pace = RefreshPace()
        pace.minimumStaleCount = 4
        let store = FeedStore(stripeCount: stripeCount, pace: pace) { 0 }
        var page = PostPage()
        let polls = try store.createFeed(FeedPolicy(name: "polls", voteMode: .ballot), sink: sink)
        let users = try store.createFeed(
            FeedPolicy(name: "users", voteMode: .userBallot),
            sink: sink
        )
        let posts = try #require(store.feed(named: "posts"))
        _ = try store.voter(forDevice: (1, 2), sink: sink)
        _ = try store.voter(for: .user(3), sink: sink)
        for number in 1...postCount {
            _ = try store.createPost(
                PostContent(title: "\(number)"),
                in: number == 12 ? users : number % 4 == 3 ? polls : posts,
                sink: sink,
                into: &page
            )
        }
        _ = try store.deletePost(PostID(rawValue: 6), sink: sink)
        return store
    }
}
