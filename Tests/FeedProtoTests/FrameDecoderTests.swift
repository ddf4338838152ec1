import CMallocHook
import FeedProto
import FeedTestSupport
import Testing

@Suite struct FrameDecoderTests {
    static let bodies: [[UInt8]] = [[1], Array(repeating: 7, count: 300), [2, 3], [4, 5, 6]]
    static let stream = bodies.flatMap(Wire.framed)

    private func frames(_ chunks: [ArraySlice<UInt8>]) throws -> [[UInt8]] {
        var decoder = FrameDecoder(maximumFrameByteCount: 300)
        var frames: [[UInt8]] = []
        for chunk in chunks {
            decoder.append(chunk)
            while let frame = try decoder.nextBody() { frames.append(frame) }
        }
        #expect(decoder.bufferedByteCount == 0)
        return frames
    }

    @Test func givesFramesOfOneAppend() throws {
        #expect(try frames([Self.stream[...]]) == Self.bodies)
    }

    @Test func givesFramesByteByByte() throws {
        #expect(try frames(Self.stream.indices.map { Self.stream[$0...$0] }) == Self.bodies)
    }

    @Test func givesFramesAtEverySplit() throws {
        for split in Self.stream.indices {
            #expect(try frames([Self.stream[..<split], Self.stream[split...]]) == Self.bodies)
        }
    }

    @Test func givesFramesOfChunksOfAnySize() throws {
        var random = SeededGenerator(seed: 1)
        for _ in 0..<200 {
            var chunks: [ArraySlice<UInt8>] = []
            var rest = Self.stream[...]
            while !rest.isEmpty {
                let count = Int.random(in: 0...min(40, rest.count), using: &random)
                chunks.append(rest.prefix(count))
                rest = rest.dropFirst(count)
            }
            #expect(try frames(chunks) == Self.bodies)
        }
    }

    @Test func takesBytesOfAnEncoder() throws {
        var encoder = FrameEncoder()
        try encoder.append(ClientFrame(id: 1, request: .listFeeds))
        var decoder = FrameDecoder()
        encoder.withBytes { decoder.append($0) }
        #expect(try decoder.nextBody() == [8, 1, 0x92, 0x03, 0])
        #expect(try decoder.nextBody() == nil)
    }

    @Test func givesFramesBeforeTheBadOne() throws {
        var decoder = FrameDecoder(maximumFrameByteCount: 10)
        decoder.append(Wire.framed([1]) + Array("GET / HTTP/1.1".utf8))
        #expect(try decoder.nextBody() == [1])
        #expect(throws: FrameError.tooLarge(length: 0x4745_5420, limit: 10)) {
            try decoder.nextBody()
        }
    }

    /// After any number of frames the decoder has the bytes of the incomplete frame only.
    @Test func holdsOnlyTheUnfinishedFrame() throws {
        var decoder = FrameDecoder()
        for _ in 0..<10_000 {
            decoder.append(Wire.framed([1, 2, 3]) + [0, 0])
            #expect(try decoder.nextBody() == [1, 2, 3])
            #expect(decoder.bufferedByteCount == 2)
            decoder.append([0, 1, 9] as [UInt8])
            #expect(try decoder.nextBody() == [9])
        }
        #expect(decoder.bufferedByteCount == 0)
    }
}

@Suite struct FrameScannerTests {
    let scanner = FrameScanner(maximumFrameByteCount: 1000)

    @Test(arguments: 0..<7)
    func waitsForWholeFrame(count: Int) throws {
        let bytes = Array(Wire.framed([1, 2, 3]).prefix(count))
        #expect(try scanner.nextBody(in: bytes.span, at: 0) == nil)
    }

    @Test func findsFramesOneAfterAnother() throws {
        let bytes = Wire.framed([1, 2, 3]) + Wire.framed([4]) + [0, 0]
        #expect(try scanner.nextBody(in: bytes.span, at: 0) == 4..<7)
        #expect(try scanner.nextBody(in: bytes.span, at: 7) == 11..<12)
        #expect(try scanner.nextBody(in: bytes.span, at: 12) == nil)
        #expect(try scanner.nextBody(in: bytes.span, at: bytes.count) == nil)
    }

    @Test func acceptsFrameAtLimit() throws {
        let bytes = Wire.framed([UInt8](repeating: 1, count: 1000))
        #expect(try scanner.nextBody(in: bytes.span, at: 0) == 4..<1004)
    }

    @Test func rejectsEmptyFrame() {
        #expect(throws: FrameError.empty) { try scanner.nextBody(in: [0, 0, 0, 0].span, at: 0) }
    }

    /// A length alone is enough: nothing waits for bytes that will not be accepted.
    @Test(
        arguments: [
            ([0, 0, 0x03, 0xE9], 1001),
            ([0xFF, 0xFF, 0xFF, 0xFF], 0xFFFF_FFFF),
            ([0x80, 0, 0, 0], 0x8000_0000),
            (Array("GET ".utf8), 0x4745_5420),
            ([0x16, 0x03, 0x01, 0x02], 0x1603_0102),
        ] as [([UInt8], UInt64)]
    )
    func rejectsLengthOverLimit(header: [UInt8], length: UInt64) {
        #expect(throws: FrameError.tooLarge(length: length, limit: 1000)) {
            try scanner.nextBody(in: header.span, at: 0)
        }
    }

    @Test func namesLengthAndLimit() {
        let error = FrameError.tooLarge(length: 1_048_577, limit: 1_048_576)
        #expect(error.description == "Frame of 1048577 bytes exceeds the limit of 1048576 bytes.")
    }
}

/// A frame cannot make the decoder take more memory than the limit, or keep what it took.
@Suite struct DecoderMemoryTests {
    private static let limitByteCount = 2 * (1 << 20) + (256 << 10)
    private static let idleByteCount = 64 << 10
    private let vote = Wire.number(1, 7) + Wire.bytes(40, Wire.number(1, 5) + Wire.number(2, 1))

    /// The arena of protobuf-c keeps its first block; the arrays of the codec in Swift keep as much at most.
    private static func isIdle(_ byteCount: Int) -> Bool {
        MessageDecoder.usesProtobufC ? byteCount == idleByteCount : byteCount <= idleByteCount
    }

    @Test func refusesFrameFullOfUnknownFields() throws {
        let body = Array(repeatElement(Wire.number(15, 1), count: 524_288).joined())
        #expect(body.count == 1 << 20)
        var decoder = MessageDecoder()
        #expect(throws: MessageError.tooManyFields(limitByteCount: Self.limitByteCount)) {
            _ = try decoder.decodeClientFrame(body)
        }
        #expect(Self.isIdle(decoder.reservedByteCount))
        #expect(try decoder.decodeClientFrame(vote).id == 7)
    }

    @Test func refusesFrameFullOfVotes() throws {
        let votes = Array(repeatElement(Wire.bytes(1, Wire.number(1, 1)), count: 200_000).joined())
        var decoder = MessageDecoder()
        #expect(throws: MessageError.tooManyFields(limitByteCount: Self.limitByteCount)) {
            _ = try decoder.decodeClientFrame(Wire.number(1, 7) + Wire.bytes(41, votes))
        }
        #expect(Self.isIdle(decoder.reservedByteCount))
    }

    @Test func decodesTextThatFillsFrame() throws {
        let title = String(repeating: "a", count: (1 << 20) - 100)
        let post = Wire.bytes(30, Wire.bytes(2, Wire.text(4, title)))
        var decoder = MessageDecoder()
        let frame = try decoder.decodeClientFrame(Wire.number(1, 7) + post)
        #expect(frame.request == .createPost(CreatePostRequest(post: Post(title: title))))
        #expect(Self.isIdle(decoder.reservedByteCount))
    }

    @Test func decodesBatchFarOverItsLimit() throws {
        let ids = (1...50_000).map(PostID.init(rawValue:))
        let bytes = try ClientFrame(id: 7, request: .batchGetPosts(.init(ids: ids))).encoded()
        var decoder = MessageDecoder()
        let frame = try decoder.decodeClientFrame(Array(bytes.dropFirst(4)))
        #expect(frame.request == .batchGetPosts(BatchGetPostsRequest(ids: ids)))
    }

    @Test func takesNoMemoryBeforeFirstUse() {
        #expect(MessageDecoder().reservedByteCount == 0)
    }

    /// Without protobuf-c there is no such answer: an array that gets no memory ends the process.
    @Test(.enabled(if: malloc_hook_is_active() && MessageDecoder.usesProtobufC))
    func saysSoWhereThereIsNoMemory() throws {
        var decoder = MessageDecoder()
        // Nothing else runs meanwhile: an expectation may ask for as much memory, and ends the process.
        malloc_hook_fail_from(Self.idleByteCount)
        let refused = Result { try decoder.decodeClientFrame(vote) }
        malloc_hook_fail_from(.max)
        #expect(throws: MessageError.outOfMemory) { _ = try refused.get() }
        #expect(try decoder.decodeClientFrame(vote).id == 7)
    }
}

/// What protobuf permits and a writer of bytes by hand may do.
@Suite struct LenientDecodingTests {
    private let id = Wire.number(1, 7)

    private func decode(_ body: [UInt8]) throws -> ClientFrame {
        var decoder = MessageDecoder()
        return try decoder.decodeClientFrame(body)
    }

    @Test func ignoresUnknownFields() throws {
        let unknown =
            Wire.number(2000, 1) + Wire.bytes(999, [1, 2, 3]) + Wire.number(536_870_911, 1)
        let vote = Wire.bytes(40, unknown + Wire.number(1, 5) + Wire.number(2, 2))
        let frame = try decode(unknown + id + vote + unknown)
        #expect(
            frame
                == ClientFrame(
                    id: 7,
                    request: .castVote(CastVoteRequest(postID: 5, direction: .down))
                )
        )
    }

    @Test(arguments: [15, 17, 43, 49, 59, 1000] as [UInt64])
    func hasNoRequestForUnknownMethod(field: UInt64) throws {
        let frame = try decode(id + Wire.bytes(field, [1, 2, 3]))
        #expect(frame == ClientFrame(id: 7, request: nil))
    }

    @Test func hasNoRequestWithoutBody() throws {
        #expect(try decode(id) == ClientFrame(id: 7, request: nil))
    }

    @Test func hasNoResponseForUnknownAnswer() throws {
        var decoder = MessageDecoder()
        let frame = try decoder.decodeServerFrame(id + Wire.bytes(21, [1]))
        #expect(frame == ServerFrame(id: 7, revision: 0, response: nil))
    }

    @Test func takesFieldsInAnyOrder() throws {
        let vote = Wire.bytes(40, Wire.number(2, 1) + Wire.number(1, 5))
        let frame = try decode(vote + Wire.number(3, 9) + id)
        #expect(
            frame
                == ClientFrame(
                    id: 7,
                    request: .castVote(CastVoteRequest(postID: 5, direction: .up)),
                    sequence: 9
                )
        )
    }

    @Test func takesLastOfRepeatedNumber() throws {
        #expect(try decode(Wire.number(1, 3) + id) == ClientFrame(id: 7, request: nil))
    }

    @Test func takesLastMemberOfOneof() throws {
        let vote = Wire.bytes(40, Wire.number(1, 5))
        let get = Wire.bytes(31, Wire.number(1, 6))
        let hello = Wire.bytes(10, Wire.text(2, "name") + Wire.bytes(3, [1, 2]))
        let getPost = Request.getPost(GetPostRequest(id: 6))
        #expect(try decode(id + vote + get).request == getPost)
        #expect(try decode(id + hello + vote + hello + get).request == getPost)
        #expect(try decode(id + get + get).request == getPost)
    }

    /// Other decoders merge the parts.
    @Test func takesLastPartOfSplitCall() throws {
        let body = id + Wire.bytes(40, Wire.number(1, 5)) + Wire.bytes(40, Wire.number(2, 1))
        let vote = CastVoteRequest(postID: 0, direction: .up)
        #expect(try decode(body).request == .castVote(vote))
    }

    /// Protobuf merges a submessage that is given twice, field by field.
    @Test func mergesSubmessageGivenTwice() throws {
        let first = Wire.bytes(2, Wire.text(4, "old") + Wire.text(5, "text"))
        let second = Wire.bytes(2, Wire.text(4, "new") + Wire.bytes(3, Wire.text(2, "Ada")))
        let third = Wire.bytes(2, Wire.bytes(3, Wire.number(1, 4)))
        let frame = try decode(id + Wire.bytes(30, first + second + third))
        let post = Post(author: User(id: 4, displayName: "Ada"), title: "new", text: "text")
        #expect(frame.request == .createPost(CreatePostRequest(post: post)))
    }

    @Test func takesNumbersPackedOrNot() throws {
        let body =
            Wire.bytes(1, [1, 2]) + Wire.number(1, 3) + Wire.bytes(1, []) + Wire.number(1, 4)
        let frame = try decode(id + Wire.bytes(32, body))
        #expect(frame.request == .batchGetPosts(BatchGetPostsRequest(ids: [1, 2, 3, 4])))
    }

    @Test func takesEmptyMessages() throws {
        #expect(try decode(id + Wire.bytes(30, [])).request == .createPost(.init(post: nil)))
        #expect(
            try decode(id + Wire.bytes(40, [])).request
                == .castVote(CastVoteRequest(postID: 0, direction: .unspecified))
        )
        #expect(try decode(id + Wire.bytes(53, [])).request == .createFeed(.init(feed: nil)))
    }

    /// An enum's number stays what it was, so that a service can refuse it.
    @Test(arguments: [0, 3, 4, 77, 0x7FFF_FFFF, UInt64(bitPattern: -1)])
    func keepsUnknownEnumNumbers(number: UInt64) throws {
        let frame = try decode(id + Wire.bytes(40, Wire.number(1, 5) + Wire.number(2, number)))
        guard case .castVote(let vote) = frame.request else { throw Unexpected(frame.request) }
        #expect(vote.direction.rawValue == Int32(truncatingIfNeeded: number))
        #expect(vote.direction.isKnown == (number <= 3))
    }

    /// protobuf-c keeps the low 32 bits; the range check behind it has to do the rest.
    @Test func truncatesWideNumberInNarrowField() throws {
        let frame = try decode(id + Wire.number(2, UInt64(bitPattern: -5)))
        #expect(frame.timeoutMilliseconds == UInt32(bitPattern: -5))
    }

    @Test func namesKnownEnumNumbers() {
        #expect(Order.hot.description == "HOT")
        #expect(Order(rawValue: 9).description == "9")
        #expect(StatusCode.unauthenticated.description == "UNAUTHENTICATED")
        #expect(StatusCode(rawValue: -1).description == "-1")
    }
}

/// Bytes that are no protobuf of the contract are refused as a whole.
@Suite struct MalformedMessageTests {
    private static let id = Wire.number(1, 7)
    private static let vote = Wire.bytes(40, Wire.number(1, 5) + Wire.number(2, 1))

    static let bodies: [(String, [UInt8])] = [
        ("unterminated varint", id + Wire.tag(2, type: 0) + [0x80]),
        ("varint of 11 bytes", id + Wire.tag(2, type: 0) + Array(repeating: 0x80, count: 10) + [1]),
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
