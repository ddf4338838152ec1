import FeedClient
import FeedOffline
import FeedProto
import FeedTestSupport
import Testing

/// Copies that begin anew: posts that are gone leave the old copy, and not before the new one is complete.
@Suite(.timeLimit(.minutes(10)))
struct OfflineResetTests {
    private static func titles(_ feed: OfflineFeed) async throws -> Set<String> {
        Set(try await feed.allPosts(PostList(order: .new), limit: 100).map(\.title))
    }

    @Test func postsOfALostStateGo() async throws {
        try await TestService.run { service in
            try await service.withClient { client async throws in
                for title in ["one", "two"] {
                    _ = try await client.createPost(Post(title: title))
                }
            }
            try await service.withFeed { try await $0.sync() }
            await service.end(signal: 9)
            service.loseState()
            try await service.start()
            try await service.withClient { _ = try await $0.createPost(Post(title: "new")) }
            try await service.withFeed { feed async throws in
                #expect(try await feed.sync().isReset)
                #expect(try await Self.titles(feed) == ["new"])
            }
        }
    }

    @Test func aDeletedPostGoesWithACopyOfOneAnswer() async throws {
        try await copyAnew(postCount: 3)
    }

    @Test func aDeletedPostGoesOnceACopyOfSeveralAnswersIsComplete() async throws {
        try await copyAnew(postCount: 1_203)
    }

    /// Deletes a post, and lets another account sign in: its copy begins anew.
    private func copyAnew(postCount: Int) async throws {
        try await TestService.run { service in
            let posts = (0..<postCount).map { Post(title: "post \($0)") }
            try await service.withClient { client async throws in
                for first in stride(from: 0, to: postCount, by: 200) {
                    let batch = posts[first..<min(first + 200, postCount)]
                    _ = try await client.importPosts(Array(batch))
                }
            }
            try await service.withFeed { try await $0.sync() }
            try await service.withClient { try await $0.deletePost(1) }
            let sessions = FileSessionStore(path: service.path("session"))
            try await service.withClient({ $0.sessionStore = sessions }) { client async throws in
                _ = try await client.signIn(
                    email: "ann@example.org",
                    password: "secret",
                    createsIfMissing: true
                )
            }
            try await service.withFeed {
                $0.client.sessionStore = sessions
            } _: { feed async throws in
                let report = try await feed.sync()
                #expect(report.isReset)
                #expect(report.removedPostCount == 1)
                #expect(try await feed.post(1) == nil)
                #expect(try await feed.postCount() == postCount - 1)
            }
        }
    }

    @Test func aDeletedPostGoesWhereTheFeedsChange() async throws {
        try await TestService.run { service in
            let ids = try await service.withClient { client async throws in
                [
                    try await client.createPost(Post(title: "stays")).id,
                    try await client.createPost(Post(title: "goes")).id,
                ]
            }
            try await service.withFeed { try await $0.sync() }
            try await service.withClient { try await $0.deletePost(ids[1]) }
            try await service.withFeed {
                $0.feeds = ["posts"]
            } _: { feed async throws in
                try await feed.sync()
                #expect(try await Self.titles(feed) == ["stays"])
            }
        }
    }

    @Test func aPageHasALimit() async throws {
        try await TestService.run { service in
            try await service.withFeed { feed async throws in
                try await feed.createPost(Post(title: "one"))
                #expect(try await feed.posts(limit: .max).posts.count == 1)
                #expect(try await feed.posts(limit: .min).posts.count == 1)
            }
        }
    }
}
