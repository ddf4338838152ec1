import FeedClient
import FeedClientTesting
import FeedProto
import FeedTestSupport
import Testing

/// The examples of docs/CLIENT.md are code that runs.
@Suite(.timeLimit(.minutes(10))) struct DocumentTests {
    // swift-format-ignore
    static func tour(_ client: FeedClient) async throws {
        let post = try await client.createPost(PostDraft(title: "Apple"))
        let counts = try await client.vote(on: post.id, .up)
        print(counts.score)
        for try await post in client.posts(in: "posts", order: .top) { print(post.score, post.title) }
        await client.close()
    }

    static func edit(_ client: FeedClient) async throws {
        let post = try await client.createPost(PostDraft(title: "Aple", text: "A fruit"))
        try await client.editPost(post) { $0.title = "Apple" }
    }

    // swift-format-ignore
    static func places(_ client: FeedClient) async throws {
        var page = try await client.listPosts(order: .top, pageSize: 10, from: .rank(11))
        print(page.firstRank, page.totalSize, page.posts.map(\.title))
        if let next = try await client.next(after: page) { page = next }
    }

    // swift-format-ignore
    static func cluster(_ addresses: [String]) async throws {
        // "feed1.example.org:7433", "feed2.example.org:7433", "feed3.example.org:7433"
        let client = try FeedClient(to: addresses)
        let post = try await client.createPost(PostDraft(title: "Apple"))    // over any failover
        var configuration = ClientConfiguration()
        configuration.reads = .any
        let reader = try FeedClient(to: addresses.last ?? "", configuration: configuration)
        let request = Request.getPost(GetPostRequest(id: post.id))
        print(try await reader.call(request, minimumRevision: post.revision))    // the follower has the post
        await client.close()
        await reader.close()
    }

    // swift-format-ignore
    static func follow(_ client: FeedClient) async throws {
        let watch = client.observe(PostList(feed: "posts", order: .top), limit: 20)
        for try await posts in watch {
            for post in posts.rows { print(post.score, post.title) }
            if posts.hasNewOrder { print("The order has changed.") }
            if posts.newPostCount > 3 { watch.refresh() }
        }
    }

    // swift-format-ignore
    static func people(_ address: String) async throws {
        var configuration = ClientConfiguration()
        configuration.serviceKey = Secret(file: "web.key")
        let service = try FeedClient(to: address, configuration: configuration)
        let ada = service.acting(for: .ofService(7))  // a user of the program's own
        try await ada.vote(on: 300, .up)
        await service.close()

        let client = try FeedClient(to: address)
        let session = try await client.signIn(email: "ada@example.org", password: "secret1")
        print(session.user?.displayName ?? "")
        try await client.mark(through: 300, as: .dismissed)
        try await client.signOut()
        await client.close()
    }

    // swift-format-ignore
    static func failures(_ client: FeedClient) async throws {
        do throws(FeedClientError) {
            _ = try await client.vote(on: 300, .up)
        } catch {
            switch error {
            case _ where error.reason == .postNotFound: print("no such post")
            case _ where error.effect == .none: print("nothing happened: \(error)")
            default: throw error    // the vote may count
            }
        }
    }

    // swift-format-ignore
    static func testing() async throws {
        let service = InMemoryFeedService()
        let ada = try service.connect(as: ClientID())
        let post = try await ada.createPost(PostDraft(title: "Apple"))
        service.fail { _ in .connectionLost(reason: "test", effect: .unknown) }
        // A call of ada's fails now.
        service.fail(nil)
        print(try await ada.vote(on: post.id, .up).score)
    }

    @Test func theExamplesRun() async throws {
        try await Self.testing()
        try await withClient { client in
            for number in 0..<25 { _ = try await client.createPost(PostDraft(title: "\(number)")) }
            try await Self.edit(client)
            try await Self.places(client)
            try await Self.failures(client)
            try await Self.tour(client)
        }
    }

    @Test(arguments: [
        "tour": 5, "edit": 2, "places": 3, "cluster": 10, "follow": 6, "people": 12, "failures": 9,
        "testing": 7,
    ])
    func theDocumentHasTheExample(_ name: String, lineCount: Int) throws {
        let example = try DocumentExample(name, in: #filePath)
        #expect(example.lines.count == lineCount)
        #expect(try example.isIn("docs/CLIENT.md"))
    }
}
