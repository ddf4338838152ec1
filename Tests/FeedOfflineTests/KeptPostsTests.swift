import FeedClient
import FeedOffline
import FeedProto
import FeedSQLite
import FeedTestSupport
import Foundation
import Testing

/// Copies of the newest posts, beside the service's own lists.
@Suite(.timeLimit(.minutes(10))) struct KeptPostsTests {
    private static let orders: [Order] = [.new, .top, .hot, .discussed]
    /// The first half of each kept list is the service's own after every sync.
    private static let keptCount = 50

    @Test(arguments: TestEnvironment.seeds(1...3))
    func theFirstRowsAreTheServicesAfterAnyChanges(seed: UInt64) async throws {
        try await Self.run(postCount: 2_000, seed: seed) { service, client, random in
            try await service.withFeed {
                $0.keeps = .newest(Self.keptCount)
            } _: { feed async throws in
                let first = try await feed.sync()
                #expect(first.isReset)
                try await Self.compare(feed, client, seed)
                for round in 0..<8 {
                    try await Self.change(client, round, &random)
                    try await feed.sync()
                    try await Self.compare(feed, client, seed)
                }
                // Another copy of the same state has the same first rows.
                try await service.withFeed("other.db") {
                    $0.keeps = .newest(Self.keptCount)
                } _: { other async throws in
                    try await other.sync()
                    try await Self.compare(other, client, seed)
                }
            }
        }
    }

    /// A service with so many posts in the feed `kept`, whose default order is DISCUSSED.
    private static func run(
        postCount: Int,
        seed: UInt64,
        _ body: (TestService, FeedClient, inout SeededGenerator) async throws -> Void
    ) async throws {
        try await TestService.run { service in
            var random = SeededGenerator(seed: seed)
            try await service.withClient { client async throws in
                try await client.createFeed(
                    Feed(name: "kept", defaultOrder: .discussed, voteMode: .tally)
                )
                for first in stride(from: 0, to: postCount, by: 250) {
                    let posts = (first..<min(first + 250, postCount)).map { number in
                        Self.post(number, of: postCount, &random)
                    }
                    _ = try await client.importPosts(posts, in: "kept")
                }
                try await body(service, client, &random)
            }
        }
    }

    /// Posts of the last years, so that old ones have high places in HOT too.
    private static func post(
        _ number: Int,
        of count: Int,
        _ random: inout SeededGenerator
    ) -> Post {
        let isFamous = random.oneIn(20)
        return Post(
            title: "post \(number)",
            text: "A text of a usual length, which says something about the post \(number).",
            upvoteCount: UInt64.random(in: 0...(isFamous ? 1 << 40 : 20), using: &random),
            downvoteCount: UInt64.random(in: 0...20, using: &random),
            commentCount: UInt64.random(in: 0...(isFamous ? 5_000 : 20), using: &random),
            createTimeMilliseconds: 1_700_000_000_000 + Int64(number) * 40_000_000 / Int64(count)
                * 1_000
        )
    }

    private static func change(
        _ client: FeedClient,
        _ round: Int,
        _ random: inout SeededGenerator
    ) async throws {
        for number in 0..<20 {
            let title = "new \(round) \(number)"
            _ = try await client.createPost(PostDraft(title: title, text: "new"), in: "kept")
        }
        // Posts that are in no copy come to the first rows.
        for _ in 0..<20 {
            var post = Self.post(Int.random(in: 0..<2_000, using: &random), of: 2_000, &random)
            post.upvoteCount += 1 << 41
            if random.oneIn(2) { _ = try await client.importPosts([post], in: "kept") }
            let id = PostID(rawValue: .random(in: 1...2_000, using: &random))
            // Deleted posts take no edits.
            _ = try? await client.updatePost(
                Post(id: id, commentCount: UInt64.random(in: 0...9_000, using: &random)),
                fields: [.commentCount]
            )
        }
        // And first rows go, in some rounds most of them.
        for order in orders {
            let count = round % 3 == 2 ? 40 : 5
            let page = try await client.listPosts(in: "kept", order: order, pageSize: count)
            for post in page.posts { try await client.deletePost(post.id) }
        }
    }

    private static func compare(
        _ feed: OfflineFeed,
        _ client: FeedClient,
        _ seed: UInt64
    ) async throws {
        for order in orders {
            let list = PostList(feed: "kept", order: order)
            let expected = try await client.listPosts(list, pageSize: keptCount / 2).posts
            let rows = try await feed.posts(list, limit: keptCount / 2).posts.map(\.withoutViewer)
            #expect(rows == expected, "seed \(seed), \(order)")
        }
        #expect(try await feed.postCount(PostList(feed: "kept")) <= 4 * keptCount, "seed \(seed)")
    }

    /// A client whose calls for pages wait for somebody else's changes.
    private struct BusyClient: NumberedCalling {
        let client: FeedClient
        let change: @Sendable () async throws -> Void
        var service: HelloResponse? { client.service }

        func answer(
            to request: Request,
            minimumRevision: UInt64,
            timeout: Duration?
        ) async throws(FeedClientError) -> Answer {
            if case .listPosts = request {
                do { try await change() } catch { throw .closed }
            }
            return try await client.answer(
                to: request,
                minimumRevision: minimumRevision,
                timeout: timeout
            )
        }

        func make(
            _ changes: [NumberedChange],
            timeout: Duration?
        ) async -> [Result<Answer, FeedClientError>] {
            await client.make(changes, timeout: timeout)
        }

        func acting(for userID: UserID) -> BusyClient { self }
        func close() async { await client.close() }
    }

    @Test(arguments: TestEnvironment.seeds(1...2))
    func changesBetweenThePagesAreNotMissed(seed: UInt64) async throws {
        try await Self.run(postCount: 600, seed: seed) { service, client, _ in
            let address = service.address
            let random = Locked(SeededGenerator(seed: seed))
            var configuration = service.configuration()
            configuration.keeps = .newest(Self.keptCount)
            configuration.feeds = ["kept"]
            let feed = try await OfflineFeed.open(configuration) {
                configuration throws(FeedClientError) in
                BusyClient(
                    client: try await FeedClient.connect(to: address, configuration: configuration)
                ) {
                    for order in Self.orders {
                        let page = try await client.listPosts(
                            in: "kept",
                            order: order,
                            pageSize: 50
                        )
                        let picked = random.withLock { page.posts.shuffled(using: &$0).prefix(3) }
                        for post in picked { try await client.vote(on: post.id, .down) }
                        if let post = picked.first { try await client.deletePost(post.id) }
                    }
                    _ = try await client.createPost(PostDraft(title: "meanwhile"), in: "kept")
                }
            }
            try await feed.sync()
            try await Self.compare(feed, client, seed)
            await feed.close()
        }
    }

    @Test func aPostThatAnEntryNamesStaysUntilItIsDone() async throws {
        try await Self.run(postCount: 300, seed: 1) { service, client, _ in
            let sessions = FileSessionStore(path: service.path("session"))
            var ids: [PostID] = []
            for try await post in client.posts(in: "kept", order: .old) { ids.append(post.id) }
            func withFeed(
                _ keeps: KeptPosts,
                _ body: (OfflineFeed) async throws -> Void
            ) async throws {
                try await service.withFeed {
                    $0.keeps = keeps
                    $0.client.sessionStore = sessions
                } _: {
                    try await body($0)
                }
            }
            try await withFeed(.all) { feed async throws in
                try await feed.sync()
                #expect(try await feed.postCount() == 300)
                for id in ids.prefix(3) { try await feed.vote(on: id, .down) }
            }
            try await service.withClient {
                $0.sessionStore = sessions
            } _: { client async throws in
                _ = try await client.signIn(
                    email: "ann@example.org",
                    password: "secret",
                    createsIfMissing: true
                )
            }
            try await client.deletePost(ids[1])
            try await withFeed(.newest(10)) { feed async throws in
                // Ann's copy is another one, and the entries are the device's: they wait, with their posts.
                #expect(try await feed.sync().otherUserCount == 3)
                #expect(try await feed.post(ids[0]) != nil)
                #expect(try await feed.post(ids[1]) == nil)
                #expect(try await feed.post(ids[2]) != nil)
                #expect(try await feed.post(ids[3]) == nil)
                for entry in try await feed.outbox() { try await feed.drop(entry.number) }
                try await feed.sync()
                #expect(try await feed.post(ids[0]) == nil)
            }
            // All again, and more than before.
            try await withFeed(.newest(40)) { feed async throws in
                try await feed.sync()
                #expect(try await feed.posts(PostList(order: .new), limit: 40).posts.count == 40)
                #expect(try await feed.postCount() < 160)
            }
            try await withFeed(.all) { feed async throws in
                try await feed.sync()
                #expect(try await feed.postCount() == 299)
            }
        }
    }

    /// A file of the format before has all posts, and becomes small once they have left.
    @Test func aFileOfAllPostsBecomesSmall() async throws {
        try await Self.run(postCount: 2_500, seed: 2) { service, client, _ in
            try await service.withFeed {
                $0.keeps = .all
            } _: {
                try await $0.sync()
            }
            let path = service.path("offline.db")
            try Database(path: path).execute("DROP TABLE boundaries; PRAGMA user_version = 3")
            let before = try Self.byteCount(path)
            try await service.withFeed {
                $0.keeps = .newest(Self.keptCount)
            } _: { feed async throws in
                let report = try await feed.sync()
                #expect(!report.isReset)
                #expect(report.removedPostCount > 2_000)
                try await Self.compare(feed, client, 2)
            }
            let after = try Self.byteCount(path)
            #expect(after < before / 4, "\(after) of \(before) bytes")
        }
    }

    /// The system would need room for a copy of the file, and has it not.
    @Test func aFileThatCannotBecomeSmallIsSyncedAllTheSame() async throws {
        try await Self.run(postCount: 2_500, seed: 2) { service, client, _ in
            try await service.withFeed {
                $0.keeps = .all
            } _: {
                try await $0.sync()
            }
            // SQLite makes the indexes in the copy, and fails to make this one.
            try Database(path: service.path("offline.db")).execute(
                """
                CREATE TABLE other(name); CREATE INDEX other_names ON other(name);
                PRAGMA writable_schema = ON;
                UPDATE sqlite_schema SET sql = 'CREATE INDEX other_names ON other(name COLLATE none)'
                WHERE name = 'other_names'
                """
            )
            try await service.withFeed {
                $0.keeps = .newest(Self.keptCount)
            } _: { feed async throws in
                #expect(try await feed.sync().removedPostCount > 2_000)
                try await Self.compare(feed, client, 2)
            }
        }
    }

    private static func byteCount(_ path: String) throws -> Int {
        let size = try FileManager.default.attributesOfItem(atPath: path)[.size]
        return try #require(size as? Int)
    }

    /// The service no longer knows what was deleted: the lists are read again, and nothing else.
    @Test func aChainThatTheServiceHasForgottenBeginsWithTheLists() async throws {
        let folder = try TemporaryDirectory()
        var configuration = OfflineConfiguration(path: folder.path + "/offline.db", address: "")
        configuration.keeps = .newest(3)
        let calls = Locked<[String]>([])
        let hello = HelloResponse(
            serverName: "stub",
            instanceID: 1,
            serverTimeMilliseconds: 0,
            limits: nil,
            capabilities: [.exactlyOnce]
        )
        let feed = try await OfflineFeed.open(configuration) { _ in
            StubConnection(service: hello) { request throws(FeedClientError) in
                switch request {
                case .listFeeds:
                    let feeds = ListFeedsResponse(feeds: [Feed(name: "posts")])
                    return Answer(response: .listFeeds(feeds), revision: 9)
                case .listPosts(let list):
                    calls.withLock { $0.append("\(list.order) \(list.pageSize)") }
                    let posts = [Post(id: 1, feed: "posts", title: "one", revision: 8)]
                    return Answer(
                        response: .listPosts(ListPostsResponse(posts: posts)),
                        revision: 9
                    )
                case .syncPosts(let sync):
                    let isFirst = calls.withLock { calls in
                        calls.append("\(sync.sinceRevision)")
                        return calls.count < 5
                    }
                    let gone = Post(id: 7, feed: "posts", title: "of the whole feed", revision: 1)
                    let answer = SyncPostsResponse(
                        posts: isFirst ? [gone] : [],
                        nextRevision: 9,
                        hasMore: isFirst,
                        isReset: isFirst,
                        instanceID: 1
                    )
                    return Answer(response: .syncPosts(answer), revision: 9)
                default: throw .closed
                }
            }
        }
        #expect(try await feed.sync().isReset)
        let lists = ["NEW 3", "TOP 3", "HOT 3", "9"]
        #expect(calls.withLock { $0 } == lists + lists)
        #expect(try await feed.posts(limit: 9).posts.map(\.id) == [1])
        await feed.close()
    }

    /// `FEED_COPY_POSTS` says how many posts the service has; figures of the first sync are printed.
    @Test func aFirstSyncCostsWhatTheKeptPostsCost() async throws {
        let postCount = TestEnvironment.number("FEED_COPY_POSTS").map { Int($0) } ?? 5_000
        let keptCount = max(50, postCount / 100)
        try await Self.run(postCount: postCount, seed: 3) { service, client, _ in
            try await service.withFeed {
                $0.keeps = .newest(keptCount)
            } _: { feed async throws in
                var lists: [PostList: [PostID]] = [:]
                for order in [Order.new, .hot] {
                    let list = PostList(feed: "kept", order: order)
                    lists[list] = try await client.listPosts(list, pageSize: 25).posts.map(\.id)
                }
                let begin = ContinuousClock.now
                var changes = feed.changes.makeAsyncIterator()
                let sync = Task { try await feed.sync() }
                while !lists.isEmpty {
                    _ = await changes.next()
                    for (list, ids) in lists {
                        let rows = try await feed.posts(list, limit: 25).posts
                        if rows.map(\.id) == ids { lists[list] = nil }
                    }
                }
                let firstRows = ContinuousClock.now - begin
                let report = try await sync.value
                let whole = ContinuousClock.now - begin
                let path = service.path("offline.db")
                let byteCount = try Self.byteCount(path) + Self.byteCount(path + "-wal")
                print(
                    "Of \(postCount) posts \(try await feed.postCount()) are kept, in \(byteCount) bytes; "
                        + "first rows after \(firstRows), all after \(whole)."
                )
                #expect(report.changedPostCount <= keptCount + 300)
                #expect(byteCount < 5_000_000)
            }
        }
    }
}

extension Post {
    /// The post as a client without identity has it.
    fileprivate var withoutViewer: Post {
        var post = self
        post.viewer = nil
        return post
    }
}
