import FeedCalls
import FeedProto
import FeedService
import FeedTestSupport
import Testing

/// The answers to well-framed requests with bad contents; the connection stays.
///
/// The ids are those of `docs/SECURITY.md`.
@Suite(.timeLimit(.minutes(10))) struct TextAndFieldTests {
    struct Refused: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var request: RawMessage
        var code = StatusCode.invalidArgument
        var reason: Reason
        var field = ""
        var isNotExecuted = true
    }

    static func create(_ post: RawMessage) -> RawMessage {
        RawMessage().field(30, RawMessage().field(2, post))
    }

    static func title(_ bytes: [UInt8]) -> RawMessage { create(RawMessage().field(4, bytes)) }

    static let refused = [
        Refused(
            testDescription: "T-TEXT-1: a NUL in a title",
            request: title([0x61, 0, 0x62]),
            reason: .badText,
            field: "post.title"
        ),
        Refused(
            testDescription: "T-TEXT-1: invalid UTF-8",
            request: title([0xff, 0xfe]),
            reason: .badText,
            field: "post.title"
        ),
        Refused(
            testDescription: "T-TEXT-1: overlong UTF-8",
            request: title([0xc0, 0xaf]),
            reason: .badText,
            field: "post.title"
        ),
        Refused(
            testDescription: "T-TEXT-1: a surrogate",
            request: title([0xed, 0xa0, 0x80]),
            reason: .badText,
            field: "post.title"
        ),
        Refused(
            testDescription: "T-TEXT-1: a NUL in a feed's name",
            request: RawMessage().field(33, RawMessage().field(1, [0x61, 0])),
            reason: .badText,
            field: "feed"
        ),
        Refused(
            testDescription: "T-PB-5: an order out of range",
            request: RawMessage().field(33, RawMessage().field(2, 99)),
            reason: .badField,
            field: "order"
        ),
        Refused(
            testDescription: "T-PB-5: a negative order",
            request: RawMessage().field(33, RawMessage().field(2, .max)),
            reason: .badField,
            field: "order"
        ),
        Refused(
            testDescription: "T-PB-6: a negative number where none is allowed",
            request: RawMessage().field(
                53,
                RawMessage().field(1, RawMessage().field(1, Array("a".utf8)).field(4, .max))
            ),
            reason: .badField,
            field: "feed.max_title_length"
        ),
        Refused(
            testDescription: "T-CALL-1: a creation without a post",
            request: RawMessage().field(30, RawMessage()),
            reason: .badField,
            field: "post"
        ),
        Refused(
            testDescription: "T-CALL-1: a vote without anything",
            request: RawMessage().field(40, RawMessage()),
            reason: .badVote,
            field: "direction"
        ),
        Refused(
            testDescription: "T-CALL-1: an update without a mask",
            request: RawMessage().field(34, RawMessage().field(1, RawMessage().field(1, 1))),
            reason: .badField,
            field: "update_mask"
        ),
        Refused(
            testDescription: "T-VOTE-1: a vote of value 4",
            request: RawMessage().field(40, RawMessage().field(1, 1).field(2, 4)),
            reason: .badVote,
            field: "direction"
        ),
        Refused(
            testDescription: "T-VOTE-1: a vote of value -128",
            request: RawMessage()
                .field(40, RawMessage().field(1, 1).field(2, UInt64(bitPattern: -128))),
            reason: .badVote,
            field: "direction"
        ),
        Refused(
            testDescription: "T-CALL-3: a vote on a post that is not there",
            request: RawMessage().field(40, RawMessage().field(1, 1 << 60).field(2, 1)),
            code: .notFound,
            reason: .postNotFound
        ),
        Refused(
            testDescription: "T-CALL-9: a page size below 0",
            request: RawMessage().field(33, RawMessage().field(4, UInt64(bitPattern: -1))),
            reason: .badPageSize,
            field: "page_size"
        ),
        Refused(
            testDescription: "T-CALL-9: a page size that wraps below 0",
            request: RawMessage().field(33, RawMessage().field(4, 1 << 31)),
            reason: .badPageSize,
            field: "page_size"
        ),
        Refused(
            testDescription: "T-TEXT-3: a title of 256 characters",
            request: title([UInt8](repeating: 0x61, count: 256)),
            reason: .titleTooLong,
            field: "post.title"
        ),
        Refused(
            testDescription: "T-TEXT-3: a title of 10,250 bytes",
            request: title(
                (0..<250).flatMap { _ in Array(("e" + String(repeating: "\u{301}", count: 20)).utf8)
                }
            ),
            reason: .titleTooLong,
            field: "post.title"
        ),
        Refused(
            testDescription: "T-VER-3: a method of a newer version",
            request: RawMessage().field(200, RawMessage()),
            code: .unimplemented,
            reason: .unknownMethod
        ),
        Refused(
            testDescription: "T-SEQ-4: a sequence of a caller without identity",
            request: RawMessage().field(3, 1).field(40, RawMessage().field(1, 1).field(2, 1)),
            code: .unauthenticated,
            reason: .identityRequired
        ),
        Refused(
            testDescription: "T-CALL-7: a revision that is still to come",
            request: RawMessage().field(4, 1 << 60).field(31, RawMessage().field(1, 1)),
            code: .failedPrecondition,
            reason: .instanceChanged
        ),
        Refused(
            testDescription: "T-CALL-3: a feed that is not there",
            request: RawMessage().field(33, RawMessage().field(1, Array("nowhere".utf8))),
            code: .notFound,
            reason: .feedNotFound
        ),
        Refused(
            testDescription: "T-TEXT-4: an address with a line break",
            request: create(RawMessage().field(6, Array("http://a\n".utf8))),
            reason: .badURL,
            field: "post.link_url"
        ),
        Refused(
            testDescription: "T-TEXT-4: a link that runs a script",
            request: create(RawMessage().field(6, Array("JavaScript:alert(1)".utf8))),
            reason: .badURL,
            field: "post.link_url"
        ),
    ]

    @Test(arguments: refused)
    func refusesAndKeepsTheConnection(_ refused: Refused) async throws {
        try await withClient { client in
            try client.socket.send(
                RawMessage().field(1, client.nextID()).raw(refused.request.bytes).framed
            )
            let answer = try #require(try client.receive())
            #expect(answer.id == 1)
            let status = try #require(answer.status)
            #expect(status.code == refused.code)
            #expect(status.reason == refused.reason)
            #expect(status.isNotExecuted == refused.isNotExecuted)
            #expect(status.violations.first?.field ?? "" == refused.field)
            #expect(try client.call(.ping(PingRequest())).status == nil)
            #expect(try client.list(ListPostsRequest()).totalSize == 0)
        }
    }

    @Test("T-PB-3: executes the last of a call that comes twice")
    func takesTheLastOfARepeatedCall() async throws {
        try await withClient { client in
            let twice = RawMessage().field(1, client.nextID())
                .field(30, RawMessage().field(2, RawMessage().field(4, Array("first".utf8))))
                .field(30, RawMessage().field(2, RawMessage().field(4, Array("second".utf8))))
            try client.socket.send(twice.framed)
            guard case .post(let post) = try client.receive()?.response
            else { throw Unexpected("CreatePost answers with the post.") }
            #expect(post.title == "second")
        }
    }

    @Test("T-PB-4: executes the last of two calls in one frame")
    func takesTheLastOfTwoCalls() async throws {
        try await withClient { client in
            let two = RawMessage().field(1, client.nextID())
                .field(30, RawMessage().field(2, RawMessage().field(4, Array("one".utf8))))
                .field(11, RawMessage().field(1, [7]))
            try client.socket.send(two.framed)
            guard case .ping(let ping) = try client.receive()?.response
            else { throw Unexpected("The last call is executed.") }
            #expect(ping.payload == [7])
            #expect(try client.list(ListPostsRequest()).totalSize == 0)
        }
    }

    @Test(
        "T-TEXT-2: keeps texts verbatim",
        arguments: [
            "\u{202e}right to left", "zero\u{200b}width", "e\u{301}\u{302}\u{303}", "a\r\nb\tc",
            " \t spaces ", "", "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}",
        ]
    )
    func keepsTextsVerbatim(_ title: String) async throws {
        try await withClient { client in
            let id = try client.createPost(title: title)
            let post = try client.post(id)
            #expect(Array(post.title.utf8) == Array(title.utf8))
        }
    }

    @Test("T-VER-2: ignores fields of a newer version")
    func ignoresUnknownFields() async throws {
        try await withClient { client in
            let newer = RawMessage().field(1, client.nextID()).field(500, 1)
                .field(11, RawMessage().field(1, [9]).field(77, Array("later".utf8)))
            try client.socket.send(newer.framed)
            guard case .ping(let ping) = try client.receive()?.response
            else { throw Unexpected("The call is executed.") }
            #expect(ping.payload == [9])
        }
    }
}

/// Texts of many scalars a character: the cost of counting them in a loop iteration is bounded.
@Suite(.timeLimit(.minutes(10))) struct TextWalkTests {
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
            let second = ClientFrame(id: 2, request: .importPosts(ImportPostsRequest(posts: wrong)))
            try client.socket.send(first.encoded() + second.encoded())
            _ = try client.receive()
            let answer = try client.receive()
            #expect(answer?.id == 2)
            #expect(answer?.status?.reason == .titleTooLong)
        }
    }
}

/// Titles as long as they may be.
@Suite(.timeLimit(.minutes(10))) struct LongTitleTests {
    @Test func helloTellsBothBoundsOfATitle() async throws {
        try await withClient { client in
            guard case .hello(let hello) = try client.hello().response else {
                throw Unexpected("Hello is answered.")
            }
            let limits = try #require(hello.limits)
            #expect((limits.maximumTitleLength, limits.maximumTitleByteCount) == (255, 10_200))
            let letter = "e" + String(repeating: "\u{301}", count: 19) + "!"
            let title = String(repeating: letter, count: 127)
            #expect((title.count, title.utf8.count) == (254, 5_080))
            _ = try client.createPost(title: title)
            // Few characters of many bytes: 1,024 are taken even in a feed of short titles.
            let feed = Feed(name: "short", maximumTitleLength: 1)
            _ = try client.call(.createFeed(CreateFeedRequest(feed: feed)))
            for (count, reason) in [(511, nil), (512, Reason.titleTooLong)] {
                let title = "e" + String(repeating: "\u{301}", count: count)
                let post = CreatePostRequest(feed: "short", post: Post(title: title))
                #expect(try client.call(.createPost(post)).status?.reason == reason)
            }
        }
    }

    /// Both tokens of a full page of TOP have whole titles, which decide between equal scores.
    @Test func aFullPageHasRoomForTokensOfLongTitles() async throws {
        try await withClient { client in
            let feed = Feed(name: "long", maximumTitleLength: 1_000)
            _ = try client.call(.createFeed(CreateFeedRequest(feed: feed)))
            let post = Post(
                title: String(repeating: "स्त्री", count: 1_000),
                text: String(repeating: "😀", count: 9_900),
                linkURL: "https://example.org/" + String(repeating: "x", count: 2_028)
            )
            for _ in 0..<40 {
                let request = CreatePostRequest(feed: "long", post: post)
                #expect(try client.call(.createPost(request)).status == nil)
            }
            var request = ListPostsRequest(feed: "long", pageSize: 100)
            var ids: [PostID] = []
            repeat {
                let page = try client.list(request)
                ids += page.posts.map(\.id)
                request.pageToken = page.nextPageToken
            } while !request.pageToken.isEmpty
            #expect(ids.map(\.rawValue) == Array(1...40))
        }
    }
}
