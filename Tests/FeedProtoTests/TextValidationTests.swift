import FeedProto
import FeedTestSupport
import Testing

/// Texts are UTF-8 without NUL; anything else names the frame and the field.
@Suite struct TextValidationTests {
    static let badTexts: [(String, [UInt8])] = [
        ("NUL", [0]),
        ("NUL at the end", [97, 98, 0]),
        ("NUL after 40 bytes", Array(repeating: 97, count: 40) + [0, 97]),
        ("lone continuation", [0x80]),
        ("truncated", [0xE2, 0x82]),
        ("overlong slash", [0xC0, 0xAF]),
        ("overlong NUL", [0xC0, 0x80]),
        ("overlong of 3 bytes", [0xE0, 0x80, 0xAF]),
        ("surrogate", [0xED, 0xA0, 0x80]),
        ("surrogate pair", [0xED, 0xA0, 0xBD, 0xED, 0xB8, 0x80]),
        ("above U+10FFFF", [0xF4, 0x90, 0x80, 0x80]),
        ("byte FE", [0xFE]),
        ("Latin-1 after 40 bytes", Array(repeating: 97, count: 40) + [0xE9]),
    ]

    @Test(arguments: badTexts.indices)
    func refusesBadText(index: Int) throws {
        let (name, text) = Self.badTexts[index]
        var decoder = MessageDecoder()
        let post = Wire.bytes(2, Wire.bytes(4, text))
        #expect(throws: MessageError.badText(id: 7, field: "post.title"), "\(name)") {
            _ = try decoder.decodeClientFrame(Wire.number(1, 7) + Wire.bytes(30, post))
        }
    }

    static let goodTexts = [
        "", "a", "\r\n\t\u{1}\u{7F}", "é", "€", "🍎", "\u{FEFF}\u{202E}\u{200B}", "\u{FFFF}",
        "\u{10FFFF}", "e\u{301}\u{301}\u{301}", String(repeating: "🍎", count: 10_000),
    ]

    @Test(arguments: goodTexts.indices)
    func keepsGoodTextVerbatim(index: Int) throws {
        let text = Self.goodTexts[index]
        var decoder = MessageDecoder()
        let post = Wire.bytes(2, Wire.text(4, text))
        let frame = try decoder.decodeClientFrame(Wire.number(1, 7) + Wire.bytes(30, post))
        guard case .createPost(let request) = frame.request
        else { throw Unexpected(frame.request) }
        #expect(request.post.map { Array($0.title.utf8) } == Array(text.utf8))
    }

    /// The path of every text in a request, as a client has to look for it.
    @Test(arguments: [
        (Wire.bytes(10, Wire.bytes(2, [0xFF])), "client_name"),
        (Wire.bytes(30, Wire.bytes(1, [0xFF])), "feed"),
        (Wire.bytes(30, Wire.bytes(2, Wire.bytes(2, [0xFF]))), "post.feed"),
        (
            Wire.bytes(30, Wire.bytes(2, Wire.bytes(3, Wire.bytes(2, [0xFF])))),
            "post.author.display_name"
        ),
        (Wire.bytes(30, Wire.bytes(2, Wire.bytes(5, [0xFF]))), "post.text"),
        (Wire.bytes(30, Wire.bytes(2, Wire.bytes(6, [0xFF]))), "post.link_url"),
        (Wire.bytes(30, Wire.bytes(2, Wire.bytes(7, [0xFF]))), "post.thumbnail_url"),
        (Wire.bytes(34, Wire.bytes(1, Wire.bytes(8, [0xFF]))), "post.image_url"),
        (Wire.bytes(33, Wire.bytes(1, [0xFF])), "feed"),
        (Wire.bytes(39, Wire.bytes(1, [0xFF])), "feed"),
        (
            Wire.bytes(39, Wire.bytes(2, []) + Wire.bytes(2, Wire.bytes(4, [0xFF]))),
            "posts[1].title"
        ),
        (Wire.bytes(53, Wire.bytes(1, Wire.bytes(1, [0xFF]))), "feed.name"),
    ])
    func namesPath(body: [UInt8], field: String) {
        var decoder = MessageDecoder()
        #expect(throws: MessageError.badText(id: 7, field: field)) {
            _ = try decoder.decodeClientFrame(Wire.number(1, 7) + body)
        }
    }

    @Test func namesPathInRepeatedField() {
        var decoder = MessageDecoder()
        let page = Wire.bytes(33, Wire.bytes(1, []) + Wire.bytes(1, Wire.bytes(4, [0xFF])))
        #expect(throws: MessageError.badText(id: 7, field: "posts[1].title")) {
            _ = try decoder.decodeServerFrame(Wire.number(1, 7) + page)
        }
    }

    @Test func keepsBytesThatAreNoText() throws {
        let token: [UInt8] = [0, 0xFF, 0xFE, 0]
        var decoder = MessageDecoder()
        let body = Wire.number(1, 7) + Wire.bytes(33, Wire.bytes(5, token))
        let frame = try decoder.decodeClientFrame(body)
        #expect(frame.request == .listPosts(ListPostsRequest(pageToken: token)))
    }
}
