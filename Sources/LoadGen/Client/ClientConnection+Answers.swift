import FeedProto
import FeedTransport

extension ClientConnection {
    /// Handles every whole frame of `bytes` and returns where the rest begins.
    @inline(__always)
    func receive(_ bytes: RawSpan, at now: UInt64) throws(ProtocolViolation) -> Int {
        var offset = 0
        let firstID = headID
        var votes: UInt64 = 0
        // What was answered before a violation was answered all the same.
        defer {
            worker.recorder.outcomes.ok += votes
            worker.outstandingCount -= Int(votes)
            window.answer(Int(headID - firstID))
        }
        preloadPosts(answerByteCount: bytes.byteCount)
        while let body = try nextBody(bytes, offset) {
            if let vote = VoteAnswer(scanning: bytes, in: body) {
                if try receive(vote, at: now) { votes += 1 }
            } else if worker.isBatching, worker.batchAnswer.scan(bytes, in: body) {
                try receiveBatch(at: now)
            } else {
                try receiveMessage(bytes.extracting(body), at: now)
            }
            offset = body.upperBound
        }
        return offset
    }

    /// Reads the posts that the next answers are about, all at once: with many posts each is a cache
    /// miss, and misses that do not wait for one another overlap.
    @inline(__always)
    private func preloadPosts(answerByteCount: Int) {
        let count = min(answerByteCount / Self.shortestAnswerByteCount, window.inFlightCount)
        guard count > 2, !worker.isBatching else { return }
        var mixed: UInt64 = 0
        for id in headID..<headID &+ UInt64(count) {
            let flight = worker.flights[index, id]
            if flight.operation == .vote { mixed ^= worker.posts.id(flight.argument) }
        }
        // Kept, or the compiler would leave the reading out.
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

    /// Counts an acknowledged vote; whether it came in time.
    @inline(__always)
    private func receive(_ vote: VoteAnswer, at now: UInt64) throws(ProtocolViolation) -> Bool {
        let flight = try nextFlight(vote.id)
        guard flight.operation == .vote, !worker.isBatching else {
            throw .wrongAnswer(id: vote.id, expected: flight.operation?.name ?? "greeting or ping")
        }
        let post = flight.argument
        let expected = worker.posts.id(post)
        guard vote.postID == expected else {
            throw .wrongPost(id: vote.id, received: vote.postID, expected: expected)
        }
        guard flight.marks.isEmpty else { return receiveMarked(vote, flight, at: now) }
        worker.recorder.recordAnswer(
            .vote,
            intended: flight.intended,
            sent: flight.sent,
            answered: now,
            phases: worker.phases
        )
        let count = worker.tallied.count(vote, post)
        worker.posts.acknowledge(post, score: count)
        if !worker.scores.rises(client: index, post: post, score: count) {
            noteFallingScore(vote)
        }
        return true
    }

    /// Counts the answer to a vote that was sent before or given up; whether it came in time.
    @inline(never)
    private func receiveMarked(_ vote: VoteAnswer, _ flight: Flight, at now: UInt64) -> Bool {
        guard !flight.marks.contains(.expired) else {
            worker.recorder.lateAnswerCount += 1
            return false
        }
        worker.recorder.recordAnswer(
            .vote,
            intended: flight.intended,
            sent: flight.sent,
            answered: now,
            phases: worker.phases
        )
        acknowledgeAgain(vote, flight)
        return true
    }

    /// Counts an acknowledged vote that was sent before: where it was executed then, its answer has
    /// today's score, which another answer may have too.
    private func acknowledgeAgain(_ vote: VoteAnswer, _ flight: Flight) {
        recovery.settle()
        acknowledge(vote, flight.argument, flight.marks)
    }

    /// Counts the acknowledged vote of a number, which may have been sent before.
    @inline(__always)
    func acknowledge(_ answer: VoteAnswer, _ vote: UInt32, _ marks: Flight.Marks) {
        let count = worker.tallied.count(answer, vote)
        worker.posts.acknowledge(vote, score: count)
        if marks.contains(.doubtful) { worker.ledger.repeatVote(vote) }
        let isWrong =
            marks.contains(.again)
            ? worker.scores.falls(client: index, post: vote, score: count)
            : !worker.scores.rises(client: index, post: vote, score: count)
        if isWrong { noteFallingScore(answer) }
    }

    @inline(__always)
    func nextFlight(_ id: UInt64) throws(ProtocolViolation) -> Flight {
        guard isWaiting else { throw .unasked(id) }
        guard id == headID else { throw .outOfOrder(received: id, due: headID) }
        headID &+= 1
        return worker.flights[index, id]
    }

    @inline(never)
    private func noteFallingScore(_ vote: VoteAnswer) {
        worker.ledger.findings.note(
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
        // Id 0 is about the connection: a refusal or a farewell, before the service closes it.
        guard frame.id > 0 else {
            if let status = frame.status { count(status) }
            if case .goAway(let farewell) = frame.response {
                leave(within: farewell.drainMilliseconds)
            }
            return
        }
        let flight = try nextFlight(frame.id)
        guard let operation = flight.operation else { return receiveUpkeep(frame) }
        guard !flight.marks.contains(.expired) else {
            worker.recorder.lateAnswerCount += 1
            return
        }
        if let status = frame.status { return receive(status, for: flight) }
        if worker.isBatching, operation == .vote {
            return try receiveResults(frame, flight, at: now)
        }
        worker.outstandingCount -= 1
        try check(frame, is: operation, flight)
        worker.recorder.outcomes.ok += 1
        worker.recorder.recordAnswer(
            operation,
            intended: flight.intended,
            sent: flight.sent,
            answered: now,
            phases: worker.phases
        )
    }

    private func receiveUpkeep(_ frame: ServerFrame) {
        if let status = frame.status {
            count(status)
            isRefused = true
        } else if case .hello(let hello) = frame.response {
            greeted(hello)
        }
    }

    private func receive(_ status: Status, for flight: Flight) {
        guard !postpone(flight, status) else { return }
        worker.outstandingCount -= 1
        if flight.marks.contains(.again) { recovery.settle() }
        worker.recorder.outcomes.error += UInt64(worker.weight(flight))
        if isDoubtful(status, flight) {
            // This send had no effect; what became of the first one nobody can say.
            worker.forget(flight, client: number)
        } else {
            worker.fail(flight)
        }
        worker.release(flight)
        count(status)
    }

    /// Whether a request that was answered with an error may have been executed all the same.
    func isDoubtful(_ status: Status, _ flight: Flight) -> Bool {
        flight.marks.contains(.doubtful) || !status.isNotExecuted && flight.sequence > 0
    }

    private func check(
        _ frame: ServerFrame,
        is operation: Operation,
        _ flight: Flight
    ) throws(ProtocolViolation) {
        switch (operation, frame.response) {
        case (.vote, .castVote(let vote)):
            let expected = worker.posts.id(flight.argument)
            guard vote.postID == expected else {
                throw .wrongPost(id: frame.id, received: vote.postID, expected: expected)
            }
            let answer = VoteAnswer(
                id: frame.id,
                postID: vote.postID,
                score: vote.score,
                upvoteCount: vote.upvoteCount,
                downvoteCount: vote.downvoteCount
            )
            if flight.marks.contains(.again) { return acknowledgeAgain(answer, flight) }
            worker.posts.acknowledge(
                flight.argument,
                score: worker.tallied.count(answer, flight.argument)
            )
        case (.create, .post(let post)):
            worker.ledger.create(post.id)
        case (.get, .post(let post)):
            let expected = worker.posts.id(flight.argument)
            guard post.id == expected else {
                throw .wrongPost(id: frame.id, received: post.id, expected: expected)
            }
        case (.list, .listPosts(let page)), (.page, .listPosts(let page)):
            pageToken = page.nextPageToken
            PageCheck.check(page.posts.map(ListedPost.init), into: &worker.ledger.findings)
        default:
            throw .wrongAnswer(id: frame.id, expected: operation.name)
        }
        if flight.marks.contains(.again) { recovery.settle() }
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
