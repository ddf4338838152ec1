import FeedClient
import FeedOffline
import FeedProto
import FeedTestSupport
import Testing

/// The example of docs/CLIENT.md is code that runs.
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

    @Test func theDocumentHasTheExample() throws {
        let example = try DocumentExample("launch", in: #filePath)
        #expect(example.lines.count == 13)
        #expect(try example.isIn("docs/CLIENT.md"))
    }
}
