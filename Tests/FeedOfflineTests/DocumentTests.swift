import FeedClient
import FeedOffline
import FeedProto
import FeedTestSupport
import Testing

/// The examples of docs/CLIENT.md are code that runs.
@Suite(.timeLimit(.minutes(10))) struct DocumentTests {
    // swift-format-ignore
    static func launch(_ folder: String, _ address: String) async throws {
        let configuration = OfflineConfiguration(path: folder + "/feed.db", address: address)
        let feed = try await OfflineFeed.open(configuration)
        if let notice = feed.notice { print(notice) }

        // Without a network:
        let page = try await feed.posts(PostList(feed: "posts", order: .hot), limit: 25)
        if let post = page.posts.first { try await feed.vote(on: post.id, .up) }
        let draft = try await feed.createPost(PostDraft(title: "From the tunnel"))
        try await feed.vote(on: draft.localPostID, .up)

        // When there is one:
        let report = try await feed.sync()
        print(report.sentCount, report.changedPostCount)
        for entry in try await feed.outbox() { print(entry.number, entry.state) }
        await feed.close()
    }

    // swift-format-ignore
    static func show(_ feed: OfflineFeed, _ client: FeedClient) async throws {
        let list = PostList(feed: "posts")
        async let syncs: Void = feed.runSyncs { print($0) }
        let live = Task {    // while the program is in front
            for try await _ in client.observe(list, limit: 20) { await feed.requestSync() }
        }
        defer { live.cancel() }
        for try await posts in feed.observe(list, limit: 20) { print(posts.rows.map(\.title)) }
        await syncs
    }

    @Test func theExampleRuns() async throws {
        try await TestService.run { service in
            // The second launch votes for the post of the first one.
            for _ in 0..<2 { try await Self.launch(service.folder.path, service.address) }
            try await service.withClient { client async throws in
                let posts = try await client.listPosts(PostList(order: .top)).posts
                #expect(posts.map(\.title) == ["From the tunnel", "From the tunnel"])
                #expect(posts.map(\.score) == [2, 1])
            }
        }
    }

    /// Long before the next sync is due.
    @Test func othersChangesComeAtOnce() async throws {
        try await TestService.run { service in
            try await service.withFeed { feed async throws in
                try await service.withClient { client async throws in
                    try await client.createPost(PostDraft(title: "a"))
                    let shown = Task { try await Self.show(feed, client) }
                    let list = PostList(feed: "posts")
                    var posts = feed.observe(list, limit: 3).makeAsyncIterator()
                    while try #require(try await posts.next()).ranking.count < 1 {}
                    #expect(try await feed.postCount(list) == 1)
                    try await client.createPost(PostDraft(title: "b"))
                    while try #require(try await posts.next()).ranking.count < 2 {}
                    #expect(try await feed.postCount(list) == 2)
                    shown.cancel()
                    try await shown.value
                }
            }
        }
    }

    @Test(arguments: [("launch", 13), ("show", 8)])
    func theDocumentHasTheExample(name: String, lineCount: Int) throws {
        let example = try DocumentExample(name, in: #filePath)
        #expect(example.lines.count == lineCount)
        #expect(try example.isIn("docs/CLIENT.md"))
    }
}
