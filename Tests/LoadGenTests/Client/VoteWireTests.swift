import FeedProto
import LoadGen
import Testing

/// The short ways of votes give what the general encoder and decoder give.
@Suite struct VoteWireTests {
    private static let numbers: [UInt64] = [
        1, 2, 127, 128, 129, 16_383, 16_384, 2_097_151, 2_097_152, 1 << 32, 1 << 63, .max,
    ]

    @Test(arguments: numbers)
    func encodesAVoteAsTheGeneralEncoderDoes(_ id: UInt64) throws {
        for postID in Self.numbers {
            let buffer = FrameBuffer(capacity: 0)
            var expected: [UInt8] = []
            let votes: [(Ballot, UInt64, UInt64)] = [
                (.up, 0, 0), (.down, 0, 0), (.up, id, 0), (.down, 1, 0), (.clear, 2, id),
                (.up, 0, 1 << 63 | id),
            ]
            for (ballot, sequence, user) in votes {
                let direction = VoteDirection(rawValue: Int32(ballot.rawValue))
                buffer.appendVote(
                    id: id,
                    sequence: sequence,
                    actingUserID: user,
                    postID: postID,
                    direction: ballot
                )
                let vote = CastVoteRequest(postID: PostID(rawValue: postID), direction: direction)
                let frame = ClientFrame(
                    id: id,
                    request: .castVote(vote),
                    sequence: sequence,
                    actingUserID: UserID(rawValue: user)
                )
                expected += try frame.encoded()
            }
            #expect(bytes(buffer) == expected)
        }
    }

    @Test func keepsFramesInOrderAndGrows() throws {
        let buffer = FrameBuffer(capacity: 0)
        var expected: [UInt8] = []
        for id in 1...1000 as ClosedRange<UInt64> {
            buffer.appendVote(id: id, postID: 7)
            let vote = CastVoteRequest(postID: 7, direction: .up)
            expected += try ClientFrame(id: id, request: .castVote(vote)).encoded()
        }
        #expect(bytes(buffer) == expected)
        buffer.removeAll()
        #expect(buffer.byteCount == 0)
    }

    @Test(arguments: [0, 1, 3, 100])
    func appendsManyVotesAsOneAfterTheOther(count: Int) {
        let together = FrameBuffer(capacity: 0)
        let alone = FrameBuffer(capacity: 0)
        together.appendVotes(count) { item in
            (UInt64(item) << 7, UInt64(item), UInt64(item) << 9, UInt64(item) << 14, .down)
        }
        for item in 0..<UInt64(count) {
            alone.appendVote(
                id: item << 7,
                sequence: item,
                actingUserID: item << 9,
                postID: item << 14,
                direction: .down
            )
        }
        #expect(bytes(together) == bytes(alone))
        #expect(bytes(together).isEmpty == (count == 0))
    }

    @Test(arguments: numbers)
    func readsAFrameOnlyWhereAllOfItIsThere(_ number: UInt64) throws {
        let response = CastVoteResponse(
            postID: PostID(rawValue: number),
            score: 7,
            upvoteCount: 7,
            downvoteCount: 0,
            vote: .up
        )
        let frame = ServerFrame(id: number, revision: number, response: .castVote(response))
        let before: [UInt8] = [1, 2, 3]
        let bytes = try before + frame.encoded()
        for count in before.count...bytes.count {
            let begin = Array(bytes[..<count])
            var offset = before.count
            let answer = unsafe VoteAnswer(scanning: begin.span.bytes, at: &offset)
            let isWhole = count == bytes.count
            #expect(answer?.postID == (isWhole ? number : nil))
            #expect(offset == (isWhole ? bytes.count : before.count))
        }
    }

    @Test(arguments: numbers)
    func readsAnAnswerAsTheGeneralDecoderDoes(_ number: UInt64) throws {
        for score in [0, 1, -1, 127, 128, .max, .min] as [Int64] {
            let bytes = try self.answer(number, score: score).encoded()
            let answer = try #require(scan(bytes))
            #expect(answer.id == number)
            #expect(answer.postID == number)
            #expect(answer.score == score)
            #expect(answer.standingBallot == (number % 2 == 0 ? 1 : 0))
            #expect(answer.upvoteCount == number / 2)
            #expect(answer.downvoteCount == number % 3)
        }
    }

    /// An answer with other bytes behind it is read in another way than the last one of a read.
    @Test(arguments: numbers)
    func readsAnAnswerAlikeWhateverIsBehindIt(_ number: UInt64) throws {
        let zeros = [UInt8](repeating: 0, count: 99)[...]
        for score in [0, 1, -1, 127, 128, 16_384, .max] as [Int64] {
            let whole = try self.answer(number, score: score).encoded()
            let answer = try #require(scan(whole))
            for count in 5...whole.count {
                let cut = scan(Array(whole[..<count]))
                #expect(cut == (count == whole.count ? answer : nil))
                // The bytes that were cut off are the worst ones that can follow.
                for behind in [whole[count...] + whole[4...], zeros[..<31], zeros[..<32], zeros] {
                    #expect(scan(whole[..<count], before: behind) == cut)
                }
            }
        }
    }

    @Test func readsAChangedAnswerAlikeWhateverIsBehindIt() throws {
        var random = RandomStream(seed: 9, thread: 0, client: 0)
        var readCount = 0
        for _ in 0..<50_000 {
            let bits = random.nextIndex(below: 64)
            let response = CastVoteResponse(
                postID: PostID(rawValue: random.next() >> UInt64(bits)),
                score: Int64(random.next() >> 40),
                upvoteCount: random.next() >> 40,
                downvoteCount: random.next() % 3,
                vote: .up
            )
            let frame = ServerFrame(
                id: 1 + random.next() >> UInt64(bits),
                revision: random.next() >> UInt64(bits),
                response: .castVote(response)
            )
            var changed = try frame.encoded()
            let place = 4 + random.nextIndex(below: changed.count - 4)
            changed[place] = UInt8(truncatingIfNeeded: random.next())
            let answer = scan(changed)
            #expect(scan(changed[...], before: changed[...] + changed) == answer, "seed 9")
            if answer != nil { readCount += 1 }
        }
        #expect(readCount > 10_000)
    }

    @Test func leavesEverythingElseToTheGeneralDecoder() throws {
        let status = Status(code: .notFound, reason: .postNotFound, message: "No such post.")
        let frames = [
            ServerFrame(id: 1, revision: 1, status: status),
            ServerFrame(id: 1, revision: 1, response: .empty),
            ServerFrame(
                id: 1,
                revision: 1,
                response: .ping(PingResponse(payload: [1], serving: .serving))
            ),
        ]
        for frame in frames {
            let bytes = try frame.encoded()
            #expect(scan(bytes) == nil)
        }
    }

    @Test func takesNoCutOrLengthenedAnswer() throws {
        let response = CastVoteResponse(
            postID: 300,
            score: 5,
            upvoteCount: 5,
            downvoteCount: 0,
            vote: .up
        )
        let whole = try ServerFrame(id: 9, revision: 1 << 40, response: .castVote(response))
            .encoded()
        for count in 5..<whole.count {
            #expect(scan(Array(whole[..<count])) == nil)
            // As well where another frame is behind the cut.
            #expect(scan(whole + whole, count: count) == nil)
        }
        #expect(scan(whole + whole, count: whole.count) == scan(whole))
        #expect(scan(whole + [0]) == nil)
        var generator = RandomStream(seed: 8, thread: 0, client: 0)
        for _ in 0..<20_000 {
            var changed = whole
            let place = 4 + generator.nextIndex(below: whole.count - 4)
            changed[place] = UInt8(truncatingIfNeeded: generator.next())
            // What it reads, the general decoder reads alike, whatever is behind the frame.
            let answer = scan(changed)
            #expect(scan(changed + whole, count: changed.count) == answer, "seed 8")
            guard let answer else { continue }
            var decoder = MessageDecoder()
            let frame = try decoder.decodeServerFrame(Array(changed[4...]))
            if case .castVote(let vote) = frame.response {
                #expect(answer.id == frame.id && answer.score == vote.score, "seed 8")
            }
        }
    }

    @Test("a number of more than ten bytes is none", arguments: [10, 11, 12, 40])
    func refusesLongNumbers(byteCount: Int) throws {
        let response = CastVoteResponse(
            postID: 3,
            score: 5,
            upvoteCount: 5,
            downvoteCount: 0,
            vote: .up
        )
        let whole = try ServerFrame(id: 9, revision: 1, response: .castVote(response)).encoded()
        #expect(Array(whole[4..<8]) == [0x08, 9, 0x10, 1])
        // The id and the revision in turn, with zeros in all bytes but the first.
        for place in [5, 7] {
            let number = [UInt8](repeating: 0x80, count: byteCount - 1) + [0]
            let frame = whole[..<place] + number + whole[(place + 1)...]
            #expect((scan(Array(frame)) != nil) == (byteCount <= 10))
        }
    }

    /// An answer whose numbers all follow from one, but for the score.
    private func answer(_ number: UInt64, score: Int64) -> ServerFrame {
        let response = CastVoteResponse(
            postID: PostID(rawValue: number),
            score: score,
            upvoteCount: number / 2,
            downvoteCount: number % 3,
            vote: number % 2 == 0 ? .up : .unspecified
        )
        return ServerFrame(id: number, revision: number / 3, response: .castVote(response))
    }

    private func scan(_ frame: [UInt8], count: Int? = nil) -> VoteAnswer? {
        unsafe VoteAnswer(scanning: frame.span.bytes, in: 4..<(count ?? frame.count))
    }

    /// Reads a frame, which gets the header of its length, before other bytes.
    private func scan(_ frame: ArraySlice<UInt8>, before behind: ArraySlice<UInt8>) -> VoteAnswer? {
        let body = frame.dropFirst(4)
        let all = [0, 0, UInt8(body.count >> 8), UInt8(body.count & 0xFF)] + body + behind
        var offset = 0
        let answer = unsafe VoteAnswer(scanning: all.span.bytes, at: &offset)
        #expect(offset == (answer == nil ? 0 : 4 + body.count))
        return answer
    }
}

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
                    postID: PostID(rawValue: max(1, random.next() >> random.next(below: 64))),
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
                (votes[item].postID.rawValue, votes[item].direction == .down ? .down : .up)
            }
            let frame = ClientFrame(
                id: id,
                request: .batchCastVotes(BatchCastVotesRequest(votes: votes)),
                sequence: sequence,
                actingUserID: UserID(rawValue: user)
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
            let results = (0..<1 + random.nextIndex(below: 256)).map { _ in result(&random) }
            let response = Response.batchCastVotes(BatchCastVotesResponse(results: results))
            let id = max(1, random.next() >> random.next(below: 64))
            let frame = try ServerFrame(id: id, revision: random.next() >> 40, response: response)
                .encoded()
            #expect(scan(&answer, frame), "seed \(seed)")
            #expect(answer.id == id && answer.count == results.count, "seed \(seed)")
            for (item, result) in results.enumerated() {
                let vote = try #require(result.vote)
                #expect(answer.votes[item].postID == vote.postID.rawValue, "seed \(seed)")
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
                postID: PostID(rawValue: max(1, random.next() >> random.next(below: 64))),
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
}

extension RandomStream {
    fileprivate mutating func next(below bound: Int) -> UInt64 { UInt64(nextIndex(below: bound)) }
}

@Suite struct PipelineWindowTests {
    @Test func windowMakesRoomWithEachAnswer() {
        var window = PipelineWindow(depth: 4, mode: .window)
        #expect(window.room == 4)
        window.send(4)
        #expect(window.room == 0)
        window.answer(1)
        #expect(window.room == 1)
        window.send(1)
        window.answer(4)
        #expect(window.room == 4)
    }

    @Test func batchMakesRoomWithTheLastAnswerOnly() {
        var window = PipelineWindow(depth: 4, mode: .batch)
        window.send(4)
        for _ in 0..<3 {
            window.answer(1)
            #expect(window.room == 0)
        }
        window.answer(1)
        #expect(window.room == 4)
    }

    @Test(arguments: PipelineMode.allCases)
    func neverHoldsMoreThanItsDepth(_ mode: PipelineMode) {
        var window = PipelineWindow(depth: 7, mode: mode)
        var stream = RandomStream(seed: 11, thread: 0, client: 0)
        for _ in 0..<10_000 {
            if stream.nextIndex(below: 2) == 0 {
                window.send(window.room)
            } else if window.inFlightCount > 0 {
                window.answer(1 + stream.nextIndex(below: window.inFlightCount))
            }
            #expect((0...7).contains(window.inFlightCount))
            #expect(window.room >= 0 && window.room + window.inFlightCount <= 7)
        }
    }
}

/// When a connection of the load is to be closed and opened again.
@Suite struct RemainingLifeTests {
    private static let second: UInt64 = 1_000_000_000

    private func begun(
        requestCount: UInt64? = nil,
        age: Duration? = nil,
        jitter: Duration = .zero,
        client: Int = 0
    ) -> RemainingLife {
        var life = ConnectionLife()
        (life.requestCount, life.age, life.jitter) = (requestCount, age, jitter)
        let ages = RandomStream(seed: 7, thread: 0, client: client, purpose: .lives)
        var remaining = RemainingLife(life, ages: ages)
        remaining.begin(at: Self.second)
        return remaining
    }

    @Test func aLifeWithoutLimitsHasNoEnd() {
        let life = begun()
        #expect(!life.isCounted)
        #expect(!life.isUsedUp)
        #expect(!life.isOver(at: .max - 1))
        #expect(life.limited(64) == 64)
    }

    @Test func requestsEndALifeThatIsCounted() {
        var life = begun(requestCount: 100)
        #expect(life.limited(64) == 64)
        life.take(64)
        #expect(life.limited(64) == 36)
        #expect(!life.isUsedUp)
        life.take(36)
        #expect(life.limited(64) == 0)
        #expect(life.isUsedUp)
    }

    @Test func theNextLifeTakesAsManyAgain() {
        var life = begun(requestCount: 2)
        life.take(2)
        life.begin(at: 2 * Self.second)
        #expect(!life.isUsedUp)
        #expect(life.limited(64) == 2)
    }

    @Test func anAgeCountsFromTheBegin() {
        let life = begun(age: .seconds(30))
        #expect(!life.isOver(at: 31 * Self.second - 1))
        #expect(life.isOver(at: 31 * Self.second))
        #expect(!life.isCounted)
    }

    @Test func agesLieAroundTheirMiddleAndDiffer() {
        var ends: Set<Bool> = []
        for client in 0..<100 {
            let life = begun(age: .seconds(30), jitter: .seconds(5), client: client)
            #expect(!life.isOver(at: 26 * Self.second - 1))
            #expect(life.isOver(at: 36 * Self.second))
            ends.insert(life.isOver(at: 31 * Self.second))
        }
        #expect(ends == [false, true])
    }
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
