import FeedProto
import FeedTestSupport
import Testing

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
        for frame in frames {
            #expect(Self.scan(Array(try frame.encoded().dropFirst(4))) == nil)
        }
    }
}
