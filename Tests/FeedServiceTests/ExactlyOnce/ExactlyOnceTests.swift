import FeedProto
import FeedService
import FeedTestSupport
import Testing

/// A call of any kind that is sent again with its sequence is executed once.
@Suite(.timeLimit(.minutes(10))) struct ExactlyOnceTests {
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
        guard case .hello(let hello) = answer.response else { throw try #require(answer.status) }
        return hello
    }

    static func post(_ answer: ServerFrame) throws -> Post {
        guard case .post(let post) = answer.response else { throw try #require(answer.status) }
        return post
    }

    static func vote(_ id: PostID, _ direction: VoteDirection = .up) -> Request {
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
            #expect(first.channelNumber > 0)
            let id = try client.createPost(title: "a")
            #expect(try client.call(Self.vote(id), sequence: 12).status == nil)
            let again = try Self.helloed(WireClient(port: port))
            #expect((again.isClientKnown, again.lastSequence) == (true, 12))
            #expect(again.channelNumber == first.channelNumber)
            let other = try Self.helloed(WireClient(port: port), channel: 1)
            #expect((other.isClientKnown, other.lastSequence) == (false, 0))
            #expect(other.channelNumber > first.channelNumber)
            let nobody = try WireClient(port: port).hello()
            guard case .hello(let anonymous) = nobody.response else { return }
            #expect((anonymous.isClientKnown, anonymous.lastSequence) == (false, 0))
            #expect(anonymous.channelNumber == 0)
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
            guard case .castVote(let now) = try client.call(up, sequence: 1).response
            else { throw Unexpected("A vote is answered with counts.") }
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
            let stats = try client.serverStats()
            #expect((stats.channelCount, stats.repeatedCallCount) == (2, 2))
            #expect(stats.evictedChannelCount == 0)
        }
    }
}

/// Clients that lose their connections and answers, against a model that counts logical calls.
@Suite(.timeLimit(.minutes(10))) struct LossyClientTests {
    static let postCount = 8

    /// The counts that the posts should have, and those that they have.
    struct Counts: Equatable {
        var ups: [UInt64]
        var downs: [UInt64]
    }

    @Test(arguments: TestEnvironment.seeds(1...8))
    func countsEveryCallOnce(seed: UInt64) async throws {
        let (model, real) = try await Self.run(seed: seed)
        #expect(model == real, "seed \(seed)")
    }

    /// The check sees calls that are executed again: those of a client that gives them new numbers.
    @Test(arguments: TestEnvironment.seeds(1...8))
    func seesCallsThatAreExecutedAgain(seed: UInt64) async throws {
        let (model, real) = try await Self.run(seed: seed, renumbers: true)
        #expect(model != real, "seed \(seed)")
    }

    /// A client makes calls, loses some connections with all answers that are on their way, and
    /// sends the unanswered calls again, in any order.
    private static func run(
        seed: UInt64,
        renumbers: Bool = false
    ) async throws -> (model: Counts, real: Counts) {
        let result = Locked<(Counts, Counts)?>(nil)
        try await withService(threads: 2) { port in
            var client = try LossyClient(
                port: port,
                seed: seed,
                postCount: postCount,
                renumbers: renumbers
            )
            for _ in 0..<60 { try client.takeTurn() }
            try client.finish()
            let counts = (client.model, try client.realCounts())
            result.withLock { $0 = counts }
        }
        return try #require(result.withLock { $0 })
    }
}

/// One client on one channel, with the counts that its calls should give.
private struct LossyClient {
    private let port: UInt16
    private let posts: [PostID]
    private let renumbers: Bool
    private var random: SeededGenerator
    private var connection: WireClient
    private var lastSequence: UInt64 = 0
    private var unanswered: [UInt64: Request] = [:]
    private(set) var model: LossyClientTests.Counts

    init(port: UInt16, seed: UInt64, postCount: Int, renumbers: Bool) throws {
        self.port = port
        self.renumbers = renumbers
        random = SeededGenerator(seed: seed)
        connection = try ExactlyOnceTests.connect(port)
        var posts: [PostID] = []
        for number in 0..<postCount { posts.append(try connection.createPost(title: "\(number)")) }
        self.posts = posts
        let zeros = [UInt64](repeating: 0, count: postCount)
        model = LossyClientTests.Counts(ups: zeros, downs: zeros)
    }

    /// Sends new calls and old ones, and reads some answers or loses the connection.
    mutating func takeTurn() throws {
        for _ in 0..<Int.random(in: 0...40, using: &random) {
            guard lastSequence + 1 < (unanswered.keys.min() ?? .max - 256) + 256 else { break }
            lastSequence += 1
            unanswered[lastSequence] = newCall()
        }
        var sequences = unanswered.keys.sorted()
        if Bool.random(using: &random) { sequences.shuffle(using: &random) }
        let sent = Array(sequences.prefix(.random(in: 0...sequences.count, using: &random)))
        try send(sent)
        if Int.random(in: 0..<3, using: &random) == 0 {
            // Some were executed before this is noticed, some not: fenced by the next Hello.
            let old = connection
            connection = try ExactlyOnceTests.connect(port)
            if Bool.random(using: &random) { old.socket.close() }
            if renumbers { renumber() }
        } else {
            try receive(sent)
        }
    }

    /// Gives all unanswered calls new numbers.
    private mutating func renumber() {
        let calls = unanswered.sorted { $0.key < $1.key }.map(\.value)
        unanswered = [:]
        for call in calls {
            lastSequence += 1
            unanswered[lastSequence] = call
        }
    }

    /// Sends the unanswered calls until all are answered.
    mutating func finish() throws {
        let rest = unanswered.keys.sorted()
        try send(rest)
        try receive(rest)
        #expect(unanswered.isEmpty)
    }

    func realCounts() throws -> LossyClientTests.Counts {
        var counts = model
        for (place, id) in posts.enumerated() {
            let post = try ExactlyOnceTests.post(connection.call(.getPost(GetPostRequest(id: id))))
            counts.ups[place] = post.upvoteCount
            counts.downs[place] = post.downvoteCount
        }
        return counts
    }

    private mutating func newCall() -> Request {
        guard Int.random(in: 0..<10, using: &random) == 0 else { return .castVote(newVote()) }
        let votes = (0..<Int.random(in: 1...20, using: &random)).map { _ in newVote() }
        return .batchCastVotes(BatchCastVotesRequest(votes: votes))
    }

    private mutating func newVote() -> CastVoteRequest {
        let place = Int.random(in: 0..<posts.count, using: &random)
        let isUp = Bool.random(using: &random)
        if isUp { model.ups[place] += 1 } else { model.downs[place] += 1 }
        return CastVoteRequest(postID: posts[place], direction: isUp ? .up : .down)
    }

    private func send(_ sequences: [UInt64]) throws {
        var bytes: [UInt8] = []
        for sequence in sequences {
            let frame = ClientFrame(
                id: connection.nextID(),
                request: unanswered[sequence],
                sequence: sequence
            )
            bytes += try frame.encoded()
        }
        try connection.socket.send(bytes)
    }

    private mutating func receive(_ sequences: [UInt64]) throws {
        for sequence in sequences {
            let answer = try #require(try connection.receive())
            #expect(answer.status == nil)
            unanswered[sequence] = nil
        }
    }
}

/// A batch of votes that is sent again counts those that were not counted before.
@Suite(.timeLimit(.minutes(10))) struct NumberedBatchTests {
    typealias Support = ExactlyOnceTests

    static func results(_ answer: ServerFrame) throws -> [CastVoteResult] {
        guard case .batchCastVotes(let response) = answer.response else {
            throw try #require(answer.status)
        }
        return response.results
    }

    @Test func countsEachVoteOnce() async throws {
        try await withService { port in
            let client = try Support.connect(port)
            let id = try client.createPost(title: "a")
            let votes = Array(repeating: CastVoteRequest(postID: id, direction: .up), count: 256)
            let batch = Request.batchCastVotes(BatchCastVotesRequest(votes: votes))
            let first = try Self.results(client.call(batch, sequence: 1))
            #expect(first.map { $0.vote?.upvoteCount } == (1...256).map { UInt64($0) })
            let again = try Self.results(client.call(batch, sequence: 1))
            #expect(again.map { $0.vote?.upvoteCount } == Array(repeating: 256, count: 256))
        }
    }

    @Test func countsWhatWasRefusedBefore() async throws {
        try await withService { port in
            let client = try Support.connect(port)
            let first = try client.createPost(title: "a")
            let missing = first.advanced(by: 1)
            let votes = [first, missing, first, missing].map {
                CastVoteRequest(postID: $0, direction: .up)
            }
            let batch = Request.batchCastVotes(BatchCastVotesRequest(votes: votes))
            let before = try Self.results(client.call(batch, sequence: 1))
            #expect(before.map { $0.status?.reason } == [nil, .postNotFound, nil, .postNotFound])
            #expect(try client.createPost(title: "b") == missing)
            for _ in 0..<3 {
                let after = try Self.results(client.call(batch, sequence: 1))
                #expect(after.map { $0.vote?.postID } == [first, missing, first, missing])
                #expect(after[0].vote?.upvoteCount == 2)
            }
            #expect(try client.vote(first).upvoteCount == 3)
            #expect(try client.vote(missing).upvoteCount == 3)
        }
    }

    /// The batch of two posts, of which the second is yet to come.
    private static func batch(_ first: PostID) -> Request {
        let votes = [first, first.advanced(by: 1)].map {
            CastVoteRequest(postID: $0, direction: .up)
        }
        return .batchCastVotes(BatchCastVotesRequest(votes: votes))
    }

    @Test(
        "T-SEQ-8: what is left of a device's batch is counted for the device only",
        arguments: [0, 1]
    )
    func countsNothingForAnotherCaller(minimumRevision: UInt64) async throws {
        try await withAccounts { port in
            let client = try Support.connect(port)
            func send(_ request: Request) throws -> ServerFrame {
                // A revision keeps the batch from the fast path.
                try client.send(
                    ClientFrame(
                        id: client.nextID(),
                        request: request,
                        sequence: 1,
                        minimumRevision: minimumRevision
                    )
                )
                return try #require(try client.receive())
            }
            let first = try client.createPost(title: "a")
            let batch = Self.batch(first)
            let before = try Self.results(send(batch))
            #expect(before.map { $0.status?.reason } == [nil, .postNotFound])
            #expect(try client.createPost(title: "b") == first.advanced(by: 1))
            let token = try client.signUp("ann@example.org").session.token
            for _ in 0..<2 {
                let after = try Self.results(send(batch))
                #expect(after[0].vote?.upvoteCount == 1)
                #expect(after[1].status?.reason == .sequenceReused)
                #expect(after[1].status?.isNotExecuted == true)
            }
            #expect(try client.call(.signOut(SignOutRequest())).status == nil)
            let own = try Self.results(send(batch))
            #expect(own.map { $0.vote?.upvoteCount } == [1, 1])
            // Whole now, so that it is a repeat for anybody.
            _ = try client.call(
                .hello(HelloRequest(clientID: Support.clientID, sessionToken: token))
            )
            #expect(try Self.results(send(batch)).map { $0.vote?.upvoteCount } == [1, 1])
        }
    }

    @Test("T-SEQ-8: what is left of a user's batch is counted for that user only")
    func countsNothingForAnotherUser() async throws {
        try await withAccounts { port in
            let client = try Support.connect(port)
            let first = try client.createPost(title: "a")
            let batch = Self.batch(first)
            let ann = try client.signUp("ann@example.org").session
            #expect(try Self.results(client.call(batch, sequence: 1))[1].status != nil)
            #expect(try client.createPost(title: "b") == first.advanced(by: 1))
            let ben = try client.signUp("ben@example.org").session
            #expect(ben.user != ann.user)
            #expect(try client.call(batch, sequence: 1).status?.reason == .sequenceReused)
            _ = try client.call(.hello(HelloRequest(clientID: Support.clientID)))
            #expect(try client.call(batch, sequence: 1).status?.reason == .sequenceReused)
            #expect(try client.vote(first.advanced(by: 1)).upvoteCount == 1)
            _ = try client.signIn("ann@example.org")
            let own = try Self.results(client.call(batch, sequence: 1))
            #expect(own.map { $0.vote?.upvoteCount } == [1, 2])
        }
    }

    @Test func saysWhichPostIsGoneSince() async throws {
        try await withService { port in
            let client = try Support.connect(port)
            let id = try client.createPost(title: "a")
            let votes = [CastVoteRequest(postID: id, direction: .up)]
            let batch = Request.batchCastVotes(BatchCastVotesRequest(votes: votes))
            #expect(try Self.results(client.call(batch, sequence: 1))[0].status == nil)
            #expect(try client.call(.deletePost(DeletePostRequest(id: id))).status == nil)
            let status = try #require(try Self.results(client.call(batch, sequence: 1))[0].status)
            #expect(status.reason == .postNotFound)
            #expect(!status.isNotExecuted)
        }
    }
}
