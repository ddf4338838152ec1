import FeedProto
import Testing

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

    @Test(arguments: [15, 24, 29, 43, 59, 1000] as [UInt64])
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
                == .castVote(
                    CastVoteRequest(postID: 0, direction: .unspecified)
                )
        )
        #expect(try decode(id + Wire.bytes(53, [])).request == .createFeed(.init(feed: nil)))
    }

    /// An enum's number stays what it was, so that a service can refuse it.
    @Test(arguments: [0, 3, 4, 77, 0x7FFF_FFFF, UInt64(bitPattern: -1)])
    func keepsUnknownEnumNumbers(number: UInt64) throws {
        let frame = try decode(id + Wire.bytes(40, Wire.number(1, 5) + Wire.number(2, number)))
        guard case .castVote(let vote) = frame.request else {
            Issue.record("\(String(describing: frame.request))")
            return
        }
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
