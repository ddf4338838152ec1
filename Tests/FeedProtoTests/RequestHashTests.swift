import FeedProto
import FeedTestSupport
import Testing

/// What tells a request from another that has its sequence.
@Suite struct RequestHashTests {
    /// The hash of a frame as a service finds it, of what was received.
    private static func hash(_ bytes: [UInt8]) throws -> UInt32 {
        var decoder = MessageDecoder()
        let body = Array(bytes.dropFirst(4))
        return try decoder.decodeClientFrame(body).requestHash(of: body)
    }

    private static func hash(
        _ request: Request,
        id: UInt64 = 1,
        timeout: UInt32 = 0
    ) throws -> UInt32 {
        let frame = ClientFrame(id: id, request: request, timeoutMilliseconds: timeout, sequence: 7)
        return try hash(frame.encoded())
    }

    /// The numbers are kept in journals; another would make a repeat another call.
    @Test func staysAsItIs() throws {
        #expect(CastVoteRequest(postID: 1, direction: .up).requestHash == 164_261_459)
        #expect(CastVoteRequest(postID: 300, direction: .down).requestHash == 146_037_003)
        #expect(
            try Self.hash(.createPost(CreatePostRequest(post: Post(title: "Apple"))))
                == 1_218_320_575
        )
        #expect(try Self.hash(.deletePost(DeletePostRequest(id: 9))) == 92_682_570)
    }

    @Test func ignoresTheEnvelope() throws {
        for request in Samples.requests {
            #expect(try Self.hash(request) == Self.hash(request, id: 900, timeout: 5))
        }
    }

    @Test func differsBetweenRequests() throws {
        let hashes = try Samples.requests.map { try Self.hash($0) }
        #expect(Set(hashes).count == hashes.count)
    }

    /// Two in ten thousand votes of a range that clients use have one hash by chance, if any.
    @Test func differsBetweenVotes() {
        var hashes: Set<UInt32> = []
        for post in 1...5000 as ClosedRange<UInt64> {
            for direction in [VoteDirection.up, .down] {
                hashes.insert(CastVoteRequest(postID: post, direction: direction).requestHash)
            }
        }
        #expect(hashes.count >= 9998)
    }

    @Test func ofAVoteIsTheSameOnBothWays() throws {
        let vote = CastVoteRequest(postID: 300, direction: .down)
        let call = Wire.bytes(40, Wire.number(1, 300) + Wire.number(2, 2))
        let swapped = Wire.bytes(40, Wire.number(2, 2) + Wire.number(1, 300))
        for body in [call, swapped, call + Wire.number(1000, 1)] {
            #expect(try Self.hash([0, 0, 0, 0] + Wire.number(1, 1) + body) == vote.requestHash)
        }
    }

    @Test func seesEveryByteOfACall() throws {
        let post = Post(title: "title", text: String(repeating: "x", count: 41))
        let bytes = try ClientFrame(id: 1, request: .createPost(CreatePostRequest(post: post)))
            .encoded()
        let plain = try Self.hash(bytes)
        for place in bytes.indices where bytes[place] == UInt8(ascii: "x") {
            var changed = bytes
            changed[place] = UInt8(ascii: "y")
            #expect(try Self.hash(changed) != plain, "byte \(place)")
        }
    }
}
