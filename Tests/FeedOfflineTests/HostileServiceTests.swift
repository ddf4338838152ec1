import FeedClient
import FeedOffline
import FeedProto
import FeedTestSupport
import Foundation
import Testing

/// Answers that a service of the protocol does not give.
@Suite(.timeLimit(.minutes(10))) struct HostileServiceTests {
    /// An offline feed whose service answers so; its last sequence is what Hello says.
    private static func run(
        lastSequence: UInt64 = 0,
        keeps: KeptPosts = .all,
        _ respond: @escaping @Sendable (Request) -> Response,
        _ body: (OfflineFeed, TemporaryDirectory) async throws -> Void
    ) async throws {
        let folder = try TemporaryDirectory()
        let hello = HelloResponse(
            serverName: "hostile",
            instanceID: 1,
            serverTimeMilliseconds: 0,
            limits: nil,
            capabilities: [.exactlyOnce],
            isClientKnown: true,
            lastSequence: lastSequence
        )
        var configuration = OfflineConfiguration(path: folder.path + "/offline.db", address: "")
        configuration.keeps = keeps
        let feed = try await OfflineFeed.open(
            configuration,
            wrapping: { $0 },
            waiting: { _ in },
            connecting: { _ in
                StubConnection(service: hello) { request in
                    if case .listFeeds = request {
                        return Answer(
                            response: .listFeeds(ListFeedsResponse(feeds: [])),
                            revision: 1
                        )
                    }
                    return Answer(response: respond(request), revision: 1)
                }
            }
        )
        try await body(feed, folder)
        await feed.close()
    }

    @Test("a sync waits for a leader, and not for ever", arguments: [0, 1, 7, 8])
    func waitsForALeader(refusalCount: Int) async throws {
        let folder = try TemporaryDirectory()
        let hello = HelloResponse(
            serverName: "leader",
            instanceID: 1,
            serverTimeMilliseconds: 0,
            limits: nil,
            capabilities: [.exactlyOnce]
        )
        let tries = Locked(0)
        let feed = try await OfflineFeed.open(
            OfflineConfiguration(path: folder.path + "/offline.db", address: ""),
            wrapping: { $0 },
            waiting: { _ in },
            connecting: { configuration throws(FeedClientError) in
                #expect(configuration.reads == .leader)
                let number = tries.withLock { tries in
                    tries += 1
                    return tries
                }
                guard number > refusalCount else {
                    let status = Status(
                        code: .unavailable,
                        reason: .notLeader,
                        message: "nobody leads",
                        isNotExecuted: true
                    )
                    throw .refused(status)
                }
                return StubConnection(service: hello) { request in
                    if case .listFeeds = request {
                        let feeds = ListFeedsResponse(feeds: [])
                        return Answer(response: .listFeeds(feeds), revision: 1)
                    }
                    return Answer(response: Self.changes(next: 1, hasMore: false), revision: 1)
                }
            }
        )
        if refusalCount < 8 {
            try await feed.sync()
            #expect(tries.withLock { $0 } == refusalCount + 1)
        } else {
            await #expect {
                try await feed.sync()
            } throws: { error in
                guard case OfflineError.service(.refused(let status)) = error else { return false }
                return status.reason == .notLeader
            }
            #expect(tries.withLock { $0 } == 8)
        }
        await feed.close()
    }

    private static func changes(
        _ posts: [Post] = [],
        next: UInt64,
        hasMore: Bool = true,
        isReset: Bool = false
    ) -> Response {
        .syncPosts(
            SyncPostsResponse(
                posts: posts,
                nextRevision: next,
                hasMore: hasMore,
                isReset: isReset,
                instanceID: 1
            )
        )
    }

    /// The reason of the violation that a sync ends with.
    private func violation(_ feed: OfflineFeed) async -> String? {
        do throws(OfflineError) {
            try await feed.sync()
        } catch {
            guard case .service(.protocolViolation(let reason, _)) = error else {
                return "\(error)"
            }
            return reason
        }
        return nil
    }

    @Test("numbers at the ends of their ranges are shown, and sorted as the nearest possible")
    func numbersAtTheEndsOfTheirRanges() async throws {
        let ends: [Int64] = [.min, .min + 1, -1, 0, 1 << 51, .max - 1, .max]
        let posts = ends.enumerated().map { number, end in
            Post(
                id: PostID(rawValue: UInt64(number) + 1),
                feed: "posts",
                score: end,
                upvoteCount: .max - UInt64(number),
                downvoteCount: .max,
                commentCount: .max,
                createTimeMilliseconds: end,
                updateTimeMilliseconds: end,
                revision: .max
            )
        }
        try await Self.run { _ in
            Self.changes(posts, next: 9, hasMore: false, isReset: true)
        } _: { feed, _ in
            #expect(try await feed.sync().changedPostCount == posts.count)
            for order in [Order.top, .new, .hot, .best, .controversial, .discussed] {
                let page = try await feed.posts(PostList(order: order), limit: 20)
                #expect(page.posts.count == posts.count)
            }
            let hot = try await feed.posts(PostList(order: .hot), limit: 20).posts.map(\.id)
            // Scores of 2^63 - 1 and 2^63 - 2 have one key, and so have their opposites.
            #expect(Set(hot.prefix(2)) == [6, 7] && Set(hot.suffix(2)) == [1, 2])
            try await feed.vote(on: 1, .up)
            #expect(try await feed.post(1)?.createTimeMilliseconds == Int64.min)
        }
    }

    @Test func aSyncEndsWhereAnswersDoNotLeadOn() async throws {
        let answers = Locked(0)
        try await Self.run { _ in
            answers.withLock { $0 += 1 }
            return Self.changes(next: 5)
        } _: { feed, _ in
            #expect(await violation(feed) == "The answer has more, and leads from revision 5 to 5.")
            #expect(answers.withLock { $0 } == 2)
        }
    }

    @Test func aSyncEndsWhereCopiesAreBegunAgainAndAgain() async throws {
        let answers = Locked<UInt64>(0)
        try await Self.run { _ in
            Self.changes(
                next: answers.withLock {
                    $0 += 1
                    return $0
                },
                isReset: true
            )
        } _: { feed, _ in
            #expect(
                await violation(feed)
                    == "The service has begun 5 copies of the feed; the limit is 4."
            )
        }
    }

    @Test func aSyncHasALimitOfAnswers() throws {
        var progress = SyncProgress()
        for number in 1..<UInt64(SyncProgress.maximumAnswerCount) {
            let answer = SyncPostsResponse(posts: [], nextRevision: number, hasMore: true)
            try progress.check(answer, to: SyncPostsRequest(sinceRevision: number - 1))
        }
        let last = SyncPostsResponse(posts: [], nextRevision: .max, hasMore: true)
        #expect(throws: OfflineError.self) { try progress.check(last, to: SyncPostsRequest()) }
    }

    @Test(
        "no post of a service takes the place of one that was made here",
        arguments: [0, PostID(rawValue: 1 << 62 | 1), .max]
    )
    func idsThatNoServiceGives(id: PostID) async throws {
        try await Self.run { request in
            if case .createPost = request { return .post(Post(id: id)) }
            return Self.changes([Post(id: id, title: "theirs")], next: 9, isReset: true)
        } _: { feed, _ in
            let draft = try await feed.createPost(PostDraft(title: "mine"))
            #expect(await violation(feed) == "No service has a post \(id).")
            // Its answer was none, so nobody knows what has become of it.
            #expect(try await feed.outbox().map(\.state) == [.inDoubt(.serviceFailed)])
            try await feed.resend(draft.number)
            #expect(try await feed.post(draft.localPostID)?.title == "mine")
        }
    }

    @Test("a change is not taken out of the outbox by an answer of another kind")
    func answersOfAnotherKind() async throws {
        try await Self.run { request in
            if case .syncPosts = request { return Self.changes(next: 9, hasMore: false) }
            return .postRank(PostRank(rank: 1, totalSize: 1))
        } _: { feed, _ in
            try await feed.createPost(PostDraft(title: "mine"))
            try await feed.vote(on: 7, .up)
            try await feed.deletePost(8)
            #expect(try await feed.sync().inDoubtCount == 3)
            #expect(try await feed.outbox().count == 3)
        }
    }

    @Test(
        "the outbox has room for sequences, whatever a service claims to remember",
        arguments: [1 << 62, 1 << 63 - 2, 1 << 63 - 1, 1 << 63, .max] as [UInt64]
    )
    func lastSequences(last: UInt64) async throws {
        try await Self.run(lastSequence: last - 1) { request in
            guard case .castVote(let vote) = request else {
                return Self.changes(next: 9, hasMore: false)
            }
            return .castVote(
                CastVoteResponse(postID: vote.postID, score: 1, upvoteCount: 1, downvoteCount: 0)
            )
        } _: { feed, folder in
            for _ in 0..<3 {
                try await feed.sync()
                for id in (1...40).map(PostID.init(rawValue:)) { try await feed.vote(on: id, .up) }
                #expect(try await feed.sync().sentCount == 40)
            }
            let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(!files.contains { $0.contains("damaged") }, "\(files)")
        }
    }
}

/// Whatever a hostile or damaged service answers, a sync ends, lists can be read, and the outbox stays.
///
/// `FEED_FUZZ_ROUNDS` makes a run longer: a round is a sync of some 4 answers.
@Suite(.timeLimit(.minutes(60))) struct OfflineFuzzTests {
    private static let roundCount = TestEnvironment.number("FEED_FUZZ_ROUNDS") ?? 40
    private static let orders: [Order] = [
        .top, .new, .old, .hot, .best, .controversial, .discussed,
    ]

    @Test(arguments: TestEnvironment.seeds(1...2), [KeptPosts.all, .newest(20)])
    func aSyncSurvivesAnyAnswer(seed: UInt64, keeps: KeptPosts) async throws {
        let folder = try TemporaryDirectory()
        let service = HostileService(seed: seed)
        var configuration = OfflineConfiguration(path: folder.path + "/offline.db", address: "")
        configuration.keeps = keeps
        let feed = try await OfflineFeed.open(
            configuration,
            wrapping: { $0 },
            waiting: { _ in },
            connecting: { _ throws(FeedClientError) in try service.connect() }
        )
        var random = SeededGenerator(seed: seed)
        for _ in 0..<Self.roundCount {
            for _ in 0..<3 { try await change(feed, &random) }
            _ = try? await feed.sync()
            for order in Self.orders {
                let page = try await feed.posts(PostList(order: order), limit: 10)
                guard let last = page.posts.last else { continue }
                _ = try await feed.posts(PostList(order: order), from: .around(last.id), limit: 5)
            }
        }
        await feed.close()
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(!files.contains { $0.contains("damaged") }, "seed \(seed): \(files)")
        #expect(
            service.answerCount >= 2 * Self.roundCount,
            "Most syncs have answers; seed \(seed)."
        )
    }

    private func change(_ feed: OfflineFeed, _ random: inout SeededGenerator) async throws {
        let list = PostList(order: .new)
        let ids = try await feed.posts(list, limit: 5).posts.map(\.id) + [7]
        let id = ids.randomElement(using: &random) ?? 7
        let entries = try await feed.outbox()
        do {
            switch Int.random(in: 0..<7, using: &random) {
            case 0: try await feed.createPost(PostDraft(title: "made here"))
            case 1: try await feed.deletePost(id)
            case 2: try await feed.mark(through: id, as: .read)
            case 3:
                var post = try await feed.post(id) ?? Post(id: id)
                post.title = "edited"
                try await feed.updatePost(post, fields: [.title])
            case 4, 5:
                guard let entry = entries.randomElement(using: &random) else { return }
                if entries.count > 20 || random.oneIn(2) {
                    try await feed.drop(entry.number)
                } else {
                    try await feed.resend(entry.number)
                }
            default: try await feed.vote(on: id, .up)
            }
        } catch {
            guard isGone(error) else { throw error }
        }
    }

    /// Whether a post or an entry is gone meanwhile, or waits.
    private func isGone(_ error: any Error) -> Bool {
        switch error {
        case OfflineError.unknownPost, OfflineError.unknownEntry, OfflineError.refused: true
        default: false
        }
    }
}

/// A service whose answers are those of a real one, mutated.
private final class HostileService: Sendable {
    private struct State {
        let answers: MutatedAnswers
        var random: SeededGenerator
        var count: UInt64 = 0
        var revision: UInt64 = 10
    }

    private let state: Locked<State>

    init(seed: UInt64) {
        let answers = MutatedAnswers(seed: seed)
        state = Locked(State(answers: answers, random: SeededGenerator(seed: seed)))
    }

    var answerCount: UInt64 { state.withLock { $0.count } }

    func connect() throws(FeedClientError) -> StubConnection {
        let answer = try answer { _ in
            .hello(
                HelloResponse(
                    serverName: "hostile",
                    instanceID: 1,
                    serverTimeMilliseconds: 0,
                    limits: nil,
                    capabilities: [.exactlyOnce],
                    isClientKnown: true
                )
            )
        }
        guard case .hello(let hello) = answer.response else { throw .closed }
        return StubConnection(service: hello) { request throws(FeedClientError) in
            try self.answer(to: request)
        }
    }

    func answer(to request: Request) throws(FeedClientError) -> Answer {
        try answer { state in
            switch request {
            case .listFeeds:
                .listFeeds(ListFeedsResponse(feeds: [Feed(name: "posts", voteMode: .ballot)]))
            case .castVote(let vote):
                .castVote(
                    CastVoteResponse(
                        postID: vote.postID,
                        score: 3,
                        upvoteCount: 5,
                        downvoteCount: 2
                    )
                )
            case .createPost(let creation): .post(post(creation.post, id: nil, &state))
            case .updatePost(let update): .post(post(update.post, id: update.post?.id, &state))
            case .syncPosts(let sync): .syncPosts(changes(since: sync, &state))
            case .listPosts: .listPosts(page(&state))
            case .batchGetPosts(let batch):
                .batchGetPosts(
                    BatchGetPostsResponse(
                        posts: batch.ids.map { post(nil, id: $0, &state) },
                        missingIDs: state.random.oneIn(2) ? batch.ids : []
                    )
                )
            case .markPosts: .markPosts(MarkPostsResponse(unreadCount: 1))
            default: .empty
            }
        }
    }

    private func post(_ post: Post?, id: PostID?, _ state: inout State) -> Post {
        var post = post ?? Post()
        state.revision += 1
        post.id = id ?? PostID(rawValue: .random(in: 1...9, using: &state.random))
        post.feed = "posts"
        post.upvoteCount = 5
        post.downvoteCount = 2
        post.score = 3
        post.createTimeMilliseconds = 1_700_000_000_000
        post.revision = state.revision
        return post
    }

    private func page(_ state: inout State) -> ListPostsResponse {
        let posts = (0..<3).map { _ in post(Post(title: "theirs"), id: nil, &state) }
        return ListPostsResponse(posts: posts, nextPageToken: state.random.oneIn(3) ? [] : [1])
    }

    private func changes(since sync: SyncPostsRequest, _ state: inout State) -> SyncPostsResponse {
        var posts: [Post] = []
        let theirs = Post(title: "theirs", commentCount: 4)
        for _ in 0..<3 { posts.append(post(theirs, id: nil, &state)) }
        posts[0].isDeleted = state.random.oneIn(4)
        return SyncPostsResponse(
            posts: posts,
            nextRevision: max(state.revision, sync.sinceRevision &+ 1),
            hasMore: state.random.oneIn(2),
            isReset: sync.sinceRevision == 0,
            copyRevision: state.random.oneIn(2) ? state.revision : 0,
            instanceID: 1
        )
    }

    private func answer(_ response: (inout State) -> Response) throws(FeedClientError) -> Answer {
        let frame = state.withLock { state -> ServerFrame? in
            state.count += 1
            let made = response(&state)
            if state.random.oneIn(16) { return state.answers.next(Samples.status, to: 2) }
            return state.answers.next(made, to: 2)
        }
        guard let frame else { throw .protocolViolation(reason: "damaged", effect: .unknown) }
        if let status = frame.status { throw .refused(status) }
        guard let response = frame.response else {
            throw .protocolViolation(reason: "empty", effect: .unknown)
        }
        return Answer(response: response, revision: frame.revision)
    }
}
