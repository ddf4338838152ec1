import FeedClient
import FeedOffline
import FeedProto
import FeedTestSupport
import Testing

/// Which entries of the outbox lists show.
@Suite(.timeLimit(.minutes(5)))
struct OutboxShownTests {
    @Test func aPostThatWasRefusedIsShownOnceItIsSentAgain() async throws {
        try await TestService.run { service in
            try await service.withFeed { feed async throws in
                let title = String(repeating: "x", count: 300)
                let entry = try await feed.createPost(Post(title: title))
                let made = try #require(try await feed.titled(title))
                #expect(made.id == entry.localPostID)
                var reader = feed.changes.makeAsyncIterator()
                #expect(try await feed.sync().failedCount == 1)
                #expect(await reader.next()?.removedPosts == [made.id])
                #expect(try await feed.post(made.id) == nil)
                #expect(try await feed.posts(PostList(order: .new)).posts.isEmpty)
                #expect(try await feed.postCount() == 0)
                // A vote on it waits, and does not show it.
                try await feed.vote(on: made.id, .up)
                #expect(try await feed.postCount() == 0)

                try await feed.resend(entry.number)
                let again = try #require(try await feed.titled(title))
                #expect(again.id == made.id)
                #expect(again.createTimeMilliseconds == made.createTimeMilliseconds)
                #expect(again.score == 1)
            }
        }
    }
}
