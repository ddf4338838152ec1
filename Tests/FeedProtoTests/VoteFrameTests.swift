import FeedProto
import FeedTestSupport
import Testing

/// The way of votes past protobuf-c: it may leave a frame to it, and never read another frame.
@Suite struct VoteFrameTests {
    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func scansEveryPlainVote(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<4000 {
            let frame = VoteFrame.random(using: &random)
            let body = try Array(ClientFrame(frame).encoded().dropFirst(4))
            #expect(scan(body) == frame, "seed \(seed): \(frame)")
            // For any bytes around the body, and any number of bytes behind it.
            let before = Int.random(in: 0...9, using: &random)
            let after = Int.random(in: 0...9, using: &random)
            #expect(scan(body, before: before, after: after) == frame, "seed \(seed): \(frame)")
        }
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func neverReadsAnotherFrameThanTheDecoder(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var decoder = MessageDecoder()
        var scannedCount = 0
        var leftCount = 0
        for _ in 0..<20_000 {
            let frame = VoteFrame.random(using: &random)
            var body = try Array(ClientFrame(frame).encoded().dropFirst(4))
            for _ in 0..<Int.random(in: 0...3, using: &random) { damage(&body, &random) }
            guard let scanned = scan(body, after: Int.random(in: 0...9, using: &random)) else {
                leftCount += 1
                continue
            }
            scannedCount += 1
            let decoded = try? decoder.decodeClientFrame(body)
            #expect(decoded == ClientFrame(scanned), "seed \(seed): \(body)")
        }
        #expect(scannedCount > 5000 && leftCount > 5000, "Both outcomes are tried; seed \(seed).")
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func readsNoiseAsTheDecoderDoes(seed: UInt64) {
        // Bytes that a vote is made of, so that some of the noise is one.
        let alphabet: [UInt8] = [0, 1, 2, 3, 4, 5, 8, 0x10, 0x18, 0x20, 0x28, 0x80, 0xC2, 0xFF]
        var random = SeededGenerator(seed: seed)
        var decoder = MessageDecoder()
        for _ in 0..<200_000 {
            var body: [UInt8] = Bool.random(using: &random) ? [8, 1] : []
            if Bool.random(using: &random) { body += [0xC2, 2, 4] }
            for _ in 0..<Int.random(in: 0...6, using: &random) {
                body.append(alphabet.randomElement(using: &random) ?? 0)
            }
            guard let scanned = scan(body) else { continue }
            let decoded = try? decoder.decodeClientFrame(body)
            #expect(decoded == ClientFrame(scanned), "seed \(seed): \(body)")
        }
    }

    @Test(arguments: unusual)
    func leavesToTheDecoder(name: String, parts: [[UInt8]]) {
        let body = Array(parts.joined())
        #expect(scan(body) == nil, "\(name)")
        #expect(scan(body, after: 9) == nil, "\(name), with bytes behind it")
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func encodesVotesAsTheirFrames(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var encoder = FrameEncoder()
        var expected: [UInt8] = []
        for _ in 0..<4000 {
            var frame = VoteFrame.random(using: &random)
            // What a scan leaves alone can be written all the same.
            if Int.random(in: 0..<4, using: &random) == 0 { frame.id = 0 }
            if Int.random(in: 0..<4, using: &random) == 0 {
                let number = Int32(truncatingIfNeeded: UInt64.anyWidth(using: &random))
                frame.vote.direction = VoteDirection(rawValue: number)
            }
            try encoder.append(frame)
            expected += try ClientFrame(frame).encoded()
        }
        #expect(encoder.bytes() == expected, "seed \(seed)")
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func encodesAnswersAsTheirFrames(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var encoder = FrameEncoder()
        var expected: [UInt8] = []
        for _ in 0..<4000 {
            let id = UInt64.anyWidth(using: &random)
            let revision = UInt64.anyWidth(using: &random)
            let answer = CastVoteResponse(
                postID: .anyWidth(using: &random),
                score: Int64(bitPattern: .anyWidth(using: &random)),
                upvoteCount: .anyWidth(using: &random),
                downvoteCount: .anyWidth(using: &random),
                vote: VoteDirection(rawValue: .random(in: -1...4, using: &random))
            )
            try encoder.append(vote: answer, id: id, revision: revision)
            expected += try ServerFrame(id: id, revision: revision, response: .castVote(answer))
                .encoded()
        }
        #expect(encoder.bytes() == expected, "seed \(seed)")
    }

    @Test func encodesNoVoteOverTheLimit() throws {
        let frame = VoteFrame(id: 1, vote: CastVoteRequest(postID: 2, direction: .up))
        var encoder = FrameEncoder(maximumFrameByteCount: 8)
        #expect(throws: FrameError.tooLarge(length: 9, limit: 8)) { try encoder.append(frame) }
        #expect(encoder.byteCount == 0)
        encoder = FrameEncoder(maximumFrameByteCount: 9)
        try encoder.append(frame)
        #expect(encoder.byteCount == 13)
    }

    /// The vote in `body`, with other bytes before and behind it.
    private func scan(_ body: [UInt8], before: Int = 0, after: Int = 0) -> VoteFrame? {
        let bytes = .init(repeating: 0x81, count: before) + body + .init(repeating: 1, count: after)
        return unsafe VoteFrame(scanning: bytes.span.bytes, in: before..<(before + body.count))
    }

    private func damage(_ body: inout [UInt8], _ random: inout SeededGenerator) {
        guard let place = body.indices.randomElement(using: &random) else { return }
        switch Int.random(in: 0..<5, using: &random) {
        case 0: body[place] = UInt8.random(in: 0...255, using: &random)
        case 1: body[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 2: body.remove(at: place)
        case 3: body.insert(UInt8.random(in: 0...255, using: &random), at: place)
        default: body.removeSubrange(place...)
        }
    }

    /// Eight bytes of a number that goes on.
    private static let eightFollowed = [UInt8](repeating: 0x81, count: 8)

    /// What a scan must leave alone, in parts.
    private static let unusual: [(String, [[UInt8]])] = [
        ("empty", []),
        ("no vote", [id]),
        ("no id", [vote(7, 1)]),
        ("an id of zero", [[8, 0], vote(7, 1)]),
        ("an id with a needless byte", [[8, 0x89, 0], vote(7, 1)]),
        ("an id with a needless ninth byte", [[8], eightFollowed, [0], vote(7, 1)]),
        ("an id with a needless tenth byte", [[8], eightFollowed, [0x81, 0], vote(7, 1)]),
        ("an id of eleven bytes", [[8], .init(repeating: 0x81, count: 10), [1], vote(7, 1)]),
        ("an id over 64 bits", [[8], .init(repeating: 0xFF, count: 9), [2], vote(7, 1)]),
        ("a second id", [id, id, vote(7, 1)]),
        ("fields out of order", [vote(7, 1), id]),
        ("a timeout of zero", [id, [0x10, 0], vote(7, 1)]),
        ("a timeout over 32 bits", [id, Wire.number(2, 1 << 32), vote(7, 1)]),
        ("an unknown field", [id, Wire.number(6, 1), vote(7, 1)]),
        ("a user before the sequence", [id, Wire.number(5, 1), Wire.number(3, 1), vote(7, 1)]),
        ("a user of zero", [id, [0x28, 0], vote(7, 1)]),
        ("another call", [id, Wire.bytes(41, [8, 7])]),
        ("a second vote", [id, vote(7, 1), vote(7, 1)]),
        ("a post of zero", [id, Wire.bytes(40, [8, 0, 16, 1])]),
        ("no post", [id, Wire.bytes(40, [16, 1])]),
        ("no direction", [id, Wire.bytes(40, [8, 7])]),
        ("a direction without a name", [id, vote(7, 4)]),
        ("a direction below zero", [id, vote(7, .max)]),
        ("a direction before the post", [id, Wire.bytes(40, [16, 1, 8, 7])]),
        ("an unknown field in the vote", [id, Wire.bytes(40, [8, 7, 16, 1, 24, 1])]),
        ("a length with a needless byte", [id, [0xC2, 2, 0x84, 0, 8, 7, 16, 1]]),
        ("a truncated vote", [id, [0xC2, 2, 4, 8, 7, 16]]),
        ("a vote that ends early", [id, [0xC2, 2, 3, 8, 7, 16, 1]]),
        ("a truncated number", [id, [0xC2, 2, 4, 8, 7, 16, 0x81]]),
    ]

    private static let id = Wire.number(1, 9)

    private static func vote(_ postID: UInt64, _ direction: UInt64) -> [UInt8] {
        Wire.bytes(40, Wire.number(1, postID) + Wire.number(2, direction))
    }
}
