import FeedProto
import FeedService
import FeedTestSupport
import Testing

/// The meaning of a vote in each kind of feed.
@Suite(.timeLimit(.minutes(10)))
struct VoteTests {
    @Test("T-VOTE-2: a tally counts every vote")
    func talliesEveryVote() async throws {
        try await withService { port in
            let client = try WireClient(port: port)
            let id = try client.createPost(title: "tally")
            #expect(try client.vote(id).score == 1)
            #expect(try client.vote(id).score == 2)
            #expect(try client.vote(id).vote == .unspecified)
            _ = try client.vote(id, .down)
            let down = try client.vote(id, .down)
            #expect((down.score, down.upvoteCount, down.downvoteCount) == (1, 3, 2))
            let clear = CastVoteRequest(postID: id, direction: .clear)
            #expect(try client.call(.castVote(clear)).status?.reason == .badVote)
        }
    }

    @Test("T-VOTE-3, T-VOTE-4: a ballot is one a device, and needs one")
    func keepsOneBallotADevice() async throws {
        try await withService { port in
            let client = try WireClient(port: port)
            let feed = Feed(name: "polls", voteMode: .ballot)
            #expect(try client.call(.createFeed(CreateFeedRequest(feed: feed))).status == nil)
            let id = try client.createPost(title: "ballot", feed: "polls")
            let up = CastVoteRequest(postID: id, direction: .up)
            #expect(try client.call(.castVote(up)).status?.reason == .identityRequired)
            let clear = CastVoteRequest(postID: id, direction: .clear)
            #expect(try client.call(.castVote(clear)).status?.reason == .identityRequired)
            #expect(try client.hello(clientID: [UInt8](1...16)).status == nil)
            #expect(try client.vote(id, .clear).score == 0)
            #expect(try client.vote(id).score == 1)
            #expect(try client.vote(id).score == 1)
            let twin = try WireClient(port: port)
            _ = try twin.hello(clientID: [UInt8](1...16))
            #expect(try twin.vote(id, .clear).score == 0)
            #expect(try client.vote(id).score == 1)
            let down = try client.vote(id, .down)
            #expect((down.score, down.vote) == (-1, .down))
            let other = try WireClient(port: port)
            _ = try other.hello(clientID: [UInt8](2...17))
            #expect(try other.vote(id).score == 0)
            #expect(try client.vote(id, .clear).score == 1)
            guard case .post(let post) = try other.call(.getPost(GetPostRequest(id: id))).response
            else {
                Issue.record("GetPost answers with the post.")
                return
            }
            #expect(post.viewer?.vote == .up)
        }
    }
}
