import FeedClient
import FeedProto
import FeedTestSupport
import Foundation
import Testing

/// The app RGReddit: a top feed that scrolls without end, and comes back to its place.
@MainActor @Suite(.timeLimit(.minutes(10))) struct RGRedditTests {
    private static func importPosts(_ count: Int, over client: FeedClient) async throws -> [PostID]
    {
        var ids: [PostID] = []
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

    /// The app on a phone, which is a folder.
    private static func launch(_ client: FeedClient, on phone: TemporaryDirectory) -> RGRedditData {
        RGRedditData(client, placeFile: URL(filePath: phone.path + "/place.json"))
    }

    @Test func theFeedScrollsToItsEndAndBack() async throws {
        try await AppService.run { service in
            let phone = try TemporaryDirectory()
            let client = try await service.launch()
            let ids = try await Self.importPosts(130, over: client)
            let app = Self.launch(client, on: phone)
            await app.open()
            while !app.isAtEnd { await app.scrollDown() }
            #expect(app.rows.map(\.id) == ids)
            // From the last page up again.
            app.leave(at: try #require(app.rows.last))
            let again = Self.launch(client, on: phone)
            await again.open()
            #expect(again.rows.map(\.id) == Array(ids[125...]))
            while !again.isAtStart { await again.scrollUp() }
            #expect(again.rows.map(\.id) == ids)
            #expect((app.message, again.message) == (nil, nil))
            // The sequence of all posts is the same.
            var all: [PostID] = []
            let list = PostList(feed: "posts", order: .top, consistency: .stable)
            for try await post in client.posts(list, pageSize: 25) { all.append(post.id) }
            #expect(all == ids)
            await client.close()
        }
    }

    @Test func aPageThatFailedIsRetried() async throws {
        try await AppService.run { service in
            let phone = try TemporaryDirectory()
            let others = try await service.launch()
            let ids = try await Self.importPosts(60, over: others)
            await others.close()
            let client = try await service.launch {
                $0.retry = .never
                $0.timeout = .seconds(3)
            }
            let app = Self.launch(client, on: phone)
            while app.rows.isEmpty { await app.open() }
            await service.kill()
            app.message = nil
            await app.scrollDown()
            #expect(app.message != nil)
            #expect(app.rows.map(\.id) == Array(ids.prefix(25)))
            try await service.start()
            while !app.isAtEnd { await app.scrollDown() }
            #expect(app.rows.map(\.id) == ids)
            await client.close()
        }
    }

    @Test func thePositionIsRestoredAfterARestartOfClientAndServer() async throws {
        try await AppService.run { service in
            let phone = try TemporaryDirectory()
            var client = try await service.launch()
            let ids = try await Self.importPosts(100, over: client)
            let app = Self.launch(client, on: phone)
            await app.open()
            await app.scrollDown()
            app.leave(at: app.rows[32])
            await client.close()
            await service.stop()
            try await service.start()

            client = try await service.launch()
            let restored = Self.launch(client, on: phone)
            await restored.open()
            #expect(restored.message == nil)
            #expect(restored.rows.map(\.id) == Array(ids[25..<50]))
            #expect(restored.topRow == 7)
            #expect(restored.firstRank == 26)
            await restored.scrollDown()
            #expect(restored.rows.map(\.id) == Array(ids[25..<75]))
            await restored.scrollUp()
            #expect(restored.rows.map(\.id) == Array(ids[..<75]))
            #expect(restored.firstRank == 1)
            // By hand: the page around the post.
            let list = PostList(feed: "posts", order: .top, consistency: .stable)
            let around = try await client.listPosts(list, pageSize: 20, from: .around(ids[32]))
            let place = try #require(around.posts.firstIndex { $0.id == ids[32] })
            #expect(around.firstRank + UInt64(place) == 33)
            #expect(around.posts.map(\.id) == Array(ids[(32 - place)..<(52 - place)]))
            await client.close()
        }
    }
}
