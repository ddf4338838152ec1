import FeedClient
import FeedOffline
import FeedProto
import FeedTestSupport
import Foundation
import Testing

/// The lists of the copy beside the service's own, of the same posts.
@Suite(.timeLimit(.minutes(10))) struct ListModelTests {
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
                let now = try #require(client.service).serverTimeMilliseconds
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
            let id = PostID(rawValue: .random(in: 1...240, using: &random))
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

/// A place in a list that is stored and comes back.
@Suite(.timeLimit(.minutes(10))) struct ListPositionTests {
    private static let list = PostList(feed: "posts", order: .top, consistency: .stable)

    @Test func aStoredPositionIsReadAgainAndAnotherVersionIsRefused() throws {
        let list = PostList(
            feed: "tweets",
            order: .discussed,
            window: .week,
            authorID: 12,
            unreadOnly: true,
            includesDismissed: true,
            consistency: .stable
        )
        let position = ListPosition(
            list,
            page: PageToken(bytes: [1, 2, 3]),
            pageSize: 25,
            firstVisible: 300,
            offset: 0.25
        )
        let stored = try JSONEncoder().encode(position)
        #expect(try JSONDecoder().decode(ListPosition.self, from: stored) == position)
        let first = ListPosition(PostList(), page: nil, firstVisible: 0)
        let storedFirst = try JSONEncoder().encode(first)
        #expect(try JSONDecoder().decode(ListPosition.self, from: storedFirst) == first)
        let text = String(decoding: stored, as: UTF8.self)
        let later = text.replacing("\"version\":1", with: "\"version\":2")
        #expect(later != text)
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(ListPosition.self, from: Data(later.utf8))
        }
    }

    @Test func thePlaceComesBackAfterRestarts() async throws {
        try await TestService.run { service in
            let (ids, stored) = try await service.withClient { client async throws in
                let ids = try await client.importPosts(
                    (0..<100).map { Post(title: "post", upvoteCount: UInt64(1_000 - $0)) },
                    in: "posts"
                )
                let first = try await client.listPosts(Self.list, pageSize: 20)
                let position = ListPosition(
                    Self.list,
                    page: first.next,
                    pageSize: 20,
                    firstVisible: ids[27]
                )
                return (ids, try JSONEncoder().encode(position))
            }
            await service.end()
            try await service.start()
            let position = try JSONDecoder().decode(ListPosition.self, from: stored)
            try await service.withClient { client async throws in
                let same = try await position.restore(over: client)
                #expect(same.isExact)
                #expect(same.row == 7)
                #expect(same.page.posts.map(\.id) == Array(ids[20..<40]))
                // The post has moved to the top: it is found there.
                _ = try await client.votes(
                    (0..<200).map { _ in .init(postID: ids[27], direction: .up) }
                )
                let moved = try await position.restore(over: client)
                #expect(moved.isExact)
                #expect(moved.start == .around(ids[27]))
                #expect(moved.page.posts[moved.row].id == ids[27])
                // It is gone: the page stands.
                try await client.deletePost(ids[27])
                let gone = try await position.restore(over: client)
                #expect(!gone.isExact)
                #expect(gone.page.posts.first?.id == ids[20])
                // Nothing was visible: the first page.
                let none = ListPosition(Self.list, page: nil, pageSize: 20, firstVisible: 0)
                let top = try await none.restore(over: client)
                #expect(!top.isExact)
                #expect(top.start == .first)
                #expect(top.page.posts.map(\.id) == Array(ids[..<20]))
                // An error that does not say that the post is gone is the caller's.
                await #expect(throws: FeedClientError.closed) {
                    try await position.restore(over: ClosingClient(client: client))
                }
            }
        }
    }

    /// A client that is closed once a page around a post is read.
    private struct ClosingClient: FeedCalling {
        let client: FeedClient
        var service: HelloResponse? { client.service }

        func answer(
            to request: Request,
            minimumRevision: UInt64,
            timeout: Duration?
        ) async throws(FeedClientError) -> Answer {
            if case .listPosts(let list) = request, case .aroundPostID = list.start {
                throw .closed
            }
            return try await client.answer(
                to: request,
                minimumRevision: minimumRevision,
                timeout: timeout
            )
        }

        func acting(for userID: UserID) -> ClosingClient { self }

        func close() async {}
    }
}
