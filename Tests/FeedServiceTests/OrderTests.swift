import FeedProto
import FeedTestSupport
import Testing

/// Lists of further orders and of windows, as clients ask for them.
@Suite(.timeLimit(.minutes(10)))
struct OrderTests {
    /// Four posts without votes, the second of a day before all others.
    private static func importPosts(_ client: WireClient) throws -> [UInt64] {
        let now = try client.createPost(title: "first")
        let times = try client.list(ListPostsRequest(feed: "posts", order: .new)).posts
        let time = try #require(times.first).createTimeMilliseconds
        let posts = [
            Post(
                title: "old",
                upvoteCount: 9,
                downvoteCount: 9,
                commentCount: 4,
                createTimeMilliseconds: time - 25 * 3_600_000
            ),
            Post(title: "liked", upvoteCount: 9, commentCount: 1, createTimeMilliseconds: time),
            Post(
                title: "disputed",
                upvoteCount: 5,
                downvoteCount: 5,
                commentCount: 2,
                createTimeMilliseconds: time
            ),
        ]
        let answer = try client.call(
            .importPosts(ImportPostsRequest(feed: "posts", posts: posts))
        )
        guard case .importPosts(let imported) = answer.response else { return [] }
        return [now] + imported.ids
    }

    @Test func listsEachOrder() async throws {
        try await withService { port in
            let client = try WireClient(port: port)
            let ids = try Self.importPosts(client)
            func list(_ order: Order, _ window: Window = .unspecified) throws -> [UInt64] {
                let request = ListPostsRequest(feed: "posts", order: order, window: window)
                return try client.list(request).posts.map { UInt64(ids.firstIndex(of: $0.id) ?? 9) }
            }
            #expect(try list(.best) == [2, 1, 3, 0])
            #expect(try list(.controversial) == [1, 3, 0, 2])
            #expect(try list(.discussed) == [1, 3, 2, 0])
            #expect(try list(.rising) == [2, 3, 0, 1])
            #expect(try list(.top, .day) == [2, 3, 0])
            #expect(try list(.top, .week) == [2, 3, 0, 1])
            #expect(try list(.discussed, .hour) == [3, 2, 0])
            #expect(try list(.controversial, .year) == [1, 3, 0, 2])
        }
    }

    @Test func ranksWithinAWindow() async throws {
        try await withService { port in
            let client = try WireClient(port: port)
            let ids = try Self.importPosts(client)
            let rank = try client.call(
                .getPostRank(GetPostRankRequest(id: ids[3], order: .top, window: .day))
            )
            #expect(rank.response == .postRank(PostRank(rank: 2, totalSize: 3)))
            let old = try client.call(
                .getPostRank(GetPostRankRequest(id: ids[1], order: .top, window: .day))
            )
            #expect(old.status?.reason == .postNotFound)
        }
    }

    @Test(arguments: [Order.new, .old, .hot, .best, .rising])
    func refusesAWindow(order: Order) async throws {
        try await withService { port in
            let client = try WireClient(port: port)
            let id = try client.createPost(title: "a")
            let requests: [Request] = [
                .listPosts(ListPostsRequest(order: order, window: .hour)),
                .getPostRank(GetPostRankRequest(id: id, order: order, window: .year)),
            ]
            for request in requests {
                let answer = try client.call(request)
                #expect(answer.status?.code == .invalidArgument)
                #expect(answer.status?.reason == .badField)
                #expect(answer.status?.violations.first?.field == "window")
            }
        }
    }

    @Test func bindsATokenToItsWindow() async throws {
        try await withService { port in
            let client = try WireClient(port: port)
            for number in 0..<3 { _ = try client.createPost(title: "post \(number)") }
            let request = ListPostsRequest(order: .top, window: .hour, pageSize: 2)
            let token = try client.list(request).nextPageToken
            let next = ListPostsRequest(order: .top, window: .hour, pageToken: token)
            #expect(try client.list(next).posts.count == 1)
            for window in [Window.unspecified, .day] {
                let foreign = ListPostsRequest(order: .top, window: window, pageToken: token)
                let answer = try client.call(.listPosts(foreign))
                #expect(answer.status?.reason == .pageTokenMismatch)
            }
        }
    }
}
