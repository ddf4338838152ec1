import FeedClient
import FeedOffline
import FeedProto
import FeedTestSupport
import Testing

/// Copies of single feeds, each of which follows the service by itself.
@Suite(.timeLimit(.minutes(10)))
struct OfflineFeedsTests {
    private static func create(
        _ title: String,
        in feed: String,
        of client: FeedClient
    ) async throws
        -> UInt64
    {
        if try await !client.feeds().contains(where: { $0.name == feed }) {
            try await client.createFeed(Feed(name: feed, voteMode: .tally))
        }
        return try await client.createPost(Post(title: title), in: feed).id
    }

    @Test func aChangeIsOfTheStateThatItsFeedWasCopiedFrom() async throws {
        try await TestService.run { service in
            let ids = try await service.withClient { client async throws in
                [
                    try await Self.create("old a", in: "a", of: client),
                    try await Self.create("old b", in: "b", of: client),
                ]
            }
            try await service.withFeed {
                $0.feeds = ["a", "b"]
            } _: { feed async throws in
                try await feed.sync()
                await service.end(signal: 9)
                service.loseState()
                try await service.start()
                try await service.withClient { client async throws in
                    #expect(try await Self.create("new a", in: "a", of: client) == ids[0])
                }
                // The copy of b fails, as there is no such feed yet.
                await #expect {
                    try await feed.sync()
                } throws: { error in
                    guard case OfflineError.service(.refused(let status)) = error else {
                        return false
                    }
                    return status.reason == .feedNotFound
                }
                #expect(try await feed.post(ids[0])?.title == "new a")
                #expect(try await feed.post(ids[1])?.title == "old b")
                for id in ids { try await feed.vote(on: id, .up) }
                try await service.withClient { client async throws in
                    #expect(try await Self.create("new b", in: "b", of: client) == ids[1])
                }
                let report = try await feed.sync()
                #expect(report.sentCount == 1)
                #expect(report.inDoubtCount == 1)
                #expect(try await feed.outbox().map(\.state) == [.inDoubt(.otherPosts)])
            }
            try await service.withClient { client async throws in
                #expect(try await client.getPost(ids[0]).score == 1)
                #expect(try await client.getPost(ids[1]).score == 0)
            }
        }
    }

    @Test func aPostIsOfTheStateThatItWasCopiedFromAlsoWhereTheFeedsChange() async throws {
        try await TestService.run { service in
            let id = try await service.withClient { try await $0.createPost(Post(title: "old")).id }
            try await service.withFeed { try await $0.sync() }
            try await service.withFeed {
                $0.feeds = ["posts"]
            } _: { feed async throws in
                #expect(try await feed.post(id)?.title == "old")
                try await feed.vote(on: id, .up)
                await service.end(signal: 9)
                service.loseState()
                try await service.start()
                _ = try await service.withClient { try await $0.createPost(Post(title: "new")) }
                #expect(try await feed.sync().inDoubtCount == 1)
                #expect(try await feed.outbox().map(\.state) == [.inDoubt(.otherPosts)])
                #expect(try await feed.post(id)?.title == "new")
            }
            #expect(try await service.withClient { try await $0.getPost(id).score } == 0)
        }
    }

    @Test func aFeedThatIsCopiedNoLongerIsInNoList() async throws {
        try await TestService.run { service in
            try await service.withClient { client async throws in
                _ = try await Self.create("in a", in: "a", of: client)
                _ = try await Self.create("in b", in: "b", of: client)
            }
            func titles(_ feeds: [String]) async throws -> [String] {
                try await service.withFeed {
                    $0.feeds = feeds
                } _: { feed async throws in
                    let before = try await feed.posts(PostList(order: .old)).posts.map(\.title)
                    try await feed.sync()
                    let after = try await feed.posts(PostList(order: .old)).posts.map(\.title)
                    #expect(Set(before).isSubset(of: after))
                    return after
                }
            }
            #expect(try await titles(["a", "b"]) == ["in a", "in b"])
            #expect(try await titles(["a"]) == ["in a"])
            #expect(try await titles(["b"]) == ["in b"])
            #expect(try await titles([""]) == ["in a", "in b"])
        }
    }
}
