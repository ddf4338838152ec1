import FeedProto
import FeedService
import FeedTestSupport
import Testing

/// The answers to well-framed requests with bad contents; the connection stays.
///
/// The ids are those of `docs/SECURITY.md`.
@Suite(.timeLimit(.minutes(10)))
struct TextAndFieldTests {
    /// A request that is refused, and how.
    struct Refused: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var request: RawMessage
        var code = StatusCode.invalidArgument
        var reason: Reason
        var field = ""
        var isNotExecuted = true
    }

    /// CreatePost with this post.
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
                RawMessage().field(
                    1,
                    RawMessage().field(1, Array("a".utf8)).field(4, .max)
                )
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
            testDescription: "T-TEXT-3: a title of 8,200 bytes",
            request: title(
                (0..<200).flatMap { _ in Array(("e" + String(repeating: "\u{301}", count: 20)).utf8)
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
        try await withService { port in
            let client = try WireClient(port: port)
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
        try await withService { port in
            let client = try WireClient(port: port)
            let twice = RawMessage().field(1, client.nextID())
                .field(30, RawMessage().field(2, RawMessage().field(4, Array("first".utf8))))
                .field(30, RawMessage().field(2, RawMessage().field(4, Array("second".utf8))))
            try client.socket.send(twice.framed)
            guard case .post(let post) = try client.receive()?.response else {
                Issue.record("CreatePost answers with the post.")
                return
            }
            #expect(post.title == "second")
        }
    }

    @Test("T-PB-4: executes the last of two calls in one frame")
    func takesTheLastOfTwoCalls() async throws {
        try await withService { port in
            let client = try WireClient(port: port)
            let two = RawMessage().field(1, client.nextID())
                .field(30, RawMessage().field(2, RawMessage().field(4, Array("one".utf8))))
                .field(11, RawMessage().field(1, [7]))
            try client.socket.send(two.framed)
            guard case .ping(let ping) = try client.receive()?.response else {
                Issue.record("The last call is executed.")
                return
            }
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
        try await withService { port in
            let client = try WireClient(port: port)
            let id = try client.createPost(title: title)
            guard case .post(let post) = try client.call(.getPost(GetPostRequest(id: id))).response
            else {
                Issue.record("GetPost answers with the post.")
                return
            }
            #expect(Array(post.title.utf8) == Array(title.utf8))
        }
    }

    @Test("T-VER-2: ignores fields of a newer version")
    func ignoresUnknownFields() async throws {
        try await withService { port in
            let client = try WireClient(port: port)
            let newer = RawMessage().field(1, client.nextID()).field(500, 1)
                .field(11, RawMessage().field(1, [9]).field(77, Array("later".utf8)))
            try client.socket.send(newer.framed)
            guard case .ping(let ping) = try client.receive()?.response else {
                Issue.record("The call is executed.")
                return
            }
            #expect(ping.payload == [9])
        }
    }
}
