import FeedClient
import FeedOffline
import FeedProto
import FeedTestSupport
import Foundation
import Testing

/// Answers that a service of the protocol does not give.
@Suite(.timeLimit(.minutes(10)))
struct HostileServiceTests {
    /// An offline feed whose service answers so; its last sequence is what Hello says.
    private static func run(
        lastSequence: UInt64 = 0,
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
        let feed = try await OfflineFeed.open(
            OfflineConfiguration(path: folder.path + "/offline.db", address: ""),
            wrapping: { $0 },
            waiting: { _ in },
            connecting: { _, _ in
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
                id: UInt64(number) + 1,
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
            #expect(
                await violation(feed) == "The answer has more, and leads from revision 5 to 5."
            )
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
        arguments: [0, 1 << 62 | 1, .max] as [UInt64]
    )
    func idsThatNoServiceGives(id: UInt64) async throws {
        try await Self.run { request in
            if case .createPost = request { return .post(Post(id: id)) }
            return Self.changes([Post(id: id, title: "theirs")], next: 9, isReset: true)
        } _: { feed, _ in
            let draft = try await feed.createPost(Post(title: "mine"))
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
            try await feed.createPost(Post(title: "mine"))
            try await feed.vote(on: 7, .up)
            try await feed.deletePost(8)
            #expect(try await feed.sync().inDoubtCount == 3)
            #expect(try await feed.outbox().count == 3)
        }
    }

    @Test(
        "the outbox has room for sequences, whatever a service claims to remember",
        arguments: [
            1 << 62, 1 << 63 - 2, 1 << 63 - 1, 1 << 63, .max,
        ] as [UInt64]
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
                for id in 1...40 as ClosedRange<UInt64> { try await feed.vote(on: id, .up) }
                #expect(try await feed.sync().sentCount == 40)
            }
            let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(!files.contains { $0.contains("damaged") }, "\(files)")
        }
    }
}
