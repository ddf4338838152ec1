import FeedProto
import LoadGen
import Testing

/// The short ways of batches of votes give what the general encoder and decoder give.
@Suite struct BatchWireTests {
    @Test(arguments: 1...8 as ClosedRange<Int>)
    func encodesABatchAsTheGeneralEncoderDoes(_ seed: Int) throws {
        var random = RandomStream(seed: UInt64(seed), thread: 0, client: 0)
        let buffer = FrameBuffer(capacity: 0)
        var expected: [UInt8] = []
        for _ in 0..<100 {
            let votes = (0..<1 + random.nextIndex(below: 256)).map { _ in
                CastVoteRequest(
                    postID: max(1, random.next() >> random.next(below: 64)),
                    direction: random.nextIndex(below: 2) == 0 ? .up : .down
                )
            }
            let id = max(1, random.next() >> random.next(below: 64))
            let sequence = random.nextIndex(below: 2) == 0 ? 0 : id
            let user = random.nextIndex(below: 2) == 0 ? 0 : random.next() | 1 << 63
            buffer.appendBatch(
                id: id,
                sequence: sequence,
                actingUserID: user,
                count: votes.count
            ) { item in
                (votes[item].postID, votes[item].direction == .down ? .down : .up)
            }
            let frame = ClientFrame(
                id: id,
                request: .batchCastVotes(BatchCastVotesRequest(votes: votes)),
                sequence: sequence,
                actingUserID: user
            )
            expected += try frame.encoded()
        }
        #expect(bytes(buffer) == expected, "seed \(seed)")
    }

    @Test(arguments: 1...8 as ClosedRange<Int>)
    func readsAnAnswerAsTheGeneralDecoderDoes(_ seed: Int) throws {
        var random = RandomStream(seed: UInt64(seed), thread: 0, client: 0)
        var answer = VoteBatchAnswer()
        for _ in 0..<100 {
            let results = (0..<1 + random.nextIndex(below: 256)).map { _ in
                result(&random)
            }
            let response = Response.batchCastVotes(BatchCastVotesResponse(results: results))
            let id = max(1, random.next() >> random.next(below: 64))
            let frame = try ServerFrame(id: id, revision: random.next() >> 40, response: response)
                .encoded()
            #expect(scan(&answer, frame), "seed \(seed)")
            #expect(answer.id == id && answer.count == results.count, "seed \(seed)")
            for (item, result) in results.enumerated() {
                let vote = try #require(result.vote)
                #expect(answer.votes[item].postID == vote.postID, "seed \(seed)")
                #expect(answer.votes[item].score == vote.score, "seed \(seed)")
                #expect(answer.votes[item].upvoteCount == vote.upvoteCount, "seed \(seed)")
                #expect(answer.votes[item].downvoteCount == vote.downvoteCount, "seed \(seed)")
            }
        }
    }

    @Test func leavesWhatFailedToTheGeneralDecoder() throws {
        var random = RandomStream(seed: 3, thread: 0, client: 0)
        let status = Status(code: .notFound, reason: .postNotFound, message: "No such post.")
        let failed = CastVoteResult(status: status, vote: nil)
        var answer = VoteBatchAnswer()
        for results in [[failed], [result(&random), failed], [failed, result(&random)], []] {
            let response = Response.batchCastVotes(BatchCastVotesResponse(results: results))
            let frame = try ServerFrame(id: 1, revision: 1, response: response).encoded()
            #expect(!scan(&answer, frame))
        }
        let refused = try ServerFrame(id: 1, revision: 1, status: status).encoded()
        #expect(!scan(&answer, refused))
    }

    @Test func takesNoCutOrChangedAnswerForAnother() throws {
        var random = RandomStream(seed: 8, thread: 0, client: 0)
        let results = (0..<3).map { _ in result(&random) }
        let response = Response.batchCastVotes(BatchCastVotesResponse(results: results))
        let whole = try ServerFrame(id: 9, revision: 1 << 40, response: response).encoded()
        var answer = VoteBatchAnswer()
        var decoder = MessageDecoder()
        for count in 5..<whole.count { #expect(!scan(&answer, Array(whole[..<count]))) }
        #expect(!scan(&answer, whole + [0]))
        for _ in 0..<20_000 {
            var changed = whole
            let place = 4 + random.nextIndex(below: whole.count - 4)
            changed[place] = UInt8(truncatingIfNeeded: random.next())
            guard scan(&answer, changed) else { continue }
            guard let frame = try? decoder.decodeServerFrame(Array(changed[4...])),
                case .batchCastVotes(let batch) = frame.response
            else { continue }
            #expect(answer.id == frame.id && answer.count == batch.results.count, "seed 8")
        }
    }

    private func result(_ random: inout RandomStream) -> CastVoteResult {
        CastVoteResult(
            status: nil,
            vote: CastVoteResponse(
                postID: max(1, random.next() >> random.next(below: 64)),
                score: Int64(truncatingIfNeeded: random.next() >> random.next(below: 64)),
                upvoteCount: random.next() >> random.next(below: 64),
                downvoteCount: random.next() >> random.next(below: 64),
                vote: random.nextIndex(below: 2) == 0 ? .up : .unspecified
            )
        )
    }

    private func scan(_ answer: inout VoteBatchAnswer, _ frame: [UInt8]) -> Bool {
        unsafe answer.scan(frame.span.bytes, in: 4..<frame.count)
    }

    private func bytes(_ buffer: borrowing FrameBuffer) -> [UInt8] {
        var copy: [UInt8] = []
        buffer.withBytes { span in
            for offset in 0..<span.byteCount {
                copy.append(unsafe span.unsafeLoad(fromByteOffset: offset, as: UInt8.self))
            }
        }
        return copy
    }
}

extension RandomStream {
    fileprivate mutating func next(below bound: Int) -> UInt64 { UInt64(nextIndex(below: bound)) }
}
