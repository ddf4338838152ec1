import FeedProto
import Testing

/// Bytes that are no protobuf of the contract are refused as a whole.
@Suite struct MalformedMessageTests {
    private static let id = Wire.number(1, 7)
    private static let vote = Wire.bytes(40, Wire.number(1, 5) + Wire.number(2, 1))

    static let bodies: [(String, [UInt8])] = [
        ("unterminated varint", id + Wire.tag(2, type: 0) + [0x80]),
        (
            "varint of 11 bytes",
            id + Wire.tag(2, type: 0) + Array(repeating: 0x80, count: 10) + [1]
        ),
        ("unterminated tag", id + [0x80, 0x80]),
        ("tag of 6 bytes", id + Array(repeating: 0x80, count: 5) + [1, 0]),
        ("tag without value", id + Wire.tag(2, type: 0)),
        ("length beyond the frame", id + Wire.tag(40, type: 2) + Wire.varint(100) + [8, 5]),
        ("length of 2^63", id + Wire.tag(40, type: 2) + Wire.varint(1 << 63)),
        ("length of 2^32", id + Wire.tag(40, type: 2) + Wire.varint(1 << 32)),
        ("inner length beyond its message", id + Wire.bytes(10, [0x12, 10, 97])),
        ("varint beyond its message", id + Wire.bytes(40, [0x08, 0x80])),
        ("group start", id + Wire.tag(99, type: 3)),
        ("group end", id + Wire.tag(99, type: 4)),
        ("wire type 6", id + Wire.tag(99, type: 6) + [0]),
        ("wire type 7", id + Wire.tag(99, type: 7) + [0]),
        ("group start of a known field", id + Wire.tag(40, type: 3)),
        ("field 0", id + [0x00, 1]),
        ("field 0 as bytes", id + Wire.bytes(0, [1, 2])),
        ("field 0 in a padded tag", id + [0x80, 0x80, 0x00, 1]),
        ("field 0 in a submessage", id + Wire.bytes(40, Wire.number(1, 5) + [0x80, 0x00, 1])),
        ("field 0 in an empty submessage", id + Wire.bytes(50, [0x80, 0x00, 1])),
        ("field 0 two levels down", id + Wire.bytes(30, Wire.bytes(2, [0x80, 0x00, 1]))),
        ("field 0 in a repeated one", id + Wire.bytes(41, Wire.bytes(1, [0x80, 0x00, 1]))),
        ("number field as bytes", Wire.bytes(1, [7]) + vote),
        ("number field as fixed64", id + Wire.tag(2, type: 1) + Array(repeating: 0, count: 8)),
        ("message field as number", id + Wire.number(40, 1)),
        ("text field as number", id + Wire.bytes(10, Wire.number(2, 1))),
        ("truncated fixed64", id + Wire.tag(99, type: 1) + [1, 2, 3]),
        ("truncated fixed32", id + Wire.tag(99, type: 5) + [1, 2, 3]),
        ("packed ids that end in a varint", id + Wire.bytes(32, Wire.bytes(1, [1, 0x80]))),
        ("text of another protocol", Array("GET / HTTP/1.1\r\n\r\n".utf8)),
    ]

    @Test(arguments: bodies.indices)
    func refuses(index: Int) throws {
        let (name, body) = Self.bodies[index]
        var decoder = MessageDecoder()
        #expect(throws: MessageError.malformed(byteCount: body.count), "\(name)") {
            _ = try decoder.decodeClientFrame(body)
        }
        let next = try decoder.decodeClientFrame(Self.id + Self.vote)
        #expect(next.id == 7, "The decoder is as good as new.")
    }

    @Test func refusesAnswersToo() {
        var decoder = MessageDecoder()
        for body in [Wire.number(1, 1) + [0, 1], Wire.bytes(3, [0, 1]), Wire.number(40, 1)] {
            #expect(throws: MessageError.malformed(byteCount: body.count)) {
                _ = try decoder.decodeServerFrame(body)
            }
        }
    }

    /// The control of the above: what is next to it in form is accepted.
    @Test func acceptsWhatIsWellFormed() throws {
        var decoder = MessageDecoder()
        for body in [
            Self.id + Self.vote,
            Self.id + Wire.number(2, .max) + Self.vote,
            Self.id + Wire.tag(99, type: 1) + Array(repeating: 0, count: 8) + Self.vote,
            Self.id + Wire.tag(99, type: 5) + [1, 2, 3, 4] + Self.vote,
            Self.id + Wire.tag(2, type: 0) + Array(repeating: 0x80, count: 9) + [1] + Self.vote,
        ] {
            let frame = try decoder.decodeClientFrame(body)
            #expect(frame.request == .castVote(CastVoteRequest(postID: 5, direction: .up)))
        }
    }

    @Test func saysWhatHappened() {
        #expect(
            MessageError.malformed(byteCount: 3).description
                == "Frame of 3 bytes is not a message of the contract."
        )
    }
}
