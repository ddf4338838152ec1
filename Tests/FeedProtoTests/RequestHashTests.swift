import FeedProto
import FeedTestSupport
import Testing

/// Distinguishes a request from another one under the same sequence.
@Suite struct RequestHashTests {
    /// The hash of a frame as a service finds it, of what was received.
    private static func hash(_ bytes: [UInt8]) throws -> UInt32 {
        var decoder = MessageDecoder()
        let body = Array(bytes.dropFirst(4))
        return try unsafe decoder.decodeClientFrame(body).requestHash(of: body.span.bytes)
    }

    /// The hash of a numbered frame's content as a service finds it.
    private static func contentHash(_ bytes: [UInt8]) throws -> UInt32 {
        var decoder = MessageDecoder()
        let body = Array(bytes.dropFirst(4))
        return try unsafe decoder.decodeCall(body.span.bytes).contentHash
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

    /// Version 0.1 recorded the hash of the bytes; what an encoder writes is recognised since.
    @Test func ofContentIsThatOfTheBytesThatEncodersWrite() throws {
        for request in Samples.requests {
            let bytes = try ClientFrame(id: 3, request: request, sequence: 7).encoded()
            #expect(try Self.contentHash(bytes) == Self.hash(bytes))
        }
        let request = Request.createPost(CreatePostRequest(post: Post(title: "Apple")))
        let numbered = try ClientFrame(id: 1, request: request, sequence: 7).encoded()
        #expect(try Self.contentHash(numbered) == 1_218_320_575)
        let plain = try ClientFrame(id: 1, request: request).encoded()
        #expect(try Self.contentHash(plain) == 0)
    }

    @Test func ofContentIsTheSameInAnyOrderOfFields() throws {
        let title = Wire.bytes(4, Array("Apple".utf8))
        let link = Wire.bytes(6, Array("http://a".utf8))
        let feed = Wire.bytes(1, Array("posts".utf8))
        let envelope = Wire.number(1, 1) + Wire.number(3, 7)
        let calls = [
            feed + Wire.bytes(2, title + link),
            Wire.bytes(2, link + title) + feed,
            // A message in two parts, a default that is written out, a value that is replaced.
            Wire.bytes(2, link) + feed + Wire.bytes(2, title),
            feed + Wire.bytes(2, title + link + Wire.number(12, 0)),
            feed + Wire.bytes(2, Wire.bytes(4, [0x61]) + title + link),
        ]
        let hashes = try calls.map {
            try Self.contentHash([0, 0, 0, 0] + envelope + Wire.bytes(30, $0))
        }
        #expect(Set(hashes).count == 1)
        let other = feed + Wire.bytes(2, title + link + Wire.number(12, 1))
        let otherHash = try Self.contentHash([0, 0, 0, 0] + envelope + Wire.bytes(30, other))
        #expect(otherHash != hashes[0])
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
        for post in (1...5000).map(PostID.init(rawValue:)) {
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

    /// A service that sends another user's vote under the same sequence has not sent it again.
    @Test func differsBetweenUsersOnAllWays() throws {
        for request in Samples.requests {
            var hashes: Set<UInt32> = []
            for user in [0, 1, 2, .ofService(0)] as [UserID] {
                let frame = ClientFrame(id: 1, request: request, sequence: 7, actingUserID: user)
                let bytes = try frame.encoded()
                try hashes.insert(Self.hash(bytes))
                #expect(try Self.contentHash(bytes) == Self.hash(bytes))
            }
            #expect(hashes.count == 4)
        }
        let vote = CastVoteRequest(postID: 300, direction: .down)
        let frame = VoteFrame(id: 1, vote: vote, sequence: 7, actingUserID: .ofService(0))
        #expect(try Self.hash(ClientFrame(frame).encoded()) == frame.requestHash)
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
