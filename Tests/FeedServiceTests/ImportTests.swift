import FeedProto
import FeedService
import FeedTestSupport
import FeedTransport
import Testing

/// ImportPosts: posts of another system, all or none.
@Suite(.timeLimit(.minutes(10))) struct ImportTests {
    private static func call(
        _ client: WireClient,
        _ posts: [Post],
        feed: String = ""
    ) throws
        -> ServerFrame
    {
        try client.call(.importPosts(ImportPostsRequest(feed: feed, posts: posts)))
    }

    @Test func keepsWhatPostsHadElsewhere() async throws {
        try await withClient { client in
            _ = try client.createPost(title: "here before")
            let posts = [
                Post(
                    id: 77,
                    feed: "tweets",
                    author: User(id: 9, displayName: "Ada"),
                    title: "brought\r\nalong",
                    text: "text",
                    linkURL: "https://example.org/a",
                    thumbnailURL: "https://example.org/t.png",
                    imageURL: "https://example.org/i.png",
                    score: 5000,
                    upvoteCount: 12,
                    downvoteCount: 20,
                    commentCount: 1 << 53,
                    createTimeMilliseconds: 1_376_000_000_123,
                    updateTimeMilliseconds: 5,
                    revision: 99
                ),
                Post(title: "at the epoch"),
            ]
            let answer = try Self.call(client, posts, feed: "posts")
            #expect(answer.response == .importPosts(ImportPostsResponse(ids: [2, 3])))
            #expect(answer.revision == 3)
            var kept = posts[0]
            kept.id = 2
            kept.feed = "posts"
            kept.author = User(id: 0, displayName: "Ada")
            kept.score = -8
            kept.updateTimeMilliseconds = kept.createTimeMilliseconds
            kept.revision = 2
            let read = try client.call(.getPost(GetPostRequest(id: 2)))
            #expect(read.response == .post(kept))
            let newest = try client.list(ListPostsRequest(feed: "posts", order: .new)).posts
            #expect(newest.map(\.id) == [1, 2, 3])
            #expect(newest[2].createTimeMilliseconds == 0)
        }
    }

    /// A post that is refused, in the field that the test's name says.
    struct Refused: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var post: Post
        var reason: Reason
        var limit: UInt64
        var actual: UInt64
    }

    static let refused = [
        Refused(
            testDescription: "title",
            post: Post(title: String(repeating: "a", count: 256)),
            reason: .titleTooLong,
            limit: 255,
            actual: 256
        ),
        Refused(
            testDescription: "text",
            post: Post(text: String(repeating: "a", count: 10_001)),
            reason: .textTooLong,
            limit: 10_000,
            actual: 10_001
        ),
        Refused(
            testDescription: "link_url",
            post: Post(linkURL: "a b"),
            reason: .badURL,
            limit: 0,
            actual: 0x20
        ),
        Refused(
            testDescription: "author.display_name",
            post: Post(author: User(displayName: String(repeating: "a", count: 51))),
            reason: .nameTooLong,
            limit: 50,
            actual: 51
        ),
        Refused(
            testDescription: "upvote_count",
            post: Post(upvoteCount: 1 << 53 + 1),
            reason: .badCount,
            limit: 1 << 53,
            actual: 1 << 53 + 1
        ),
        Refused(
            testDescription: "downvote_count",
            post: Post(downvoteCount: .max),
            reason: .badCount,
            limit: 1 << 53,
            actual: .max
        ),
        Refused(
            testDescription: "comment_count",
            post: Post(commentCount: 1 << 53 + 1),
            reason: .badCount,
            limit: 1 << 53,
            actual: 1 << 53 + 1
        ),
    ]

    @Test("T-CALL-16: one bad post refuses all, and is named", arguments: refused)
    func importsAllOrNone(_ refused: Refused) async throws {
        try await withClient { client in
            var posts = [Post](repeating: Post(title: "good"), count: 20)
            posts[17] = refused.post
            let status = try #require(try Self.call(client, posts).status)
            #expect(status.code == .invalidArgument)
            #expect(status.reason == refused.reason)
            #expect(status.isNotExecuted)
            let violation = FieldViolation(
                field: "posts[17].\(refused.testDescription)",
                reason: refused.reason,
                limit: refused.limit,
                actual: refused.actual
            )
            #expect(status.violations == [violation])
            #expect(try client.list(ListPostsRequest()).totalSize == 0)
            // Refused posts take no ids.
            #expect(try client.createPost(title: "next") == 1)
        }
    }

    @Test("T-CALL-16: takes times from the epoch to five minutes from now")
    func boundsTimes() async throws {
        try await withClient { client in
            guard case .hello(let hello) = try client.hello().response
            else { throw Unexpected("Hello answers with the service's clock.") }
            let now = hello.serverTimeMilliseconds
            for good in [0, 1, now, now + 300_000] {
                #expect(try Self.call(client, [Post(createTimeMilliseconds: good)]).status == nil)
            }
            for bad in [-1, .min, now + 600_000, .max] {
                let answer = try Self.call(client, [Post(createTimeMilliseconds: bad)])
                let violation = try #require(answer.status?.violations.first)
                #expect(violation.field == "posts[0].create_time_ms")
                #expect(violation.reason == .badTime)
                #expect(violation.actual == UInt64(bitPattern: bad))
            }
            #expect(try client.list(ListPostsRequest()).totalSize == 4)
        }
    }

    @Test func keepsToTheFeedsPolicy() async throws {
        try await withClient { client in
            let status = try Self.call(client, [Post(title: "no text")], feed: "tweets").status
            #expect(status?.reason == .textEmpty)
            #expect(status?.violations.first?.field == "posts[0].text")
            let nowhere = try Self.call(client, [Post()], feed: "nowhere").status
            #expect(nowhere?.reason == .feedNotFound)
            let numbered = ClientFrame(
                id: client.nextID(),
                request: .importPosts(ImportPostsRequest(posts: [Post()])),
                sequence: 1
            )
            try client.send(numbered)
            #expect(try client.receive()?.status?.reason == .identityRequired)
        }
    }

    @Test("T-TEXT-1: names the post whose text is no text")
    func namesBadText() async throws {
        try await withClient { client in
            let good = RawMessage().field(2, RawMessage().field(4, Array("good".utf8)))
            let bad = RawMessage().field(2, RawMessage().field(4, [0x61, 0]))
            let request = RawMessage().field(39, good.raw(bad.bytes))
            try client.socket.send(RawMessage().field(1, client.nextID()).raw(request.bytes).framed)
            let status = try #require(try client.receive()?.status)
            #expect(status.reason == .badText)
            #expect(status.violations.first?.field == "posts[1].title")
            #expect(try client.list(ListPostsRequest()).totalSize == 0)
        }
    }

    @Test func isCountedAsOneRequest() async throws {
        try await withClient { client in
            _ = try Self.call(client, [Post(), Post()])
            _ = try Self.call(client, [])
            let stats = try client.serverStats()
            let method = stats.methods.first { $0.method == "import_posts" }
            #expect(method?.requestCount == 2)
            #expect(method?.errorCount == 1)
            #expect(stats.postCount == 2)
        }
    }

    @Test(
        "a caller from another address is no service",
        .enabled(if: TestSocket.ownAddress != nil, "this machine has a loopback address only")
    )
    func trustsLoopbackOnly() async throws {
        let own = try #require(TestSocket.ownAddress)
        let everywhere = SocketAddress(host: .v4(0), port: 0)
        func listen(_ configuration: inout ServiceConfiguration) {
            configuration.addresses = [everywhere]
        }
        try await withService(threads: 1, listen) { port in
            let remote = try WireClient(port: port, host: own)
            for request in [
                Request.importPosts(ImportPostsRequest(posts: [Post()])),
                .createFeed(CreateFeedRequest(feed: Feed(name: "mine"))),
                .correctTimes(CorrectTimesRequest()),
            ] {
                let status = try remote.call(request).status
                #expect(status?.code == .permissionDenied)
                #expect(status?.reason == .serviceOnly)
            }
            #expect(try remote.createPost(title: "as anybody may") == 1)
            let local = try WireClient(port: port)
            #expect(try Self.call(local, [Post()]).status == nil)
        }
    }
}
