import FeedClient
import FeedOffline
import FeedProto
import FeedTestSupport
import Foundation
import Testing

/// Copies of single feeds, each of which follows the service by itself.
@Suite(.timeLimit(.minutes(10))) struct OfflineFeedsTests {
    private static func create(
        _ title: String,
        in feed: String,
        of client: FeedClient
    ) async throws -> PostID {
        if try await !client.feeds().contains(where: { $0.name == feed }) {
            try await client.createFeed(Feed(name: feed, voteMode: .tally))
        }
        return try await client.createPost(PostDraft(title: title), in: feed).id
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
            let id = try await service.withClient {
                try await $0.createPost(PostDraft(title: "old")).id
            }
            try await service.withFeed { try await $0.sync() }
            try await service.withFeed {
                $0.feeds = ["posts"]
            } _: { feed async throws in
                #expect(try await feed.post(id)?.title == "old")
                try await feed.vote(on: id, .up)
                await service.end(signal: 9)
                service.loseState()
                try await service.start()
                _ = try await service.withClient {
                    try await $0.createPost(PostDraft(title: "new"))
                }
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

@Suite(.timeLimit(.minutes(10))) struct OfflineChangesTests {
    private let folder: TemporaryDirectory
    private let feed: OfflineFeed

    init() async throws {
        folder = try TemporaryDirectory()
        feed = try await OfflineFeed.open(
            OfflineConfiguration(path: folder.path + "/offline.db", address: "127.0.0.1:1")
        )
    }

    @Test func changesThatNobodyHasReadAreOne() async throws {
        var reader = feed.changes.makeAsyncIterator()
        let first = try await feed.createPost(PostDraft(title: "first"))
        let second = try await feed.createPost(PostDraft(title: "second"))
        try await feed.drop(first.number)
        let change = try #require(await reader.next())
        #expect(change.changedPosts == [second.localPostID])
        #expect(change.removedPosts == [first.localPostID])
        #expect(change.hasOutboxChanged)
        #expect(!change.isEverything)
        try await feed.vote(on: second.localPostID, .up)
        #expect(await reader.next()?.changedPosts == [second.localPostID])
        await feed.close()
        #expect(await reader.next() == nil)
    }

    @Test func aSlowReaderIsToldToReadAllAgain() async throws {
        var reader = feed.changes.makeAsyncIterator()
        for number in 0...OfflineChange.maximumPostCount {
            try await feed.createPost(PostDraft(title: "\(number)"))
        }
        let change = try #require(await reader.next())
        #expect(change.isEverything)
        #expect(change.changedPosts.isEmpty)
        await feed.close()
    }
}

/// Copies that begin anew: posts that are gone leave the old copy, and not before the new one is complete.
@Suite(.timeLimit(.minutes(10))) struct OfflineResetTests {
    private static func titles(_ feed: OfflineFeed) async throws -> Set<String> {
        Set(try await feed.allPosts(PostList(order: .new), limit: 100).map(\.title))
    }

    @Test func postsOfALostStateGo() async throws {
        try await TestService.run { service in
            try await service.withClient { client async throws in
                for title in ["one", "two"] {
                    _ = try await client.createPost(PostDraft(title: title))
                }
            }
            try await service.withFeed { try await $0.sync() }
            await service.end(signal: 9)
            service.loseState()
            try await service.start()
            try await service.withClient { _ = try await $0.createPost(PostDraft(title: "new")) }
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
            try await service.withClient {
                $0.sessionStore = sessions
            } _: { client async throws in
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
                    try await client.createPost(PostDraft(title: "stays")).id,
                    try await client.createPost(PostDraft(title: "goes")).id,
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
                try await feed.createPost(PostDraft(title: "one"))
                #expect(try await feed.posts(limit: .max).posts.count == 1)
                #expect(try await feed.posts(limit: .min).posts.count == 1)
            }
        }
    }
}

/// Syncs whose connection is lost.
@Suite(.timeLimit(.minutes(10))) struct OfflineRetryTests {
    /// The waits of a sync, each of which lasts until the test ends it.
    private struct Waits {
        let begun: AsyncStream<Duration>
        let end: AsyncStream<Void>.Continuation
        let wait: @Sendable (Duration) async -> Void

        init() {
            let (begun, begin) = AsyncStream<Duration>.makeStream()
            let (ended, end) = AsyncStream<Void>.makeStream()
            self.begun = begun
            self.end = end
            wait = { duration in
                begin.yield(duration)
                for await _ in ended { return }
            }
        }
    }

    /// A service with a post, and a feed with a vote on it, in whose next sync the service is killed before
    /// the vote leaves.
    private static func run(
        _ body: (TestService, PostID, OfflineFeed, Waits) async throws -> Void
    ) async throws {
        try await TestService.run { service in
            let id = try await service.withClient {
                try await $0.createPost(PostDraft(title: "old")).id
            }
            let process = try #require(service.process)
            let hook = HookedOutbox.Hook { process.signal(SIGKILL) }
            let waits = Waits()
            var configuration = service.configuration()
            configuration.client.retry.baseDelay = .seconds(100)
            configuration.client.retry.maximumDelay = .seconds(150)
            let feed = try await OfflineFeed.open(
                configuration,
                wrapping: { HookedOutbox(file: $0, hook: hook) },
                waiting: waits.wait
            )
            try await feed.vote(on: id, .up)
            try await body(service, id, feed, waits)
            await feed.close()
        }
    }

    @Test func aSyncGoesOnOnceTheServiceIsBack() async throws {
        try await Self.run { service, id, feed, waits in
            let sync = Task { try await feed.sync() }
            var begun = waits.begun.makeAsyncIterator()
            let duration = try #require(await begun.next())
            #expect(duration > .zero && duration <= .seconds(100), "\(duration)")
            await service.end(signal: 9)
            try await service.start()
            waits.end.yield()
            #expect(try await sync.value.sentCount == 1)
            #expect(try await feed.post(id)?.score == 1)
            #expect(try await service.withClient { try await $0.getPost(id).score } == 1)
        }
    }

    @Test func aSyncEndsAfterThreeTries() async throws {
        try await Self.run { _, _, feed, waits in
            let sync = Task { try await feed.sync() }
            var begun = waits.begun.makeAsyncIterator()
            for limit in [Duration.seconds(100), .seconds(150)] {
                let duration = try #require(await begun.next())
                #expect(duration > .zero && duration <= limit, "\(duration)")
                waits.end.yield()
            }
            await #expect {
                try await sync.value
            } throws: { error in
                if case OfflineError.service(.cannotConnect) = error { true } else { false }
            }
            // Sent, or not if the loss was noticed before: it is kept in both cases.
            let states = try await feed.outbox().map(\.state)
            #expect(states == [.sent] || states == [.waiting], "\(states)")
            // Where nobody answers from the start, a sync does not try again.
            await #expect(throws: OfflineError.self) { try await feed.sync() }
        }
    }
}
