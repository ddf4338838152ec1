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

/// The votes at the front of received bytes.
@Suite struct VoteRunTests {
    private let scanner = FrameScanner()

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func findsTheFirstPostOfVotesAndOtherCalls(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var foundCount = 0
        var nilCount = 0
        for _ in 0..<2000 {
            let (bytes, post) = try received(&random)
            #expect(firstPost(bytes) == post, "seed \(seed): \(bytes)")
            #expect(firstPostOfRun(bytes) == post, "seed \(seed): \(bytes)")
            if post == nil { nilCount += 1 } else { foundCount += 1 }
        }
        #expect(foundCount > 500 && nilCount > 500, "Both outcomes are tried; seed \(seed).")
    }

    @Test func findsNoFirstPostBeforeTheWholeFrame() throws {
        let vote = VoteFrame(id: 9, vote: CastVoteRequest(postID: 7, direction: .up))
        let bytes = try ClientFrame(vote).encoded()
        for count in 0..<bytes.count { #expect(firstPost(Array(bytes.prefix(count))) == nil) }
        #expect(firstPost(bytes) == 7)
    }

    @Test(arguments: [[0, 0, 0, 0], [0xFF, 0xFF, 0xFF, 0xFF]] as [[UInt8]])
    func findsNoFirstPostBehindWhatIsNoFrame(header: [UInt8]) throws {
        let vote = VoteFrame(id: 9, vote: CastVoteRequest(postID: 7, direction: .up))
        #expect(try firstPost(header + ClientFrame(vote).encoded()) == nil)
    }

    /// Up to three votes and other calls, of which the last may be incomplete; and the post of the
    /// first, where that is a whole vote.
    private func received(
        _ random: inout SeededGenerator
    ) throws -> (bytes: [UInt8], post: PostID?) {
        var bytes: [UInt8] = []
        var post: PostID?
        for number in 0..<Int.random(in: 0...3, using: &random) {
            let vote = VoteFrame.random(using: &random)
            var frame = ClientFrame(vote)
            let isVote = Int.random(in: 0..<4, using: &random) > 0
            if !isVote { frame.request = .getPost(GetPostRequest(id: vote.vote.postID)) }
            bytes += try frame.encoded()
            if number == 0, isVote { post = vote.vote.postID }
            guard Int.random(in: 0..<4, using: &random) == 0 else { continue }
            bytes.removeLast(.random(in: 1...4, using: &random))
            return (bytes, number == 0 ? nil : post)
        }
        return (bytes, post)
    }

    private func firstPost(_ bytes: [UInt8]) -> PostID? {
        unsafe VoteRun.firstVote(in: bytes.span.bytes, scanner)?.vote.postID
    }

    /// The post of the first vote that a whole run finds.
    private func firstPostOfRun(_ bytes: [UInt8]) -> PostID? {
        var run = VoteRun()
        unsafe run.find(in: bytes.span.bytes, at: 0, limit: VoteRun.capacity, scanner)
        return run.count > 0 ? run.entries[0].frame.vote.postID : nil
    }
}

/// The way of vote answers past protobuf-c: it may leave a frame to it, and never read another frame.
@Suite struct VoteAnswerFrameTests {
    private static func answer(_ random: inout SeededGenerator) -> ServerFrame {
        let vote = CastVoteResponse(
            postID: .anyWidth(using: &random),
            score: Bool.random(using: &random)
                ? Int64(bitPattern: .anyWidth(using: &random))
                : Int64.random(in: -9...9, using: &random),
            upvoteCount: .anyWidth(using: &random),
            downvoteCount: .anyWidth(using: &random),
            vote: VoteDirection(rawValue: .random(in: 0...2, using: &random))
        )
        return ServerFrame(
            id: .anyWidth(using: &random),
            revision: .anyWidth(using: &random),
            response: .castVote(vote)
        )
    }

    private static func scan(_ body: [UInt8], after: Int = 0) -> VoteAnswerFrame? {
        let bytes = [0x81, 0x81] + body + [UInt8](repeating: 1, count: after)
        return unsafe VoteAnswerFrame(scanning: bytes.span.bytes, in: 2..<(2 + body.count))
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func scansWhatTheServiceWrites(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<4_000 {
            let frame = Self.answer(&random)
            let body = try Array(frame.encoded().dropFirst(4))
            let scanned = Self.scan(body, after: .random(in: 0...9, using: &random))
            #expect(frame.id == 0 || scanned.map { ServerFrame($0) } == frame, "seed \(seed)")
        }
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func neverReadsAnotherFrameThanTheDecoder(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var decoder = MessageDecoder()
        var scannedCount = 0
        for _ in 0..<20_000 {
            var body = try Array(Self.answer(&random).encoded().dropFirst(4))
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                guard let place = body.indices.randomElement(using: &random) else { break }
                switch Int.random(in: 0..<4, using: &random) {
                case 0: body[place] = UInt8.random(in: 0...255, using: &random)
                case 1: body.remove(at: place)
                case 2: body.insert(UInt8.random(in: 0...255, using: &random), at: place)
                default: body.removeSubrange(place...)
                }
            }
            guard let scanned = Self.scan(body) else { continue }
            scannedCount += 1
            let decoded = try? decoder.decodeServerFrame(body)
            #expect(decoded == ServerFrame(scanned), "seed \(seed): \(body)")
        }
        #expect(scannedCount > 1_000, "seed \(seed)")
    }

    @Test func leavesOtherAnswersToTheDecoder() throws {
        let status = Status(code: .notFound, reason: .postNotFound, message: "no")
        let frames = [
            ServerFrame(id: 1, revision: 2, response: .empty),
            ServerFrame(id: 1, revision: 2, status: status),
            ServerFrame(
                id: 1,
                revision: 2,
                response: .markPosts(MarkPostsResponse(unreadCount: 3))
            ),
        ]
        for frame in frames { #expect(Self.scan(Array(try frame.encoded().dropFirst(4))) == nil) }
    }
}

extension VoteFrame {
    /// A vote that every encoder writes with all its fields; numbers are of every length.
    static func random(using random: inout SeededGenerator) -> VoteFrame {
        VoteFrame(
            id: max(1, .anyWidth(using: &random)),
            vote: CastVoteRequest(
                postID: max(1, .anyWidth(using: &random)),
                direction: VoteDirection(rawValue: .random(in: 1...3, using: &random))
            ),
            timeoutMilliseconds: UInt32(truncatingIfNeeded: UInt64.anyWidth(using: &random)),
            sequence: .anyWidth(using: &random),
            minimumRevision: .anyWidth(using: &random),
            actingUserID: random.oneIn(2) ? 0 : .anyWidth(using: &random)
        )
    }
}
