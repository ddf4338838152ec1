import FeedClient
import FeedOffline
import FeedProto
import FeedTestSupport
import Testing

/// Syncs that run by themselves, and rows that are shown as they change.
@Suite(.timeLimit(.minutes(10))) struct RunSyncsTests {
    /// The waits of `runSyncs`, each of which lasts until the test ends it, or the task is cancelled.
    private final class Waits: Sendable {
        private let current = Locked<AsyncStream<Void>.Continuation?>(nil)

        func wait() async {
            let (ended, end) = AsyncStream<Void>.makeStream()
            current.withLock { $0 = end }
            for await _ in ended { return }
        }

        func end() { current.withLock { _ = $0?.yield() } }
    }

    private static let hello = HelloResponse(
        serverName: "stub",
        instanceID: 1,
        serverTimeMilliseconds: 0,
        limits: nil,
        capabilities: [.exactlyOnce]
    )

    private static func answer(to request: Request) -> Answer {
        switch request {
        case .listFeeds: Answer(response: .listFeeds(ListFeedsResponse(feeds: [])), revision: 1)
        case .createPost: Answer(response: .post(Post(id: 7, feed: "posts")), revision: 1)
        default:
            Answer(
                response: .syncPosts(
                    SyncPostsResponse(posts: [], nextRevision: 1, instanceID: 1)
                ),
                revision: 1
            )
        }
    }

    @Test func syncsFollowTheStartRequestsChangesAndTime() async throws {
        let folder = try TemporaryDirectory()
        let waits = Waits()
        let feed = try await OfflineFeed.open(
            OfflineConfiguration(path: folder.path + "/offline.db", address: ""),
            wrapping: { $0 },
            waiting: { _ in await waits.wait() },
            connecting: { _ in StubConnection(service: Self.hello) { Self.answer(to: $0) } }
        )
        let (reports, report) = AsyncStream<Result<SyncReport, OfflineError>>.makeStream()
        let run = Task {
            await feed.runSyncs { report.yield($0) }
            report.finish()
        }
        var next = reports.makeAsyncIterator()
        #expect(try await next.next()?.get().sentCount == 0)
        await feed.requestSync()
        #expect(try await next.next()?.get().sentCount == 0)
        try await feed.createPost(PostDraft(title: "mine"))
        #expect(try await next.next()?.get().sentCount == 1)
        // The time of a wait that has not begun yet is asked for again.
        let clock = Task {
            while !Task.isCancelled {
                waits.end()
                await Task.yield()
            }
        }
        #expect(try await next.next()?.get().sentCount == 0)
        clock.cancel()
        run.cancel()
        await run.value
        // Whoever asks first opens the file anew: the feed goes on.
        #expect(try await feed.sync().sentCount == 0)
        await feed.close()
    }

    /// A client whose call for feeds lasts until it is let go or cancelled.
    private struct SlowClient: FeedCalling {
        let begun: AsyncStream<Void>.Continuation
        let go: AsyncStream<Void>
        var service: HelloResponse? { RunSyncsTests.hello }

        func answer(
            to request: Request,
            minimumRevision: UInt64,
            timeout: Duration?
        ) async throws(FeedClientError) -> Answer {
            guard case .listFeeds = request else { return RunSyncsTests.answer(to: request) }
            begun.yield()
            for await _ in go { return RunSyncsTests.answer(to: request) }
            guard !Task.isCancelled else { throw .cancelled(effect: .none) }
            return RunSyncsTests.answer(to: request)
        }

        func acting(for userID: UInt64) -> SlowClient { self }
        func close() async {}
    }

    @Test func aSyncEndsOnceAllWhoWaitForItAreCancelled() async throws {
        let folder = try TemporaryDirectory()
        let (begun, begin) = AsyncStream<Void>.makeStream()
        let (go, letGo) = AsyncStream<Void>.makeStream()
        let feed = try await OfflineFeed.open(
            OfflineConfiguration(path: folder.path + "/offline.db", address: "")
        ) { _ in SlowClient(begun: begin, go: go) }
        var begins = begun.makeAsyncIterator()
        let first = Task { try await feed.sync() }
        await begins.next()
        let second = Task { try await feed.sync() }
        // The second one waits too once another call of the feed has been answered after it.
        while await feed.syncWaiterCount < 2 { await Task.yield() }
        first.cancel()
        while await feed.syncWaiterCount > 1 { await Task.yield() }
        letGo.yield()
        // A bounded copy asks for the feeds again.
        letGo.finish()
        #expect(try await second.value.sentCount == 0)
        #expect(try await first.value.sentCount == 0)
        await feed.close()
    }

    @Test func aSyncOfACancelledTaskEnds() async throws {
        let folder = try TemporaryDirectory()
        let (begun, begin) = AsyncStream<Void>.makeStream()
        let (go, letGo) = AsyncStream<Void>.makeStream()
        let feed = try await OfflineFeed.open(
            OfflineConfiguration(path: folder.path + "/offline.db", address: "")
        ) { _ in SlowClient(begun: begin, go: go) }
        var begins = begun.makeAsyncIterator()
        let run = Task { await feed.runSyncs() }
        await begins.next()
        run.cancel()
        await run.value
        letGo.finish()
        await feed.close()
    }
}

/// The first rows of a list as they change.
@Suite(.timeLimit(.minutes(10))) struct ObservedPostsTests {
    @Test func rowsStayUntilARefreshAndShowTheNumbersOfNow() async throws {
        try await TestService.run { service in
            let ids = try await service.withClient { client async throws in
                var ids: [UInt64] = []
                for title in ["a", "b", "c"] {
                    ids.append(try await client.createPost(PostDraft(title: title)).id)
                }
                return ids
            }
            try await service.withFeed { feed async throws in
                try await feed.sync()
                let observed = feed.observe(PostList(feed: "posts", order: .top), limit: 3)
                var rows = observed.makeAsyncIterator()
                var posts = try #require(try await rows.next())
                #expect(posts.rows.map(\.id) == ids)
                #expect(posts.newPostCount == 0)
                // A vote moves no row.
                try await feed.vote(on: ids[2], .up)
                posts = try #require(try await rows.next())
                #expect(posts.rows.map(\.id) == ids)
                #expect(posts.rows.map(\.score) == [0, 0, 1])
                #expect(posts.hasNewOrder)
                observed.refresh()
                posts = try #require(try await rows.next())
                #expect(posts.rows.map(\.id) == [ids[2], ids[0], ids[1]])
                // A post that is made here becomes a row with the next refresh, and stays it.
                let local = try await feed.createPost(PostDraft(title: "0")).localPostID
                try await feed.vote(on: local, .up)
                try await feed.vote(on: local, .up)
                observed.refresh()
                posts = try #require(try await rows.next())
                while posts.rows.first?.id != local { posts = try #require(try await rows.next()) }
                try await feed.sync()
                let id = try #require(try await feed.post(local)).id
                posts = try #require(try await rows.next())
                while posts.rows.first?.id != id { posts = try #require(try await rows.next()) }
                #expect(posts.removedIDs.isEmpty)
                #expect(posts.newPostCount == 1)
                await feed.close()
                while try await rows.next() != nil {}
            }
        }
    }

    @Test func anOrderThatCannotBeComputedEndsIt() async throws {
        let folder = try TemporaryDirectory()
        let feed = try await OfflineFeed.open(
            OfflineConfiguration(path: folder.path + "/offline.db", address: "")
        )
        var rows = feed.observe(PostList(order: .rising)).makeAsyncIterator()
        await #expect(throws: OfflineError.unsupportedOrder(.rising)) { try await rows.next() }
        await feed.close()
    }
}
