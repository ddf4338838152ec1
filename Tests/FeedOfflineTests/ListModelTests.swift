import FeedClient
import FeedOffline
import FeedProto
import FeedTestSupport
import Testing

/// The lists of the copy beside the service's own, of the same posts.
@Suite(.timeLimit(.minutes(10)))
struct ListModelTests {
    private static let orders: [Order] = [
        .top, .new, .old, .hot, .best, .controversial, .discussed,
    ]

    @Test(arguments: TestEnvironment.seeds(1...4))
    func listsAreTheServicesOwn(seed: UInt64) async throws {
        try await TestService.run { service in
            var random = SeededGenerator(seed: seed)
            try await service.withClient { client async throws in
                try await Self.fill(client, &random)
                try await service.withFeed { feed async throws in
                    try await feed.sync()
                    try await Self.compare(feed, client, &random)
                    // Changes, deletions among them, reach the copy by the next sync.
                    try await Self.change(client, &random)
                    try await feed.sync()
                    try await Self.compare(feed, client, &random)
                }
            }
        }
    }

    @Test func aListPagesBackAndAroundAPost() async throws {
        try await TestService.run { service in
            var random = SeededGenerator(seed: 7)
            try await service.withClient { try await Self.fill($0, &random) }
            try await service.withFeed { feed async throws in
                try await feed.sync()
                for order in Self.orders {
                    let list = PostList(order: order)
                    let all = try await feed.allPosts(list, limit: 100).map(\.id)
                    let place = Int.random(in: 20..<all.count - 20, using: &random)
                    let around = try await feed.posts(list, from: .around(all[place]), limit: 10)
                    #expect(around.posts.map(\.id) == Array(all[place - 5..<place + 5]))
                    let first = try #require(around.first)
                    let above = try await feed.posts(list, from: .before(first), limit: 10)
                    #expect(above.posts.map(\.id) == Array(all[place - 15..<place - 5]))
                }
                await #expect(throws: OfflineError.unsupportedOrder(.rising)) {
                    try await feed.posts(PostList(order: .rising))
                }
            }
        }
    }

    @Test func aWindowHasThePostsThatTheServiceHasInIt() async throws {
        let hour: Int64 = 3_600_000
        let windows: [(window: Window, length: Int64)] = [
            (.hour, hour), (.day, 24 * hour), (.week, 7 * 24 * hour), (.month, 30 * 24 * hour),
            (.year, 365 * 24 * hour),
        ]
        try await TestService.run { service in
            try await service.withClient { client async throws in
                let now = client.service.serverTimeMilliseconds
                // One on each side of each window's end, far enough for the time that the test takes.
                let posts = windows.flatMap { _, length in
                    [length - hour / 4, length + hour / 4].map {
                        Post(title: "old", createTimeMilliseconds: now - $0)
                    }
                }
                let ids = try await client.importPosts(posts, in: "posts")
                try await service.withFeed { feed async throws in
                    try await feed.sync()
                    for (place, window) in windows.map(\.window).enumerated() {
                        let list = PostList(feed: "posts", order: .top, window: window)
                        let served = try await client.listPosts(list).posts.map(\.id)
                        #expect(served == Array(ids[...(2 * place)]), "\(window)")
                        #expect(try await feed.posts(list).posts.map(\.id) == served, "\(window)")
                        #expect(try await feed.postCount(list) == served.count, "\(window)")
                    }
                }
            }
        }
    }

    /// Posts whose keys often tie: few scores, few titles, few times.
    private static func fill(_ client: FeedClient, _ random: inout SeededGenerator) async throws {
        let titles = ["", " ", "apple", "Apple", "äpfel", "zebra", "apple 2"]
        for feed in ["posts", "tweets"] {
            var posts: [Post] = []
            for _ in 0..<120 {
                let created = 1_700_000_000_000 + Int64.random(in: 0...5, using: &random) * 400
                posts.append(
                    Post(
                        title: titles.randomElement(using: &random) ?? "",
                        text: "text",
                        upvoteCount: UInt64.random(in: 0...12, using: &random),
                        downvoteCount: UInt64.random(in: 0...6, using: &random),
                        commentCount: UInt64.random(in: 0...3, using: &random),
                        createTimeMilliseconds: created
                    )
                )
            }
            try await client.importPosts(posts, in: feed)
        }
    }

    private static func change(_ client: FeedClient, _ random: inout SeededGenerator) async throws {
        for _ in 0..<60 {
            let id = UInt64.random(in: 1...240, using: &random)
            if random.oneIn(5) {
                try await client.deletePost(id)
            } else {
                // Deleted posts take no votes.
                _ = try? await client.vote(on: id, random.oneIn(3) ? .down : .up)
            }
        }
    }

    private static func compare(
        _ feed: OfflineFeed,
        _ client: FeedClient,
        _ random: inout SeededGenerator
    ) async throws {
        for name in ["", "posts", "tweets"] {
            for order in orders {
                let list = PostList(feed: name, order: order)
                var expected: [Post] = []
                for try await post in client.posts(list, pageSize: 100) { expected.append(post) }
                let limit = Int.random(in: 1...60, using: &random)
                let copied = try await feed.allPosts(list, limit: limit)
                // A client without identity has no viewer.
                let shown = copied.map { post in
                    var post = post
                    post.viewer = nil
                    return post
                }
                #expect(shown == expected, "\(name) \(order)")
                #expect(try await feed.postCount(list) == expected.count)
            }
        }
    }
}
