import FeedProto
import FeedService
import FeedTestSupport
import FeedTransport
import Testing

/// Ballots of users: a service casts them for users of its own.
@Suite(.timeLimit(.minutes(10)))
struct UserVoteTests {
    private static let ownUser: UInt64 = 1 << 63
    private static let clientID = [UInt8](1...16)

    /// A client and a post of a new feed whose ballots are of users, or of devices too.
    private static func client(
        _ port: UInt16,
        _ voters: Voters
    ) throws -> (client: WireClient, post: UInt64) {
        let client = try WireClient(port: port)
        let feed = Feed(name: "polls", voteMode: .ballot, voters: voters)
        let created = try client.call(.createFeed(CreateFeedRequest(feed: feed)))
        guard case .feed(let answer) = created.response else { throw created.status ?? .unknown }
        #expect(answer.voteMode == .ballot && answer.voters == voters)
        return (client, try client.createPost(title: "ballot", feed: "polls"))
    }

    @Test(arguments: [Voters.users, .devices])
    func aServiceCastsBallotsOfItsUsers(voters: Voters) async throws {
        try await withService { port in
            let (client, id) = try Self.client(port, voters)
            // A user who has never voted has no ballot to take back.
            #expect(try client.vote(id, .clear, for: Self.ownUser).score == 0)
            #expect(try client.vote(id, for: Self.ownUser).score == 1)
            #expect(try client.vote(id, for: Self.ownUser).score == 1)
            #expect(try client.vote(id, for: Self.ownUser | 1).score == 2)
            let down = try client.vote(id, .down, for: Self.ownUser)
            #expect((down.score, down.vote) == (0, .down))
            // Each vote and each read is for the user that it names, on every connection.
            _ = try client.hello(clientID: Self.clientID)
            for (user, vote) in [(0, VoteDirection.down), (1, .up), (2, .unspecified)] {
                #expect(try client.viewerVote(of: id, for: Self.ownUser | UInt64(user)) == vote)
            }
            #expect(try client.viewerVote(of: id, for: 0) == .unspecified)
            #expect(try client.vote(id, .clear, for: Self.ownUser).score == 1)
        }
    }

    @Test("What a service does for a user is the user's: posts, marks and page tokens")
    func aServiceWritesAndMarksForItsUsers() async throws {
        try await withService { port in
            let client = try WireClient(port: port)
            _ = try client.hello(clientID: Self.clientID)
            let post = Post(author: User(displayName: "Ann"), title: "hers")
            let created = try client.call(
                .createPost(CreatePostRequest(post: post)),
                for: Self.ownUser
            )
            guard case .post(let made) = created.response else { throw created.status ?? .unknown }
            #expect(made.author == User(id: Self.ownUser, displayName: "Ann"))
            let mark = MarkPostsRequest(mark: .dismissed, postIDs: [made.id])
            #expect(try client.call(.markPosts(mark), for: Self.ownUser).status == nil)
            func list(for user: UInt64) throws -> ListPostsResponse {
                let answer = try client.call(.listPosts(ListPostsRequest()), for: user)
                guard case .listPosts(let list) = answer.response else {
                    throw answer.status ?? .unknown
                }
                return list
            }
            // The device of the service has dismissed nothing, and neither has another user.
            #expect(try list(for: Self.ownUser).posts.isEmpty)
            #expect(try list(for: Self.ownUser | 1).posts.count == 1)
            #expect(try list(for: 0).posts.count == 1)
        }
    }

    @Test("A device and a user of the same connection have a ballot each")
    func nothingMergesADeviceWithAUser() async throws {
        try await withService { port in
            let (client, id) = try Self.client(port, .devices)
            _ = try client.hello(clientID: Self.clientID)
            #expect(try client.vote(id).score == 1)
            #expect(try client.vote(id, for: Self.ownUser).score == 2)
            #expect(try client.vote(id, .down).score == 0)
            #expect(try client.viewerVote(of: id, for: Self.ownUser) == .up)
            #expect(try client.viewerVote(of: id, for: 0) == .down)
        }
    }

    @Test("T-VOTE-7: only users vote where the feed says so")
    func devicesCastNoBallotsOfUsers() async throws {
        try await withService { port in
            let (client, id) = try Self.client(port, .users)
            for isDevice in [false, true] {
                if isDevice { _ = try client.hello(clientID: Self.clientID) }
                for direction in [VoteDirection.up, .down, .clear] {
                    let vote = CastVoteRequest(postID: id, direction: direction)
                    let single = try client.call(.castVote(vote)).status
                    #expect(single?.reason == .identityRequired)
                    let batch = BatchCastVotesRequest(votes: [vote])
                    let results = try NumberedBatchTests.results(
                        client.call(.batchCastVotes(batch))
                    )
                    #expect(results.map(\.status?.reason) == [.identityRequired])
                }
            }
            #expect(try client.vote(id, for: Self.ownUser).score == 1)
        }
    }

    @Test func aTallyHasNoVotersToChoose() async throws {
        try await withService { port in
            let client = try WireClient(port: port)
            for mode in [VoteMode.unspecified, .tally] {
                let feed = Feed(name: "polls", voteMode: mode, voters: .users)
                let refused = try client.call(.createFeed(CreateFeedRequest(feed: feed))).status
                #expect(refused?.violations.first?.field == "feed.voters")
            }
        }
    }

    /// A repeat counts nothing, and the same call for another user is another call.
    @Test(arguments: [true, false])
    func aRepeatForAnotherUserIsAnotherCall(isBatch: Bool) async throws {
        try await withService { port in
            let (client, id) = try Self.client(port, .users)
            _ = try client.hello(clientID: Self.clientID)
            let vote = CastVoteRequest(postID: id, direction: .up)
            let request: Request =
                isBatch
                ? .batchCastVotes(BatchCastVotesRequest(votes: [vote, vote])) : .castVote(vote)
            func send(_ user: UInt64, _ sequence: UInt64) throws -> ServerFrame {
                try client.call(request, sequence: sequence, for: Self.ownUser | user)
            }
            #expect(try send(1, 1).status == nil)
            #expect(try send(2, 2).status == nil)
            #expect(try send(2, 1).status?.reason == .sequenceReused)
            #expect(try send(1, 1).status == nil)
            #expect(try client.vote(id, .down, for: Self.ownUser | 3).score == 1)
        }
    }

    @Test(
        "Only a service acts for a user: votes, batches and reads",
        .enabled(if: TestSocket.ownAddress != nil, "this machine has a loopback address only")
    )
    func aCallerThatIsNoServiceActsForNobody() async throws {
        let own = try #require(TestSocket.ownAddress)
        try await withService {
            $0.addresses = [SocketAddress(host: .v4(0), port: 0)]
        } _: { port in
            let (_, id) = try Self.client(port, .users)
            let other = try WireClient(port: port, host: own)
            let vote = CastVoteRequest(postID: id, direction: .up)
            let calls: [Request] = [
                .castVote(vote), .batchCastVotes(BatchCastVotesRequest(votes: [vote])),
                .getPost(GetPostRequest(id: id)),
            ]
            for call in calls {
                #expect(try other.call(call, for: Self.ownUser).status?.reason == .serviceOnly)
            }
        }
    }
}

extension WireClient {
    /// Sends a request for a user and waits for its answer.
    fileprivate func call(
        _ request: Request,
        sequence: UInt64 = 0,
        for user: UInt64
    ) throws -> ServerFrame {
        try send(
            ClientFrame(id: nextID(), request: request, sequence: sequence, actingUserID: user)
        )
        return try #require(try receive())
    }

    /// Votes for a user and returns the post's new counts.
    fileprivate func vote(
        _ postID: UInt64,
        _ direction: VoteDirection = .up,
        for user: UInt64
    ) throws -> CastVoteResponse {
        let vote = CastVoteRequest(postID: postID, direction: direction)
        let answer = try call(.castVote(vote), for: user)
        guard case .castVote(let response) = answer.response else {
            throw answer.status ?? .unknown
        }
        return response
    }

    /// A user's ballot on a post, as a read shows it; 0 is the connection's own device.
    fileprivate func viewerVote(of postID: UInt64, for user: UInt64) throws -> VoteDirection? {
        let answer = try call(.getPost(GetPostRequest(id: postID)), for: user)
        guard case .post(let post) = answer.response else { throw answer.status ?? .unknown }
        return post.viewer?.vote
    }
}

extension Status {
    fileprivate static var unknown: Status {
        Status(code: .unknown, reason: .internal, message: "The answer is of another kind.")
    }
}
