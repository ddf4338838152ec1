import FeedCalls
import FeedProto
import FeedService
import FeedTestSupport
import Testing

/// Texts of many scalars a character: the cost of counting them in a loop iteration is bounded.
@Suite(.timeLimit(.minutes(10)))
struct TextWalkTests {
    /// A character of so many bytes, an odd number: a letter with accents.
    private static func character(_ byteCount: Int) -> String {
        "a" + String(repeating: "\u{301}", count: byteCount / 2)
    }

    @Test("a loop iteration walks no more than its bytes and the post it has begun")
    func boundsATurn() {
        let sizes = [0, 900, 40, 0, 1_500, 0, 0, 300, 300, 300, 300, 5_000, 1]
        var walk = TextWalk(byteLimit: 1_000)
        var iterations: [Int] = []
        while walk.checkedPostCount < sizes.count {
            var walked = 0
            while walk.hasRoom, walk.checkedPostCount < sizes.count {
                walked += sizes[walk.checkedPostCount]
                walk.checked(walkedByteCount: sizes[walk.checkedPostCount])
            }
            iterations.append(walked)
            walk.renew(byteLimit: 1_000)
        }
        #expect(iterations == [2_440, 1_200, 5_000, 1])
        walk.endImport()
        #expect(walk.checkedPostCount == 0)
    }

    @Test("a text with few scalars needs no walk, however many bytes it has")
    func needsNoWalk() {
        let cases: [(String, limit: Int, needsWalk: Bool)] = [
            ("", 0, false), ("abc", 3, false), ("abcd", 3, true), ("日本語", 3, false),
            ("日本語", 2, true), ("e\u{301}", 1, true), ("e\u{301}", 2, false), ("👩‍👩‍👧", 4, true),
            ("👩‍👩‍👧", 5, false), (String(repeating: "ü", count: 10_000), 10_000, false),
        ]
        for (text, limit, needsWalk) in cases {
            #expect(text.needsWalk(limit: limit) == needsWalk, "\(text) \(limit)")
            if !needsWalk { #expect(text.count <= limit) }
        }
    }

    /// One post in each loop iteration, so that the import continues after each.
    private static func withSmallTurns(
        _ body: @escaping @Sendable (WireClient) throws -> Void
    ) async throws {
        try await withService {
            $0.limits.walkedTextByteCount = 1
        } _: { port in
            try body(WireClient(port: port))
        }
    }

    @Test(
        "T-TEXT-5: an import of long characters is executed whole, over many iterations",
        arguments: [false, true]
    )
    func importsOverTurns(isNumbered: Bool) async throws {
        let posts = (0..<25).map { number in
            Post(title: "\(number)" + Self.character(1_001), text: Self.character(39_999))
        }
        try await Self.withSmallTurns { client in
            _ = try client.hello(clientID: [UInt8](repeating: 7, count: 16))
            let request = Request.importPosts(ImportPostsRequest(posts: posts))
            for _ in 0..<2 {
                // The requests behind it are answered after it.
                let ids = try [
                    client.send(request, sequence: isNumbered ? 1 : 0),
                    client.send(.ping(PingRequest())),
                ]
                let answers = try [client.receive(), client.receive()]
                #expect(answers.map { $0?.id } == ids)
                #expect(answers[0]?.status == nil)
            }
            let page = try client.list(ListPostsRequest(feed: "posts", order: .old, pageSize: 1))
            #expect(page.totalSize == (isNumbered ? 25 : 50))
            #expect(page.posts.first?.text == posts[0].text)
        }
    }

    @Test(
        "a post that breaks a rule is named, however many iterations come before it",
        arguments: [0, 9, 17]
    )
    func namesThePostThatIsWrong(wrong: Int) async throws {
        var posts = (0..<18).map { _ in Post(title: "a", text: Self.character(20_001)) }
        posts[wrong].title = String(repeating: "e\u{301}", count: 256)
        let wrongPosts = posts
        try await Self.withSmallTurns { client in
            for _ in 0..<2 {
                let answer = try client.call(.importPosts(ImportPostsRequest(posts: wrongPosts)))
                #expect(answer.status?.reason == .titleTooLong)
                let violation = answer.status?.violations.first
                #expect(violation?.field == "posts[\(wrong)].title")
                #expect(violation?.limit == 255)
                #expect(violation?.actual == 256)
            }
            let page = try client.list(ListPostsRequest(feed: "posts"))
            #expect(page.totalSize == 0)
        }
    }

    @Test("an import that ends half way, out of time, leaves nothing checked for the next one")
    func checksEachImportFromItsFront() async throws {
        let long = (0..<60).map { _ in Post(title: Self.character(1_001)) }
        let wrong = [Post(title: String(repeating: "e\u{301}", count: 256))]
        try await Self.withSmallTurns { client in
            // Both in one read, so that the second one is checked in the iteration that ends the first.
            let first = ClientFrame(
                id: 1,
                request: .importPosts(ImportPostsRequest(posts: long)),
                timeoutMilliseconds: 1
            )
            let second = ClientFrame(
                id: 2,
                request: .importPosts(ImportPostsRequest(posts: wrong))
            )
            try client.socket.send(first.encoded() + second.encoded())
            _ = try client.receive()
            let answer = try client.receive()
            #expect(answer?.id == 2)
            #expect(answer?.status?.reason == .titleTooLong)
        }
    }
}
