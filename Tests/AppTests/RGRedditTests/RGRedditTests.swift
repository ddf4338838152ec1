import FeedClient
import FeedProto
import Testing

/// The app RGReddit: a top feed that scrolls without end, and comes back to its place.
@Suite(.timeLimit(.minutes(10))) struct RGRedditTests {
    private static let list = PostList(feed: "posts", order: .top, consistency: .stable)

    private static func importPosts(_ count: Int, over client: FeedClient) async throws -> [UInt64]
    {
        var ids: [UInt64] = []
        for first in stride(from: 0, to: count, by: 100) {
            ids += try await client.importPosts(
                (first..<min(first + 100, count)).map { number in
                    Post(title: "post", upvoteCount: UInt64(10_000 - number))
                },
                in: "posts"
            )
        }
        return ids
    }

    @Test func theFeedScrollsToItsEndAndBack() async throws {
        try await AppService.run { service in
            let app = try await service.launch()
            let ids = try await Self.importPosts(130, over: app)
            var page = try await app.listPosts(Self.list, pageSize: 25)
            var rows = page.posts.map(\.id)
            while let next = page.next {
                page = try await app.listPosts(Self.list, pageSize: 25, from: .token(next))
                rows += page.posts.map(\.id)
            }
            #expect(rows == ids)
            // Up again, page by page, from the last one.
            var above = page.posts.map(\.id)
            while let previous = page.previous {
                page = try await app.listPosts(Self.list, pageSize: 25, from: .token(previous))
                above = page.posts.map(\.id) + above
            }
            #expect(above == ids)
            // The sequence of all posts is the same.
            var all: [UInt64] = []
            for try await post in app.posts(Self.list, pageSize: 25) { all.append(post.id) }
            #expect(all == ids)
            await app.close()
        }
    }

    @Test func aPageThatFailedIsRetried() async throws {
        try await AppService.run { service in
            let app = try await service.launch { $0.retry = .never }
            let ids = try await Self.importPosts(60, over: app)
            let first = try await app.listPosts(Self.list, pageSize: 30)
            let next = try #require(first.next)
            await service.kill()
            await #expect(throws: FeedClientError.self) {
                try await app.listPosts(
                    Self.list,
                    pageSize: 30,
                    from: .token(next),
                    timeout: .seconds(1)
                )
            }
            try await service.start()
            let second = try await app.listPosts(Self.list, pageSize: 30, from: .token(next))
            #expect(first.posts.map(\.id) + second.posts.map(\.id) == ids)
            await app.close()
        }
    }

    @Test func thePositionIsRestoredAfterARestartOfClientAndServer() async throws {
        try await AppService.run { service in
            let app = try await service.launch()
            let ids = try await Self.importPosts(100, over: app)
            let first = try await app.listPosts(Self.list, pageSize: 20)
            let second = try await app.listPosts(
                Self.list,
                pageSize: 20,
                from: .token(#require(first.next))
            )
            // What the app keeps: the token of the page below, and the post at the top of the screen.
            let stored = try #require(second.next).bytes
            let anchor = second.posts[7].id
            await app.close()
            await service.stop()
            try await service.start()

            let restored = try await service.launch()
            let token = try #require(PageToken(bytes: stored))
            let third = try await restored.listPosts(Self.list, pageSize: 20, from: .token(token))
            #expect(third.posts.map(\.id) == Array(ids[40..<60]))
            #expect(third.firstRank == 41)
            let around = try await restored.listPosts(
                Self.list,
                pageSize: 20,
                from: .around(anchor)
            )
            #expect(around.posts.map(\.id).contains(anchor))
            let place = try #require(around.posts.firstIndex { $0.id == anchor })
            #expect(around.firstRank + UInt64(place) == 28)
            #expect(around.posts.map(\.id) == Array(ids[(27 - place)..<(47 - place)]))
            await restored.close()
        }
    }
}
