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

    @Test func syncsThatFailAreTriedAgainSooner() async throws {
        let folder = try TemporaryDirectory()
        let waits = Locked<[Duration]>([])
        let isAway = Locked(true)
        let feed = try await OfflineFeed.open(
            OfflineConfiguration(path: folder.path + "/offline.db", address: ""),
            wrapping: { $0 },
            waiting: { wait in waits.withLock { $0.append(wait) } },
            connecting: { _ throws(FeedClientError) in
                if isAway.withLock({ $0 }) { throw .cannotConnect(reason: "test") }
                return StubConnection(service: Self.hello) { Self.answer(to: $0) }
            }
        )
        let (reports, report) = AsyncStream<Result<SyncReport, OfflineError>>.makeStream()
        let run = Task {
            await feed.runSyncs(every: .seconds(60)) { result in
                if waits.withLock({ $0.count }) == 9 { isAway.withLock { $0 = false } }
                report.yield(result)
            }
        }
        var syncs = reports.makeAsyncIterator()
        while case .failure = await syncs.next() {}
        while case .failure = await syncs.next() {}
        run.cancel()
        await run.value
        let limits = [5, 10, 20, 40, 60, 60, 60, 60, 60].map { Duration.seconds($0) }
        let seen = waits.withLock { $0 }
        #expect(zip(seen, limits).allSatisfy { $0 <= $1 }, "\(seen)")
        #expect(seen.prefix(9).contains { $0 < .seconds(60) })
        #expect(seen.dropFirst(10).first == .seconds(60), "\(seen)")
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

        func acting(for userID: UserID) -> SlowClient { self }
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
        while await feed.syncWaiterCount < 2 { try await yieldUnlessCancelled() }
        first.cancel()
        while await feed.syncWaiterCount > 1 { try await yieldUnlessCancelled() }
        letGo.yield()
        // A bounded copy asks for the feeds again.
        letGo.finish()
        #expect(try await second.value.sentCount == 0)
        #expect(try await first.value.sentCount == 0)
        await feed.close()
    }

    /// A connection of which some calls wait, in a cancelled task too, until the test lets them go.
    private struct HeldConnection: NumberedCalling {
        let begun: AsyncStream<Void>.Continuation
        let go: AsyncStream<Void>
        let isHeld: @Sendable (Request) -> Bool
        private let stub = StubConnection(service: RunSyncsTests.hello) {
            RunSyncsTests.answer(to: $0)
        }

        init(
            begun: AsyncStream<Void>.Continuation,
            go: AsyncStream<Void>,
            isHeld: @escaping @Sendable (Request) -> Bool
        ) {
            (self.begun, self.go, self.isHeld) = (begun, go, isHeld)
        }

        var service: HelloResponse? { stub.service }

        func answer(
            to request: Request,
            minimumRevision: UInt64,
            timeout: Duration?
        ) async throws(FeedClientError) -> Answer {
            if isHeld(request) {
                begun.yield()
                await Task { [go] in for await _ in go { return } }.value
            }
            return RunSyncsTests.answer(to: request)
        }

        func make(
            _ changes: [NumberedChange],
            timeout: Duration?
        ) async -> [Result<Answer, FeedClientError>] {
            await stub.make(changes, timeout: timeout)
        }

        func acting(for userID: UserID) -> HeldConnection { self }
        func close() async {}
    }

    private static func isBehindTheOutbox(_ request: Request) -> Bool {
        if case .syncPosts = request { true } else { false }
    }

    /// Lets a task come to its call: one that joins a sync which it must not join has done so afterwards.
    private static func letOthersRun(_ feed: OfflineFeed, _ waiterCount: Int) async {
        for _ in 0..<1_000 {
            guard await feed.syncWaiterCount < waiterCount else { return }
            await Task.yield()
        }
    }

    @Test func aSyncSendsWhatWasMadeBehindTheOutboxOfTheOneBefore() async throws {
        let folder = try TemporaryDirectory()
        let (begun, begin) = AsyncStream<Void>.makeStream()
        let (go, letGo) = AsyncStream<Void>.makeStream()
        let feed = try await OfflineFeed.open(
            OfflineConfiguration(path: folder.path + "/offline.db", address: "")
        ) { _ in HeldConnection(begun: begin, go: go, isHeld: Self.isBehindTheOutbox) }
        var begins = begun.makeAsyncIterator()
        let first = Task { try await feed.sync() }
        await begins.next()
        try await feed.createPost(PostDraft(title: "mine"))
        let second = Task { try await feed.sync() }
        await Self.letOthersRun(feed, 2)
        letGo.finish()
        #expect(try await first.value.sentCount == 0)
        #expect(try await second.value.sentCount == 1)
        await feed.close()
    }

    /// The person pulls, and votes behind the outbox of that sync.
    @Test func runningSyncsSendWhatWasMadeDuringAnotherOne() async throws {
        let folder = try TemporaryDirectory()
        let (begun, begin) = AsyncStream<Void>.makeStream()
        let (go, letGo) = AsyncStream<Void>.makeStream()
        let waits = Waits()
        let feed = try await OfflineFeed.open(
            OfflineConfiguration(path: folder.path + "/offline.db", address: ""),
            wrapping: { $0 },
            waiting: { _ in await waits.wait() },
            connecting: { _ in
                HeldConnection(begun: begin, go: go, isHeld: Self.isBehindTheOutbox)
            }
        )
        var begins = begun.makeAsyncIterator()
        let (reports, report) = AsyncStream<Result<SyncReport, OfflineError>>.makeStream()
        let run = Task { await feed.runSyncs { report.yield($0) } }
        var next = reports.makeAsyncIterator()
        await begins.next()
        letGo.yield()
        #expect(try await next.next()?.get().sentCount == 0)
        let pull = Task { try await feed.sync() }
        await begins.next()
        try await feed.createPost(PostDraft(title: "mine"))
        await Self.letOthersRun(feed, 2)
        letGo.finish()
        #expect(try await next.next()?.get().sentCount == 1)
        #expect(try await pull.value.sentCount == 0)
        run.cancel()
        await run.value
        await feed.close()
    }

    @Test func nobodyJoinsASyncThatIsCancelled() async throws {
        let folder = try TemporaryDirectory()
        let (begun, begin) = AsyncStream<Void>.makeStream()
        let (go, letGo) = AsyncStream<Void>.makeStream()
        let feed = try await OfflineFeed.open(
            OfflineConfiguration(path: folder.path + "/offline.db", address: "")
        ) { _ in
            HeldConnection(begun: begin, go: go) { request in
                if case .listFeeds = request { true } else { false }
            }
        }
        var begins = begun.makeAsyncIterator()
        let first = Task { try await feed.sync() }
        await begins.next()
        first.cancel()
        while await feed.syncWaiterCount > 0 { try await yieldUnlessCancelled() }
        let second = Task { try await feed.sync() }
        await Self.letOthersRun(feed, 1)
        letGo.finish()
        await #expect(throws: OfflineError.service(.cancelled(effect: .none))) {
            try await first.value
        }
        #expect(try await second.value.sentCount == 0)
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
                var ids: [PostID] = []
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
                // The person has seen it already.
                #expect(posts.newPostCount == 0)
                await feed.close()
                while try await rows.next() != nil {}
            }
        }
    }

    @Test func theFirstSyncFillsAnEmptyList() async throws {
        try await TestService.run { service in
            let id = try await service.withClient { client async throws in
                try await client.createPost(PostDraft(title: "first")).id
            }
            try await service.withFeed { feed async throws in
                var rows = feed.observe(PostList(feed: "posts"), limit: 3).makeAsyncIterator()
                #expect(try await rows.next()?.rows.isEmpty == true)
                try await feed.sync()
                #expect(try await rows.next()?.rows.map(\.id) == [id])
            }
        }
    }

    @Test func aRefreshGivesAnElementAlsoIfItMovesNothing() async throws {
        let folder = try TemporaryDirectory()
        let feed = try await OfflineFeed.open(
            OfflineConfiguration(path: folder.path + "/offline.db", address: "")
        )
        try await feed.createPost(PostDraft(title: "mine"))
        let observed = feed.observe()
        var rows = observed.makeAsyncIterator()
        let posts = try await rows.next()
        #expect(posts?.rows.map(\.title) == ["mine"])
        observed.refresh()
        #expect(try await rows.next() == posts)
        observed.refresh()
        await feed.close()
        #expect(try await rows.next() == nil)
    }

    @Test func theRowsOfOneWhoHasSignedOutLeave() async throws {
        let folder = try TemporaryDirectory()
        let sessions = FileSessionStore(path: folder.path + "/session")
        let token = try #require(Secret(bytes: Array(repeating: 7, count: Secret.byteCount)))
        sessions.save(StoredSession(token: token, userID: 1))
        var configuration = OfflineConfiguration(path: folder.path + "/offline.db", address: "")
        configuration.client.sessionStore = sessions
        let feed = try await OfflineFeed.open(configuration)
        try await feed.createPost(PostDraft(title: "Ann's"))
        var rows = feed.observe().makeAsyncIterator()
        #expect(try await rows.next()?.rows.map(\.title) == ["Ann's"])
        sessions.remove()
        await feed.requestSync()
        let posts = try await rows.next()
        #expect(posts?.rows == [])
        #expect(posts?.removedIDs == [])
        await feed.close()
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
