import FeedProto
import FeedService
import FeedTestSupport
import Testing

/// Batches of votes take the fast path, which gives the same answers as the path of all calls.
@Suite(.timeLimit(.minutes(10)))
struct VoteBatchTests {
    private static let tallyPostCount = 12
    private static let ballotPostCount = 6
    private static let deletedPostCount = 2
    private static var postCount: Int { tallyPostCount + ballotPostCount + deletedPostCount }

    /// The answers of a service, and its posts at the end.
    private struct Outcome {
        var frames: [ServerFrame] = []
        var posts: [ServerFrame] = []
    }

    /// Each batch is sent plain to one service, and with an unknown field to another, which keeps it
    /// from the fast path.
    @Test(arguments: 1...8 as ClosedRange<UInt64>, [true, false])
    func answersAsThePathOfAllCalls(seed: UInt64, isKnown: Bool) async throws {
        let calls = Self.calls(seed: seed)
        let plain = try calls.flatMap { try $0.encoded() }
        let marked = try calls.flatMap { try Self.marked($0.encoded()) }
        let fast = try await Self.outcome(of: plain, isKnown: isKnown)
        let general = try await Self.outcome(of: marked, isKnown: isKnown)
        for (one, other) in zip(fast.frames + fast.posts, general.frames + general.posts)
        where one != other {
            Issue.record("seed \(seed): \(one), the path of all calls \(other)")
            break
        }
        #expect(fast.frames.count == calls.count - 5, "seed \(seed)")
        #expect(fast.frames.last?.status?.reason == .badFrame, "seed \(seed)")
        #expect(fast.frames.count == general.frames.count, "seed \(seed)")
        let results: [CastVoteResult] = fast.frames.flatMap { frame in
            guard case .batchCastVotes(let response) = frame.response else {
                return [CastVoteResult]()
            }
            return response.results
        }
        #expect(results.count { $0.status == nil } > 200, "Votes are counted; seed \(seed).")
        #expect(results.count { $0.status != nil } > 50, "Votes are refused; seed \(seed).")
    }

    /// The votes of a batch on one post are executed in their order, the first ballot among them.
    @Test func castsTheVotesOnAPostInOrder() async throws {
        try await withService { port in
            let client = try ExactlyOnceTests.connect(port)
            let feed = Feed(name: "polls", voteMode: .ballot)
            _ = try client.call(.createFeed(CreateFeedRequest(feed: feed)))
            let ballot = try client.createPost(title: "ballot", feed: "polls")
            let tally = try client.createPost(title: "tally")
            let directions: [VoteDirection] = [.up, .down, .up, .down, .down]
            let votes = directions.flatMap { direction in
                [ballot, tally].map { CastVoteRequest(postID: $0, direction: direction) }
            }
            let batch = Request.batchCastVotes(BatchCastVotesRequest(votes: votes))
            for _ in 0..<2 {
                let results = try NumberedBatchTests.results(client.call(batch))
                let standing: [VoteDirection?] = stride(from: 0, to: 10, by: 2).map {
                    results[$0].vote?.vote
                }
                #expect(standing == directions)
            }
            let last = try NumberedBatchTests.results(client.call(batch)).last?.vote
            #expect((last?.upvoteCount, last?.downvoteCount) == (6, 9))
        }
    }

    /// The answers of a new service with some posts to bytes that are sent at once.
    private static func outcome(of bytes: [UInt8], isKnown: Bool) async throws -> Outcome {
        let result = Locked(Outcome())
        try await withService { port in
            let client = try WireClient(port: port)
            if isKnown { _ = try client.hello(clientID: .init(repeating: 7, count: 16)) }
            let feed = Feed(name: "polls", voteMode: .ballot)
            _ = try client.call(.createFeed(CreateFeedRequest(feed: feed)))
            let users = Feed(name: "users", voteMode: .ballot, voters: .users)
            _ = try client.call(.createFeed(CreateFeedRequest(feed: users)))
            for number in 0..<postCount {
                let isBallot = tallyPostCount..<tallyPostCount + ballotPostCount ~= number
                _ = try client.createPost(
                    title: "\(number)",
                    feed: isBallot ? number.isMultiple(of: 2) ? "users" : "polls" : "posts"
                )
            }
            for number in postCount - deletedPostCount..<postCount {
                _ = try client.call(.deletePost(DeletePostRequest(id: UInt64(number + 1))))
            }
            try client.socket.send(bytes)
            let frames = try client.receiveAll().map(withoutPostRevision)
            let reader = try WireClient(port: port)
            let posts = try (1...UInt64(postCount)).map {
                var answer = try reader.call(.getPost(GetPostRequest(id: $0)))
                if case .post(var post) = answer.response {
                    (post.createTimeMilliseconds, post.updateTimeMilliseconds) = (0, 0)
                    post.revision = 0
                    answer.response = .post(post)
                }
                return answer
            }
            result.withLock { $0 = Outcome(frames: frames, posts: posts) }
        }
        return result.withLock { $0 }
    }

    /// An answer without the revision of a single post: which vote of a batch has which revision
    /// depends on the posts' stripes on the fast path.
    private static func withoutPostRevision(_ frame: ServerFrame) -> ServerFrame {
        guard case .castVote = frame.response else { return frame }
        var frame = frame
        frame.revision = 0
        return frame
    }

    /// 120 calls, most of them batches and many of those unusual; then one whose id does not rise,
    /// and 5 that must not be executed.
    private static func calls(seed: UInt64) -> [ClientFrame] {
        var random = SeededGenerator(seed: seed)
        var calls: [ClientFrame] = []
        for id in 100..<220 as Range<UInt64> {
            // The first batches have no clears, because the caller has never voted.
            let votes = (0..<Int.random(in: 1...20, using: &random)).map { _ in
                vote(mayClear: id > 110, &random)
            }
            var frame = ClientFrame(
                id: id,
                request: .batchCastVotes(BatchCastVotesRequest(votes: votes))
            )
            makeUnusual(&frame, votes, &random)
            calls.append(frame)
        }
        for id in 219..<225 as Range<UInt64> {
            let votes = [CastVoteRequest(postID: 1, direction: .up)]
            let request = Request.batchCastVotes(BatchCastVotesRequest(votes: votes))
            calls.append(ClientFrame(id: id, request: request))
        }
        return calls
    }

    private static func vote(
        mayClear: Bool,
        _ random: inout SeededGenerator
    ) -> CastVoteRequest {
        CastVoteRequest(
            postID: .random(in: 1...UInt64(postCount + 1), using: &random),
            direction: mayClear && random.oneIn(6)
                ? .clear : Bool.random(using: &random) ? .up : .down
        )
    }

    private static func makeUnusual(
        _ frame: inout ClientFrame,
        _ votes: [CastVoteRequest],
        _ random: inout SeededGenerator
    ) {
        switch Int.random(in: 0..<20, using: &random) {
        case 0...5:
            // Half of these repeat a batch under its sequence, the others reuse a sequence.
            frame.sequence = .random(in: 1...12, using: &random)
            if Bool.random(using: &random) {
                let votes = [frame.sequence, 21, frame.sequence].map {
                    CastVoteRequest(postID: $0, direction: .up)
                }
                frame.request = .batchCastVotes(BatchCastVotesRequest(votes: votes))
            }
        case 6: frame.minimumRevision = .random(in: 1...2, using: &random)
        case 7: frame.minimumRevision = .max
        case 8: frame.timeoutMilliseconds = 60_000
        case 9: frame.request = .castVote(votes[0])
        case 10: frame.request = .batchCastVotes(BatchCastVotesRequest(votes: []))
        case 11:
            let votes = Array(repeating: votes[0], count: 257)
            frame.request = .batchCastVotes(BatchCastVotesRequest(votes: votes))
        case 12:
            let votes = votes + [CastVoteRequest(postID: 0, direction: .up)]
            frame.request = .batchCastVotes(BatchCastVotesRequest(votes: votes))
        case 13:
            let direction = VoteDirection(rawValue: .random(in: -1...4, using: &random))
            let votes = votes + [CastVoteRequest(postID: 1, direction: direction)]
            frame.request = .batchCastVotes(BatchCastVotesRequest(votes: votes))
        case 14...17: frame.actingUserID = .random(in: 1...3, using: &random) | 1 << 63
        default: break
        }
    }

    /// The frame with a field of number 1000 at its end.
    private static func marked(_ frame: [UInt8]) -> [UInt8] {
        RawMessage().raw(Array(frame.dropFirst(4))).field(1000, 1).framed
    }
}
