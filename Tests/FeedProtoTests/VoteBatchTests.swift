import FeedProto
import FeedTestSupport
import Testing

/// The way of batches past protobuf-c: it may leave a frame to it, and never read another frame.
@Suite struct VoteBatchTests {
    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func scansEveryPlainBatch(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var decoder = MessageDecoder()
        for _ in 0..<400 {
            let frame = ClientFrame.randomBatch(using: &random)
            let body = try Array(frame.encoded().dropFirst(4))
            let before = Int.random(in: 0...9, using: &random)
            let after = Int.random(in: 0...9, using: &random)
            let scanned = scan(body, before: before, after: after)
            #expect(scanned?.frame == frame, "seed \(seed): \(frame)")
            let hash = unsafe frame.requestHash(of: body.span.bytes)
            #expect(scanned?.hash == hash, "seed \(seed)")
            guard frame.sequence > 0 else { continue }
            let contentHash = try unsafe decoder.decodeCall(body.span.bytes).contentHash
            #expect(scanned?.hash == contentHash, "seed \(seed)")
        }
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func neverReadsAnotherFrameThanTheDecoder(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var decoder = MessageDecoder()
        var scannedCount = 0
        var leftCount = 0
        for _ in 0..<10_000 {
            let frame = ClientFrame.randomBatch(atMost: 5, using: &random)
            var body = try Array(frame.encoded().dropFirst(4))
            for _ in 0..<Int.random(in: 0...3, using: &random) { damage(&body, &random) }
            guard let scanned = scan(body, after: Int.random(in: 0...9, using: &random)) else {
                leftCount += 1
                continue
            }
            scannedCount += 1
            let decoded = try? decoder.decodeClientFrame(body)
            #expect(decoded == scanned.frame, "seed \(seed): \(body)")
            let hash = unsafe decoded?.requestHash(of: body.span.bytes)
            #expect(hash == scanned.hash, "seed \(seed)")
        }
        #expect(scannedCount > 2000 && leftCount > 2000, "Both outcomes are tried; seed \(seed).")
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func readsNoiseAsTheDecoderDoes(seed: UInt64) {
        // Bytes that a batch is made of, so that some of the noise is one.
        let alphabet: [UInt8] = [0, 1, 2, 3, 4, 5, 6, 8, 0x0A, 0x10, 0x80, 0xCA, 0xFF]
        var random = SeededGenerator(seed: seed)
        var decoder = MessageDecoder()
        var scannedCount = 0
        for _ in 0..<200_000 {
            var body: [UInt8] = [8, 1, 0xCA, 2]
            if Bool.random(using: &random) { body += [6, 0x0A, 4, 8] }
            for _ in 0..<Int.random(in: 0...6, using: &random) {
                body.append(alphabet.randomElement(using: &random) ?? 0)
            }
            guard let scanned = scan(body) else { continue }
            scannedCount += 1
            let decoded = try? decoder.decodeClientFrame(body)
            #expect(decoded == scanned.frame, "seed \(seed): \(body)")
        }
        #expect(scannedCount > 10, "Some noise is a batch; seed \(seed).")
    }

    @Test(arguments: unusual)
    func leavesToTheDecoder(name: String, parts: [[UInt8]]) {
        let body = Array(parts.joined())
        #expect(scan(body) == nil, "\(name)")
        #expect(scan(body, after: 9) == nil, "\(name), with bytes behind it")
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func encodesResultsAsTheirFrame(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var encoder = FrameEncoder()
        var results = VoteBatchResults()
        var expected: [UInt8] = []
        for round in 0..<200 {
            fill(&results, round: round, &random)
            let id = UInt64.anyWidth(using: &random)
            let revision = UInt64.anyWidth(using: &random)
            try encoder.append(results, id: id, revision: revision)
            expected += try ServerFrame(results, id: id, revision: revision).encoded()
        }
        #expect(encoder.bytes() == expected, "seed \(seed)")
    }

    @Test func encodesNoResultsOverTheLimit() throws {
        var results = VoteBatchResults()
        results.count = 2
        for item in 0..<2 {
            results.votes[item] = CastVoteResponse(
                postID: 2,
                score: 1,
                upvoteCount: 1,
                downvoteCount: 0
            )
        }
        let length = try ServerFrame(results, id: 1, revision: 1).encoded().count - 4
        var encoder = FrameEncoder(maximumFrameByteCount: length - 1)
        #expect(throws: FrameError.tooLarge(length: UInt64(length), limit: length - 1)) {
            try encoder.append(results, id: 1, revision: 1)
        }
        #expect(encoder.byteCount == 0)
        encoder = FrameEncoder(maximumFrameByteCount: length)
        try encoder.append(results, id: 1, revision: 1)
        #expect(encoder.byteCount == length + 4)
    }

    /// Results of few votes or of many, of which none, some or all failed: the answer's length takes
    /// one byte, two or three.
    private func fill(
        _ results: inout VoteBatchResults,
        round: Int,
        _ random: inout SeededGenerator
    ) {
        results.count = round % 3 == 0 ? 256 : Int.random(in: 1...20, using: &random)
        results.failures = []
        let failureShare = [0, 4, 1].randomElement(using: &random) ?? 0
        for item in 0..<results.count {
            results.votes[item] = CastVoteResponse(
                postID: .anyWidth(using: &random),
                score: Int64(bitPattern: .anyWidth(using: &random)),
                upvoteCount: .anyWidth(using: &random),
                downvoteCount: .anyWidth(using: &random),
                vote: VoteDirection(rawValue: .random(in: -1...4, using: &random))
            )
            guard failureShare > 0, Int.random(in: 0..<failureShare, using: &random) == 0 else {
                continue
            }
            let status = Status(
                code: .notFound,
                reason: .postNotFound,
                message: String(repeating: "a", count: .random(in: 0...300, using: &random)),
                isNotExecuted: .random(using: &random),
                retryAfterMilliseconds: .random(in: 0...1_000, using: &random)
            )
            results.failures.append(VoteBatchResults.Failure(item: item, status: status))
        }
    }

    /// The batch in `body` and its hash, with other bytes before and behind the body.
    private func scan(
        _ body: [UInt8],
        before: Int = 0,
        after: Int = 0
    ) -> (frame: ClientFrame, hash: UInt32)? {
        let bytes = .init(repeating: 0x81, count: before) + body + .init(repeating: 1, count: after)
        var batch = VoteBatch()
        let range = before..<(before + body.count)
        guard unsafe batch.scan(bytes.span.bytes, in: range) else { return nil }
        return unsafe (ClientFrame(batch), batch.requestHash(in: bytes.span.bytes))
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

    /// What a scan must leave alone, in parts.
    private static let unusual: [(String, [[UInt8]])] = [
        ("empty", []),
        ("no batch", [id]),
        ("no id", [batch(vote(7, 1))]),
        ("no vote", [id, batch()]),
        ("257 votes", [id, Wire.bytes(41, (0..<257).flatMap { _ in vote(7, 1) })]),
        ("an id of zero", [[8, 0], batch(vote(7, 1))]),
        ("a second id", [id, id, batch(vote(7, 1))]),
        ("fields out of order", [batch(vote(7, 1)), id]),
        ("a timeout over 32 bits", [id, Wire.number(2, 1 << 32), batch(vote(7, 1))]),
        ("an unknown field", [id, Wire.number(6, 1), batch(vote(7, 1))]),
        ("an unknown field at the end", [id, batch(vote(7, 1)), Wire.number(1000, 1)]),
        ("two batches to be merged", [id, batch(vote(7, 1)), batch(vote(8, 1))]),
        ("one vote alone", [id, Wire.bytes(40, [8, 7, 16, 1])]),
        ("a post of zero", [id, batch(Wire.bytes(1, [8, 0, 16, 1]))]),
        ("no post", [id, batch(Wire.bytes(1, [16, 1]))]),
        ("no direction", [id, batch(Wire.bytes(1, [8, 7]))]),
        ("an empty vote", [id, batch(vote(7, 1), [0x0A, 0])]),
        ("a direction without a name", [id, batch(vote(7, 1), vote(7, 4))]),
        ("a direction below zero", [id, batch(vote(7, .max))]),
        ("a direction before the post", [id, batch(Wire.bytes(1, [16, 1, 8, 7]))]),
        ("an unknown field in a vote", [id, batch(Wire.bytes(1, [8, 7, 16, 1, 24, 1]))]),
        ("an unknown field beside the votes", [id, batch(vote(7, 1), [16, 1])]),
        ("a length with a needless byte", [id, [0xCA, 2, 0x86, 0, 0x0A, 4, 8, 7, 16, 1]]),
        ("a vote's length with a needless byte", [id, [0xCA, 2, 7, 0x0A, 0x84, 0, 8, 7, 16, 1]]),
        ("a truncated vote", [id, [0xCA, 2, 6, 0x0A, 4, 8, 7, 16]]),
        ("a vote beyond the batch", [id, [0xCA, 2, 5, 0x0A, 4, 8, 7, 16, 1]]),
        ("a vote that ends early", [id, [0xCA, 2, 6, 0x0A, 3, 8, 7, 16, 1]]),
    ]

    private static let id = Wire.number(1, 9)

    private static func vote(_ postID: UInt64, _ direction: UInt64) -> [UInt8] {
        Wire.bytes(1, Wire.number(1, postID) + Wire.number(2, direction))
    }

    private static func batch(_ votes: [UInt8]...) -> [UInt8] {
        Wire.bytes(41, Array(votes.joined()))
    }
}

extension ClientFrame {
    /// A batch that every encoder writes with all its fields; numbers are of every length.
    fileprivate static func randomBatch(
        atMost limit: Int = 256,
        using random: inout SeededGenerator
    ) -> ClientFrame {
        let votes = (0..<Int.random(in: 1...limit, using: &random)).map { _ in
            CastVoteRequest(
                postID: max(1, .anyWidth(using: &random)),
                direction: VoteDirection(rawValue: .random(in: 1...3, using: &random))
            )
        }
        return ClientFrame(
            id: max(1, .anyWidth(using: &random)),
            request: .batchCastVotes(BatchCastVotesRequest(votes: votes)),
            timeoutMilliseconds: UInt32(truncatingIfNeeded: UInt64.anyWidth(using: &random)),
            sequence: .anyWidth(using: &random),
            minimumRevision: .anyWidth(using: &random),
            actingUserID: random.oneIn(2) ? 0 : .anyWidth(using: &random)
        )
    }
}
