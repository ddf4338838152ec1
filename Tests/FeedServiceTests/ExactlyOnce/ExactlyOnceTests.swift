import FeedProto
import FeedService
import FeedTestSupport
import Testing

/// A call of any kind that is sent again with its sequence is executed once.
@Suite(.timeLimit(.minutes(10)))
struct ExactlyOnceTests {
    static let clientID = [UInt8](repeating: 7, count: 16)

    /// A connection that holds the client's channel.
    static func connect(_ port: UInt16, channel: UInt32 = 0) throws -> WireClient {
        let client = try WireClient(port: port)
        _ = try helloed(client, channel: channel)
        return client
    }

    @discardableResult
    static func helloed(_ client: WireClient, channel: UInt32 = 0) throws -> HelloResponse {
        let answer = try client.hello(clientID: clientID, channel: channel)
        guard case .hello(let hello) = answer.response else {
            throw try #require(answer.status)
        }
        return hello
    }

    static func post(_ answer: ServerFrame) throws -> Post {
        guard case .post(let post) = answer.response else { throw try #require(answer.status) }
        return post
    }

    static func vote(_ id: UInt64, _ direction: VoteDirection = .up) -> Request {
        .castVote(CastVoteRequest(postID: id, direction: direction))
    }

    static func upvotes(_ answer: ServerFrame) throws -> UInt64 {
        guard case .castVote(let counts) = answer.response else {
            throw try #require(answer.status)
        }
        return counts.upvoteCount
    }

    @Test func helloSaysWhatIsKnown() async throws {
        try await withService { port in
            let client = try WireClient(port: port)
            let first = try Self.helloed(client)
            #expect(first.capabilities.contains(.exactlyOnce))
            #expect(first.limits?.sequenceWindow == 256)
            #expect((first.isClientKnown, first.lastSequence) == (false, 0))
            let id = try client.createPost(title: "a")
            #expect(try client.call(Self.vote(id), sequence: 12).status == nil)
            let again = try Self.helloed(WireClient(port: port))
            #expect((again.isClientKnown, again.lastSequence) == (true, 12))
            let other = try Self.helloed(WireClient(port: port), channel: 1)
            #expect((other.isClientKnown, other.lastSequence) == (false, 0))
            let nobody = try WireClient(port: port).hello()
            guard case .hello(let anonymous) = nobody.response else { return }
            #expect((anonymous.isClientKnown, anonymous.lastSequence) == (false, 0))
        }
    }

    @Test func aVoteCountsOnceAndARepeatHasTodaysCounts() async throws {
        try await withService { port in
            let client = try Self.connect(port)
            let id = try client.createPost(title: "a")
            #expect(try Self.upvotes(client.call(Self.vote(id), sequence: 1)) == 1)
            #expect(try Self.upvotes(client.call(Self.vote(id), sequence: 1)) == 1)
            #expect(try Self.upvotes(client.call(Self.vote(id), sequence: 2)) == 2)
            let later = try Self.connect(port)
            let repeated = try later.call(Self.vote(id), sequence: 1)
            #expect(try Self.upvotes(repeated) == 2)
            #expect(repeated.revision > 0)
        }
    }

    @Test func aPostIsCreatedOnce() async throws {
        try await withService { port in
            let client = try Self.connect(port)
            let create = Request.createPost(CreatePostRequest(post: Post(title: "a")))
            let first = try Self.post(client.call(create, sequence: 1))
            _ = try client.vote(first.id)
            let again = try Self.post(client.call(create, sequence: 1))
            #expect(again.id == first.id)
            #expect(again.upvoteCount == 1)
            #expect(try client.list(ListPostsRequest()).totalSize == 1)
        }
    }

    @Test func postsAreImportedOnce() async throws {
        try await withService { port in
            let client = try Self.connect(port)
            let posts = (0..<5).map { Post(title: "\($0)") }
            let request = Request.importPosts(ImportPostsRequest(posts: posts))
            let first = try client.call(request, sequence: 1)
            let again = try client.call(request, sequence: 1)
            #expect(first.response == again.response)
            #expect(first.response == .importPosts(ImportPostsResponse(ids: [1, 2, 3, 4, 5])))
            #expect(try client.list(ListPostsRequest()).totalSize == 5)
        }
    }

    @Test func aPostIsUpdatedOnce() async throws {
        try await withService { port in
            let client = try Self.connect(port)
            let id = try client.createPost(title: "a")
            let revision = try Self.post(client.call(.getPost(GetPostRequest(id: id)))).revision
            // With a revision, a second execution would be REVISION_MISMATCH.
            let update = Request.updatePost(
                UpdatePostRequest(
                    post: Post(id: id, title: "b", revision: revision),
                    updateMask: [.title]
                )
            )
            #expect(try Self.post(client.call(update, sequence: 1)).title == "b")
            let edit = UpdatePostRequest(post: Post(id: id, title: "c"), updateMask: [.title])
            #expect(try client.call(.updatePost(edit), sequence: 2).status == nil)
            #expect(try Self.post(client.call(update, sequence: 1)).title == "c")
        }
    }

    @Test func aPostIsDeletedOnce() async throws {
        try await withService { port in
            let client = try Self.connect(port)
            let id = try client.createPost(title: "a")
            let vote = Self.vote(id)
            #expect(try client.call(vote, sequence: 1).status == nil)
            let delete = Request.deletePost(DeletePostRequest(id: id))
            #expect(try client.call(delete, sequence: 2).response == .empty)
            #expect(try client.call(delete, sequence: 2).response == .empty)
            // A call was executed even if its post is gone.
            let status = try #require(try client.call(vote, sequence: 1).status)
            #expect(status.reason == .postNotFound)
            #expect(!status.isNotExecuted)
        }
    }

    @Test func aFeedIsCreatedOnce() async throws {
        try await withService { port in
            let client = try Self.connect(port)
            let request = Request.createFeed(CreateFeedRequest(feed: Feed(name: "books")))
            let first = try client.call(request, sequence: 1)
            let again = try client.call(request, sequence: 1)
            #expect(first.status == nil)
            #expect(first.response == again.response)
            #expect(try client.call(request, sequence: 2).status?.reason == .feedExists)
        }
    }

    @Test func aBallotIsSetOnceAndARepeatHasTodaysBallot() async throws {
        try await withService { port in
            let client = try Self.connect(port)
            let feed = Feed(name: "ballots", voteMode: .ballot)
            #expect(try client.call(.createFeed(CreateFeedRequest(feed: feed))).status == nil)
            let id = try client.createPost(title: "a", feed: "ballots")
            let up = Self.vote(id, .up)
            #expect(try client.call(up, sequence: 1).status == nil)
            #expect(try client.call(Self.vote(id, .down), sequence: 2).status == nil)
            guard case .castVote(let now) = try client.call(up, sequence: 1).response else {
                Issue.record("A vote is answered with counts.")
                return
            }
            #expect((now.upvoteCount, now.downvoteCount, now.vote) == (0, 1, .down))
        }
    }

    @Test func aRefusedCallLeavesNothingBehind() async throws {
        try await withService { port in
            let client = try Self.connect(port)
            let refused = try #require(try client.call(Self.vote(1), sequence: 1).status)
            #expect(refused.reason == .postNotFound)
            #expect(refused.isNotExecuted)
            #expect(try client.createPost(title: "a") == 1)
            #expect(try Self.upvotes(client.call(Self.vote(1), sequence: 1)) == 1)
            #expect(try Self.helloed(client).lastSequence == 1)
        }
    }

    @Test func statisticsCountChannelsAndRepeats() async throws {
        try await withService { port in
            let client = try Self.connect(port)
            let id = try client.createPost(title: "a")
            for _ in 0..<3 { _ = try client.call(Self.vote(id), sequence: 1) }
            _ = try Self.connect(port, channel: 9)
            guard case .serverStats(let stats) = try client.call(.getServerStats).response else {
                Issue.record("GetServerStats answers with counters.")
                return
            }
            #expect((stats.channelCount, stats.repeatedCallCount) == (2, 2))
            #expect(stats.evictedChannelCount == 0)
        }
    }
}
