import FeedClient
import FeedProto
import FeedTestSupport
import Testing

/// Answers that would not come to an end, or fill the memory of a client.
@Suite(.timeLimit(.minutes(10)))
struct HostileAnswerTests {
    /// A client that is answered so, by the number of the call.
    private struct Pager: FeedCalling {
        let service = HelloResponse(
            serverName: "",
            instanceID: 1,
            serverTimeMilliseconds: 0,
            limits: nil
        )
        let count = Locked(0)
        let response: @Sendable (Int) -> Response

        func answer(
            to request: Request,
            minimumRevision: UInt64,
            timeout: Duration?
        ) async throws(FeedClientError) -> Answer {
            let number = count.withLock { count in
                defer { count += 1 }
                return count
            }
            return Answer(response: response(number), revision: 1)
        }

        func acting(for userID: UInt64) -> Pager { self }
        func close() async {}
    }

    private func read(_ pager: Pager) async -> (posts: [UInt64], error: FeedClientError?) {
        var ids: [UInt64] = []
        let error = await failure {
            for try await post in pager.posts() { ids.append(post.id) }
        }
        return (ids, error)
    }

    @Test func aTokenThatLeadsToItsOwnPageEndsAList() async {
        let pager = Pager { number in
            .listPosts(ListPostsResponse(posts: [Post(id: UInt64(number))], nextPageToken: [1]))
        }
        let (ids, error) = await read(pager)
        #expect(ids == [0])
        let reason = "The token of a page leads to the same page."
        #expect(error == .protocolViolation(reason: reason, effect: .none))
    }

    @Test func pagesWithoutAPostEndAList() async {
        let limit = PostSequence.maximumEmptyPageCount
        let pager = Pager { number in
            // A page with a post begins the count anew.
            let posts = number == 5 ? [Post(id: 5)] : []
            let token = [UInt8(number & 1)]
            return .listPosts(ListPostsResponse(posts: posts, nextPageToken: token))
        }
        let (ids, error) = await read(pager)
        #expect(ids == [5])
        let reason = "\(limit) pages in a row have no post, and lead on."
        #expect(error == .protocolViolation(reason: reason, effect: .none))
        #expect(pager.count.withLock { $0 } == limit + 6)
    }

    @Test func aSignInWithoutATokenIsNone() async {
        let pager = Pager { _ in .session(UserSession(user: nil, expireTimeMilliseconds: 1)) }
        for error in [
            await failure { _ = try await pager.signIn(email: "a@x", password: "password") },
            await failure {
                _ = try await pager.signUp(email: "a@x", password: "password", displayName: "a")
            },
        ] {
            guard case .protocolViolation = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
        // A session that is only read has none.
        #expect(await failure { _ = try await pager.session() } == nil)
    }

    @Test("a watch keeps 200 posts, each once", arguments: [[], [3, 1]] as [[UInt64]])
    func aWatchIsBounded(ids: [UInt64]) {
        var request = WatchPostsRequest(postIDs: ids)
        if ids.isEmpty { request.topCount = 100 }
        var copy = WatchCopy(of: request)
        for round in 0..<5 as Range<UInt64> {
            let event = WatchPostsEvent(
                changed: (1...1_000).map { Post(id: $0 + 1_000 * round, feed: "posts") },
                ranking: round > 2 ? [] : (1...1_000).flatMap { [$0, $0] },
                newPostCount: .max
            )
            copy.apply(event, revision: round, isFirst: round == 0)
        }
        var posts = WatchedPosts(copy)
        posts.follow(copy)
        #expect(posts.ranking == (ids.isEmpty ? Array(1...200) : ids))
        #expect(posts.rows.count == posts.ranking.count)
    }
}
