import FeedProto
import FeedTransport

extension ClientConnection {
    /// Handles every whole frame of `bytes` and returns where the rest begins.
    @inline(__always)
    func receive(_ bytes: RawSpan, at now: UInt64) throws(ProtocolViolation) -> Int {
        var offset = 0
        let firstID = headID
        var votes: UInt64 = 0
        // Answers before a violation count all the same.
        defer {
            worker.recorder.outcomes.ok += votes
            worker.outstandingCount -= Int(votes)
            window.answer(Int(headID - firstID))
        }
        preloadPosts(answerByteCount: bytes.byteCount)
        while let body = try nextBody(bytes, offset) {
            let dueID = headID
            do throws(ProtocolViolation) {
                if let vote = VoteAnswer(scanning: bytes, in: body) {
                    if try receive(vote, at: now) { votes += 1 }
                } else if worker.isBatching, worker.batchAnswer.scan(bytes, in: body) {
                    try receiveBatch(at: now)
                } else {
                    try receiveMessage(bytes.extracting(body), at: now)
                }
            } catch {
                // The request is lost with the connection, like those behind it.
                headID = dueID
                throw error
            }
            offset = body.upperBound
        }
        return offset
    }

    /// Reads the posts of the next answers together.
    ///
    /// With many posts each read is a cache miss, and independent misses overlap. They are read and not
    /// prefetched, as an answer follows at once: a prefetch would not have ended.
    @inline(__always)
    private func preloadPosts(answerByteCount: Int) {
        let count = min(answerByteCount / Self.shortestAnswerByteCount, window.inFlightCount)
        guard count > 2, !worker.isBatching else { return }
        var mixed: UInt64 = 0
        for id in headID..<headID &+ UInt64(count) {
            let request = worker.inFlight[index, id]
            if request.operation == .vote { mixed ^= worker.votedPostID(request.argument) }
        }
        // Keeps the compiler from removing the loads.
        worker.preloaded = mixed
    }

    /// The length, an id and a revision, and a vote with a post and a score.
    private static var shortestAnswerByteCount: Int { 18 }

    @inline(__always)
    private func nextBody(
        _ bytes: RawSpan,
        _ offset: Int
    ) throws(ProtocolViolation) -> Range<Int>? {
        do throws(FrameError) {
            return try FrameScanner().nextBody(in: bytes, at: offset)
        } catch {
            throw .badFrame(error)
        }
    }

    /// Counts an acknowledged vote; returns whether it came in time.
    @inline(__always)
    private func receive(_ vote: VoteAnswer, at now: UInt64) throws(ProtocolViolation) -> Bool {
        let request = try dueRequest(vote.id)
        guard request.operation == .vote, !worker.isBatching else {
            throw .wrongAnswer(id: vote.id, expected: request.operation?.name ?? "greeting or ping")
        }
        let expected = worker.votedPostID(request.argument)
        guard vote.postID == expected else {
            throw .wrongPost(id: vote.id, received: vote.postID, expected: expected)
        }
        guard !request.marks.contains(.expired) else {
            worker.recorder.lateAnswerCount += 1
            return false
        }
        worker.recorder.recordAnswer(
            .vote,
            intended: request.intended,
            sent: request.sent,
            answered: now,
            phases: worker.phases
        )
        acknowledge(vote, of: request.argument, in: request)
        if request.marks.contains(.again) { recovery.answered() }
        return true
    }

    /// Counts the acknowledged vote of a number, and notes a score that contradicts the answers
    /// before; the only place that acknowledges a vote.
    ///
    /// A vote that was sent once raises the score above all that this connection has seen. If an
    /// earlier send was executed, the answer has the current score, which another answer may have
    /// too.
    @inline(__always)
    func acknowledge(_ answer: VoteAnswer, of vote: UInt32, in request: InFlightRequest) {
        guard worker.tallied != .ballots else {
            return worker.acknowledgeBallot(answer, of: vote, in: request, client: index)
        }
        let count = worker.tallied.count(answer, vote)
        worker.posts.acknowledge(vote, score: count)
        if request.marks.contains(.doubtful) { worker.counts.repeatVote(vote) }
        let isWrong =
            request.marks.contains(.again)
            ? worker.scores.falls(client: index, post: vote, score: count)
            : !worker.scores.rises(client: index, post: vote, score: count)
        if isWrong { noteFallingScore(answer) }
    }

    @inline(__always)
    func dueRequest(_ id: UInt64) throws(ProtocolViolation) -> InFlightRequest {
        guard isWaiting else { throw .unasked(id) }
        guard id == headID else { throw .outOfOrder(received: id, due: headID) }
        headID &+= 1
        return worker.inFlight[index, id]
    }

    @inline(never)
    private func noteFallingScore(_ vote: VoteAnswer) {
        worker.counts.findings.note(
            .fallingScore,
            """
            Post \(vote.postID): a vote of client \(number) was answered with score \(vote.score), \
            not above the score of its vote before.
            """
        )
    }

    /// Handles an answer that is not a plain vote.
    @inline(never)
    private func receiveMessage(_ body: RawSpan, at now: UInt64) throws(ProtocolViolation) {
        let frame: ServerFrame
        do throws(MessageError) {
            frame = try worker.decoder.decodeServerFrame(body)
        } catch {
            throw .badMessage(error)
        }
        // Id 0 concerns the connection: a refusal or a GoAway before the service closes it.
        guard frame.id > 0 else {
            if let status = frame.status { count(status) }
            if case .goAway(let goAway) = frame.response {
                leave(within: goAway.drainMilliseconds)
            }
            return
        }
        let request = try dueRequest(frame.id)
        guard let operation = request.operation else { return receiveUpkeep(frame) }
        guard !request.marks.contains(.expired) else {
            worker.recorder.lateAnswerCount += 1
            return
        }
        if let status = frame.status { return receive(status, for: request) }
        if worker.isBatching, operation == .vote {
            return try receiveResults(frame, request, at: now)
        }
        try check(frame, is: operation, request)
        worker.outstandingCount -= 1
        worker.recorder.outcomes.ok += 1
        worker.recorder.recordAnswer(
            operation,
            intended: request.intended,
            sent: request.sent,
            answered: now,
            phases: worker.phases
        )
        recordTimes(frame.times, of: request, at: now)
    }

    /// Records the service's own times of a call, which an answer has where the call asked for them.
    ///
    /// A call that is sent again does not ask, so the times are of the send that the request knows.
    func recordTimes(_ times: CallTimes?, of request: InFlightRequest, at now: UInt64) {
        guard let times, !request.marks.contains(.again) else { return }
        worker.recorder.recordTimes(
            times,
            intended: request.intended,
            sent: request.sent,
            answered: now,
            phases: worker.phases
        )
    }

    private func receiveUpkeep(_ frame: ServerFrame) {
        if let status = frame.status {
            count(status)
            isRefused = true
        } else if case .hello(let hello) = frame.response {
            helloAnswered(hello)
        }
    }

    private func receive(_ status: Status, for request: InFlightRequest) {
        guard !postpone(request, status) else { return }
        worker.outstandingCount -= 1
        if request.marks.contains(.again) { recovery.answered() }
        worker.recorder.outcomes.error += UInt64(worker.weight(request))
        if isDoubtful(status, request) {
            // This send had no effect; the outcome of the first one is unknown.
            worker.forget(request, client: number)
        } else {
            worker.fail(request)
        }
        worker.release(request)
        count(status)
    }

    /// Whether a request that was answered with an error may still have been executed.
    func isDoubtful(_ status: Status, _ request: InFlightRequest) -> Bool {
        request.marks.contains(.doubtful) || !status.isNotExecuted && request.sequence > 0
    }

    private func check(
        _ frame: ServerFrame,
        is operation: Operation,
        _ request: InFlightRequest
    ) throws(ProtocolViolation) {
        switch (operation, frame.response) {
        case (.vote, .castVote(let vote)):
            let expected = worker.votedPostID(request.argument)
            guard vote.postID == expected else {
                throw .wrongPost(id: frame.id, received: vote.postID, expected: expected)
            }
            acknowledge(VoteAnswer(frame.id, vote), of: request.argument, in: request)
        case (.create, .post(let post)):
            worker.counts.create(post.id)
        case (.get, .post(let post)):
            let expected = worker.posts.id(request.argument)
            guard post.id == expected else {
                throw .wrongPost(id: frame.id, received: post.id, expected: expected)
            }
        case (.list, .listPosts(let page)), (.page, .listPosts(let page)):
            pageToken = page.nextPageToken
            PageCheck.check(page.posts.map(ListedPost.init), into: &worker.counts.findings)
        default:
            throw .wrongAnswer(id: frame.id, expected: operation.name)
        }
        if request.marks.contains(.again) { recovery.answered() }
    }

    func count(_ status: Status) {
        worker.recorder.failures.countServerError("\(status.code)/\(status.reason)")
    }
}

extension ListedPost {
    /// A post as a page of the service shows it.
    init(_ post: Post) {
        self.init(
            id: post.id,
            score: post.score,
            title: post.title,
            createTimeMilliseconds: post.createTimeMilliseconds
        )
    }
}
