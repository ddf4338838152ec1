import FeedProto
import FeedService
import FeedTestSupport
import FeedTransport
import Testing

/// The meaning of a vote in each kind of feed.
@Suite(.timeLimit(.minutes(10))) struct VoteTests {
    @Test("T-VOTE-2: a tally counts every vote")
    func talliesEveryVote() async throws {
        try await withClient { client in
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
            let post = try other.post(id)
            #expect(post.viewer?.vote == .up)
        }
    }
}

/// Batches of votes take the fast path, which gives the same answers as the path of all calls.
@Suite(.timeLimit(.minutes(10))) struct VoteBatchTests {
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
                _ = try client.call(
                    .deletePost(DeletePostRequest(id: PostID(rawValue: UInt64(number + 1))))
                )
            }
            try client.socket.send(bytes)
            let frames = try client.receiveAll().map(withoutPostRevision)
            let reader = try WireClient(port: port)
            let posts = try (1...UInt64(postCount)).map(PostID.init(rawValue:)).map {
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

    private static func vote(mayClear: Bool, _ random: inout SeededGenerator) -> CastVoteRequest {
        CastVoteRequest(
            postID: PostID(rawValue: .random(in: 1...UInt64(postCount + 1), using: &random)),
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
                let votes = [frame.sequence, 21, frame.sequence].map(PostID.init(rawValue:)).map {
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
        case 14...17: frame.actingUserID = .ofService(.random(in: 1...3, using: &random))
        default: break
        }
    }

    /// The frame with a field of number 1000 at its end.
    private static func marked(_ frame: [UInt8]) -> [UInt8] {
        RawMessage().raw(Array(frame.dropFirst(4))).field(1000, 1).framed
    }
}

/// Votes that arrive together take the fast path, which gives the same answers as the path of all
/// calls.
@Suite(.timeLimit(.minutes(10))) struct VoteRunTests {
    private static let postCount = 20

    /// Each vote is sent plain to one service, and with an unknown field to another, which keeps it
    /// from the fast path.
    @Test(arguments: 1...6 as ClosedRange<UInt64>, [true, false])
    func answersAsThePathOfAllCalls(seed: UInt64, isKnown: Bool) async throws {
        let calls = Self.calls(seed: seed)
        let plain = try calls.flatMap { try $0.encoded() }
        let marked = try calls.flatMap { try Self.marked($0.encoded()) }
        let fast = try await Self.answers(to: plain, isKnown: isKnown)
        let general = try await Self.answers(to: marked, isKnown: isKnown)
        #expect(fast == general, "seed \(seed)")
        // Each call before the one whose id does not rise, and that one.
        #expect(fast.count == calls.count - 20, "seed \(seed)")
        #expect(fast.last?.status?.reason == .badFrame, "seed \(seed)")
        #expect(fast.count { $0.status == nil } > 100, "Votes are counted; seed \(seed).")
        #expect(fast.count { $0.status != nil } > 50, "Votes are refused; seed \(seed).")
    }

    /// The answers that a new service with some posts gives to bytes that are sent at once.
    ///
    /// Every fourth post keeps ballots, the first three of them of users only: the first of a known
    /// client makes it a voter, and an unknown client's are refused.
    private static func answers(to bytes: [UInt8], isKnown: Bool) async throws -> [ServerFrame] {
        let result = Box()
        try await withClient { client in
            if isKnown { _ = try client.hello(clientID: .init(repeating: 7, count: 16)) }
            let feed = Feed(name: "polls", voteMode: .ballot)
            _ = try client.call(.createFeed(CreateFeedRequest(feed: feed)))
            let users = Feed(name: "users", voteMode: .ballot, voters: .users)
            _ = try client.call(.createFeed(CreateFeedRequest(feed: users)))
            for number in 0..<postCount {
                let feed = number.isMultiple(of: 4) ? number < 9 ? "users" : "polls" : "posts"
                _ = try client.createPost(title: "\(number)", feed: feed)
            }
            try client.socket.send(bytes)
            result.frames = try client.receiveAll()
        }
        return result.frames
    }

    /// 300 calls, most of them votes and many of those unusual; then one whose id does not rise,
    /// and 20 that must not be executed.
    private static func calls(seed: UInt64) -> [ClientFrame] {
        var random = SeededGenerator(seed: seed)
        var calls: [ClientFrame] = []
        for id in 100..<400 as Range<UInt64> {
            let vote = CastVoteRequest(
                postID: PostID(rawValue: .random(in: 1...UInt64(postCount), using: &random)),
                direction: Bool.random(using: &random) ? .up : .down
            )
            calls.append(unusual(ClientFrame(id: id, request: .castVote(vote)), vote, &random))
        }
        for id in 399..<420 as Range<UInt64> {
            let vote = CastVoteRequest(postID: 1, direction: .up)
            calls.append(ClientFrame(id: id, request: .castVote(vote)))
        }
        return calls
    }

    private static func unusual(
        _ frame: ClientFrame,
        _ vote: CastVoteRequest,
        _ random: inout SeededGenerator
    ) -> ClientFrame {
        var frame = frame
        var vote = vote
        switch Int.random(in: 0..<20, using: &random) {
        case 0: vote.postID = PostID(rawValue: .random(in: 1_000...(.max), using: &random))
        case 1: vote.direction = VoteDirection(rawValue: .random(in: -1...4, using: &random))
        case 2: vote.direction = .clear
        case 3, 9, 10, 11: frame.sequence = .random(in: 1...30, using: &random)
        case 12: frame.sequence = .random(in: 1...1000, using: &random)
        case 4: frame.minimumRevision = .random(in: 1...2, using: &random)
        case 5: frame.minimumRevision = .max
        case 6: frame.timeoutMilliseconds = 60_000
        case 13...16: frame.actingUserID = .ofService(.random(in: 1...3, using: &random))
        case 7:
            frame.request = .ping(PingRequest())
            return frame
        case 8:
            frame.request = nil
            return frame
        default: break
        }
        frame.request = .castVote(vote)
        return frame
    }

    /// The frame with a field of number 1000 at its end.
    private static func marked(_ frame: [UInt8]) -> [UInt8] {
        RawMessage().raw(Array(frame.dropFirst(4))).field(1000, 1).framed
    }

    private final class Box: @unchecked Sendable {
        var frames: [ServerFrame] = []
    }
}

/// Ballots of users: a service casts them for users of its own.
@Suite(.timeLimit(.minutes(10))) struct UserVoteTests {
    private static let clientID = [UInt8](1...16)

    /// A client and a post of a new feed whose ballots are of users, or of devices too.
    private static func client(
        _ port: UInt16,
        _ voters: Voters
    ) throws -> (client: WireClient, post: PostID) {
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
            #expect(try client.vote(id, .clear, for: .ofService(0)).score == 0)
            #expect(try client.vote(id, for: .ofService(0)).score == 1)
            #expect(try client.vote(id, for: .ofService(0)).score == 1)
            #expect(try client.vote(id, for: .ofService(1)).score == 2)
            let down = try client.vote(id, .down, for: .ofService(0))
            #expect((down.score, down.vote) == (0, .down))
            // Each vote and each read is for the user that it names, on every connection.
            _ = try client.hello(clientID: Self.clientID)
            for (user, vote) in [(0, VoteDirection.down), (1, .up), (2, .unspecified)] {
                #expect(try client.viewerVote(of: id, for: .ofService(UInt64(user))) == vote)
            }
            #expect(try client.viewerVote(of: id, for: 0) == .unspecified)
            #expect(try client.vote(id, .clear, for: .ofService(0)).score == 1)
        }
    }

    @Test("What a service does for a user is the user's: posts, marks and page tokens")
    func aServiceWritesAndMarksForItsUsers() async throws {
        try await withClient { client in
            _ = try client.hello(clientID: Self.clientID)
            let post = Post(author: User(displayName: "Ann"), title: "hers")
            let created = try client.call(
                .createPost(CreatePostRequest(post: post)),
                for: .ofService(0)
            )
            guard case .post(let made) = created.response else { throw created.status ?? .unknown }
            #expect(made.author == User(id: .ofService(0), displayName: "Ann"))
            let mark = MarkPostsRequest(mark: .dismissed, postIDs: [made.id])
            #expect(try client.call(.markPosts(mark), for: .ofService(0)).status == nil)
            func list(for user: UserID) throws -> ListPostsResponse {
                let answer = try client.call(.listPosts(ListPostsRequest()), for: user)
                guard case .listPosts(let list) = answer.response else {
                    throw answer.status ?? .unknown
                }
                return list
            }
            // The device of the service has dismissed nothing, and neither has another user.
            #expect(try list(for: .ofService(0)).posts.isEmpty)
            #expect(try list(for: .ofService(1)).posts.count == 1)
            #expect(try list(for: 0).posts.count == 1)
        }
    }

    @Test("A device and a user of the same connection have a ballot each")
    func nothingMergesADeviceWithAUser() async throws {
        try await withService { port in
            let (client, id) = try Self.client(port, .devices)
            _ = try client.hello(clientID: Self.clientID)
            #expect(try client.vote(id).score == 1)
            #expect(try client.vote(id, for: .ofService(0)).score == 2)
            #expect(try client.vote(id, .down).score == 0)
            #expect(try client.viewerVote(of: id, for: .ofService(0)) == .up)
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
            #expect(try client.vote(id, for: .ofService(0)).score == 1)
        }
    }

    @Test func aTallyHasNoVotersToChoose() async throws {
        try await withClient { client in
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
                try client.call(request, sequence: sequence, for: .ofService(user))
            }
            #expect(try send(1, 1).status == nil)
            #expect(try send(2, 2).status == nil)
            #expect(try send(2, 1).status?.reason == .sequenceReused)
            #expect(try send(1, 1).status == nil)
            #expect(try client.vote(id, .down, for: .ofService(3)).score == 1)
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
                #expect(try other.call(call, for: .ofService(0)).status?.reason == .serviceOnly)
            }
        }
    }
}

extension WireClient {
    /// Sends a request for a user and waits for its answer.
    fileprivate func call(
        _ request: Request,
        sequence: UInt64 = 0,
        for user: UserID
    ) throws -> ServerFrame {
        try send(
            ClientFrame(id: nextID(), request: request, sequence: sequence, actingUserID: user)
        )
        return try #require(try receive())
    }

    /// Votes for a user and returns the post's new counts.
    fileprivate func vote(
        _ postID: PostID,
        _ direction: VoteDirection = .up,
        for user: UserID
    ) throws -> CastVoteResponse {
        let vote = CastVoteRequest(postID: postID, direction: direction)
        let answer = try call(.castVote(vote), for: user)
        guard case .castVote(let response) = answer.response else {
            throw answer.status ?? .unknown
        }
        return response
    }

    /// A user's ballot on a post, as a read shows it; 0 is the connection's own device.
    fileprivate func viewerVote(of postID: PostID, for user: UserID) throws -> VoteDirection? {
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
