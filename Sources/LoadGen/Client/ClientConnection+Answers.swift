import FeedClient
import FeedProto
import FeedTransport

extension ClientConnection {
    /// Handles every whole frame of `bytes` and returns where the rest begins.
    @inline(__always)
    func receive(_ bytes: RawSpan, at now: UInt64) throws(ProtocolViolation) -> Int {
        var offset = 0
        ledger.shownScores?.time = now
        let firstID = headID
        var run = AnswerRun(answered: now)
        // Answers before a violation count all the same.
        defer {
            run.end(worker.recorder, worker.phases)
            worker.recorder.outcomes.ok += run.answerCount
            worker.outstandingCount -= Int(run.answerCount)
            if run.answerCount > 0 { worker.noteChange(at: now) }
            window.answer(Int(headID - firstID))
        }
        while true {
            offset = receiveVotes(bytes, offset, &run)
            guard let body = try nextBody(bytes, offset) else { break }
            let dueID = headID
            do throws(ProtocolViolation) {
                if ledger.isBatching, worker.batchAnswer.scan(bytes, in: body) {
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

    /// Counts acknowledged votes, each as expected in everything; returns where the first frame
    /// begins that is anything else.
    ///
    /// Nearly all answers of a load are such votes. What is left goes the general way, which takes votes,
    /// too, and finds what is wrong with one.
    @inline(__always)
    private func receiveVotes(_ bytes: RawSpan, _ start: Int, _ run: inout AnswerRun) -> Int {
        guard !ledger.isBatching else { return start }
        var offset = start
        var id = headID
        // With many posts each one is a cache miss, which is over before its answer is read.
        let isAhead = ledger.posts.isLarge
        if isAhead { prefetchPosts(id..<min(id &+ Self.lead, nextID)) }
        while id < nextID {
            if isAhead, id &+ Self.lead < nextID { prefetchPost(id &+ Self.lead) }
            var end = offset
            guard let vote = VoteAnswer(scanning: bytes, at: &end), vote.id == id else { break }
            let request = worker.inFlight[index, id]
            guard request.operation == .vote, request.marks.isEmpty,
                vote.postID == ledger.votedPostID(request.argument)
            else { break }
            run.add(
                intended: request.intended,
                sent: request.sent,
                to: worker.recorder,
                worker.phases
            )
            ledger.acknowledgeFirst(vote, of: request.argument, in: request, client: index)
            id &+= 1
            offset = end
        }
        headID = id
        if hasPassed { skipAnswered() }
        return offset
    }

    // Kept apart: `receiveVotes` is too large for the compiler to inline more.
    @inline(never)
    private func prefetchPosts(_ ids: Range<UInt64>) {
        for id in ids { prefetchPost(id) }
    }

    /// Asks for the memory of the post of a vote in flight: its id, and without ballots its tally.
    @inline(__always)
    private func prefetchPost(_ id: UInt64) {
        let request = worker.inFlight[index, id]
        guard request.operation == .vote else { return }
        if ledger.tallied == .ballots {
            ledger.prefetchPostID(request.argument)
        } else {
            ledger.posts.prefetch(request.argument)
        }
    }

    /// How many answers are read while the memory for one more is fetched.
    private static var lead: UInt64 { 8 }

    @inline(__always)
    func dueRequest(
        _ id: UInt64,
        mayPass: Bool = false
    ) throws(ProtocolViolation) -> InFlightRequest {
        guard isWaiting else { throw .unasked(id) }
        guard id == headID else { return try passingRequest(id, mayPass) }
        headID &+= 1
        let request = worker.inFlight[index, id]
        if hasPassed { skipAnswered() }
        return request
    }

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
                if goAway.reason == .notLeader || !goAway.leader.isEmpty {
                    search?.turn(to: goAway.leader)
                }
                leave(within: goAway.drainMilliseconds)
            }
            return
        }
        let request = try dueRequest(frame.id, mayPass: frame.passesOthers)
        guard let operation = request.operation else { return try receiveUpkeep(frame) }
        try checkVote(frame, is: operation, request)
        guard !request.marks.contains(.expired) else {
            worker.recorder.totals.lateAnswerCount += 1
            return
        }
        if let status = frame.status { return receive(status, for: request) }
        if ledger.isBatching, operation == .vote {
            return try receiveResults(frame, request, at: now)
        }
        try check(frame, is: operation, request)
        worker.answered(request, operation, at: now)
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

    private func receiveUpkeep(_ frame: ServerFrame) throws(ProtocolViolation) {
        if let status = frame.status {
            count(status)
            if isGreeting { stage = .greeting(isRefused: true) }
            return
        }
        switch frame.response {
        case .hello(let hello): helloAnswered(hello)
        case .ping where !isGreeting: break
        default: throw .wrongAnswer(id: frame.id, expected: "greeting or ping")
        }
    }

    private func receive(_ status: Status, for request: InFlightRequest) {
        guard !postpone(request, status) else { return }
        if request.marks.contains(.again) { recovery.answered() }
        // If this send had no effect, the outcome of the first one may be unknown.
        let end = isDoubtful(status, request) ? RequestEnd.failedInDoubt : .failed
        worker.end(request, as: end, client: index)
        count(status)
    }

    /// Whether a request that was answered with an error may still have been executed.
    private func isDoubtful(_ status: Status, _ request: InFlightRequest) -> Bool {
        request.marks.contains(.doubtful) || !status.isNotExecuted && request.sequence > 0
    }

    private func check(
        _ frame: ServerFrame,
        is operation: Operation,
        _ request: InFlightRequest
    ) throws(ProtocolViolation) {
        switch (operation, frame.response) {
        case (.vote, .castVote(let vote)):
            let answer = VoteAnswer(frame.id, vote)
            ledger.acknowledge(answer, of: request.argument, in: request, client: index)
        case (.create, .post(let post)):
            ledger.counts.create(post.id.rawValue)
        case (.get, .post(let post)):
            let expected = ledger.posts.id(request.argument)
            guard post.id.rawValue == expected else {
                throw .wrongPost(id: frame.id, received: post.id.rawValue, expected: expected)
            }
        case (.list, .listPosts(let page)), (.page, .listPosts(let page)):
            receive(page, operation, request)
        default:
            throw .wrongAnswer(id: frame.id, expected: operation.name)
        }
        if request.marks.contains(.again) { recovery.answered() }
    }

    /// Checks that the answer of a vote is to a vote on that post, also where it comes too late.
    private func checkVote(
        _ frame: ServerFrame,
        is operation: Operation,
        _ request: InFlightRequest
    ) throws(ProtocolViolation) {
        guard frame.status == nil, case .castVote(let vote) = frame.response else { return }
        guard operation == .vote, !ledger.isBatching else {
            throw .wrongAnswer(id: frame.id, expected: operation.name)
        }
        let expected = ledger.votedPostID(request.argument)
        guard vote.postID.rawValue == expected else {
            throw .wrongPost(id: frame.id, received: vote.postID.rawValue, expected: expected)
        }
    }

    func count(_ status: Status) {
        worker.recorder.totals.failures.countServerError("\(status.code)/\(status.reason)")
    }

    /// The request of an answer that passes others: a service whose disk hangs refuses calls, and answers
    /// pings, before it answers changes that it has executed.
    @inline(never)
    private func passingRequest(
        _ id: UInt64,
        _ mayPass: Bool
    ) throws(ProtocolViolation) -> InFlightRequest {
        guard mayPass, (headID..<nextID).contains(id) else {
            throw .outOfOrder(received: id, due: headID)
        }
        let request = worker.inFlight[index, id]
        guard !request.marks.contains(.answered) else { throw .unasked(id) }
        var passed = request
        passed.operation = nil
        passed.marks = .answered
        worker.inFlight[index, id] = passed
        hasPassed = true
        return request
    }

    @inline(never)
    private func skipAnswered() {
        while isWaiting, worker.inFlight[index, headID].marks.contains(.answered) { headID &+= 1 }
        if !isWaiting { hasPassed = false }
    }

    /// Checks a page, and goes on from it with the next one.
    func receive(_ page: ListPostsResponse, _ operation: Operation, _ request: InFlightRequest) {
        let posts = page.posts.map(ListedPost.init)
        PageCheck.check(posts, into: &ledger.counts.findings)
        ledger.shownScores?.check(
            posts,
            isFirst: operation == .list,
            askedAt: request.sent,
            into: &ledger.counts.findings
        )
        pageToken = page.nextPageToken
    }
}

/// Batches of votes and their answers: each vote is checked and counted like a vote sent alone.
extension ClientConnection {
    /// Takes the next requests of this connection's stream, whose votes leave in batches.
    @inline(never)
    func takeBatches(_ count: Int, of stream: inout RequestStream, intended: UInt64) {
        for _ in 0..<count {
            let request = worker.votesAsScheduled ? worker.nextScheduled() : stream.next()
            let argument =
                request.operation == .vote
                ? worker.makeBatch(request.argument) { stream.nextVote() } : request.argument
            take(request, argument, intended: intended)
        }
    }

    func encodeBatch(_ request: InFlightRequest, id: UInt64) {
        let place = request.argument
        worker.output.appendBatch(
            id: id,
            sequence: request.sequence,
            actingUserID: actingUserID(request),
            count: ledger.batches.count(place)
        ) { item in
            let vote = ledger.batches.vote(item, of: place)
            return (ledger.votedPostID(vote), ledger.tallied.ballot(vote))
        }
    }

    /// Handles the answer in `worker.batchAnswer`, in which every vote was counted.
    // Kept apart: the compiler inlines it else, into what reads single votes.
    @inline(never)
    private func receiveBatch(at now: UInt64) throws(ProtocolViolation) {
        let id = worker.batchAnswer.id
        let request = try dueRequest(id)
        guard request.operation == .vote else {
            throw .wrongAnswer(id: id, expected: request.operation?.name ?? "greeting or ping")
        }
        guard !request.marks.contains(.expired) else {
            worker.recorder.totals.lateAnswerCount += 1
            return
        }
        let count = ledger.batches.count(request.argument)
        try checkCount(worker.batchAnswer.count, of: count, id: id)
        let answers = worker.batchAnswer.votes
        for item in 0..<count {
            let vote = ledger.batches.vote(item, of: request.argument)
            if ledger.posts.isLarge, ledger.tallied != .ballots { ledger.posts.prefetch(vote) }
            try check(answers[item], vote)
        }
        for item in 0..<count {
            let vote = ledger.batches.vote(item, of: request.argument)
            if request.marks.isEmpty {
                ledger.acknowledgeFirst(answers[item], of: vote, in: request, client: index)
            } else {
                ledger.acknowledge(answers[item], of: vote, in: request, client: index)
            }
        }
        finish(request, okCount: count, at: now)
    }

    /// Handles the answer to a batch that is no plain one: some votes may have failed, or it has times.
    private func receiveResults(
        _ frame: ServerFrame,
        _ sent: InFlightRequest,
        at now: UInt64
    ) throws(ProtocolViolation) {
        guard case .batchCastVotes(let response) = frame.response else {
            throw .wrongAnswer(id: frame.id, expected: "batch of votes")
        }
        let results = response.results
        let count = ledger.batches.count(sent.argument)
        try checkCount(results.count, of: count, id: frame.id)
        for item in 0..<count {
            guard (results[item].vote == nil) != (results[item].status == nil) else {
                throw .wrongResult(id: frame.id, number: item + 1)
            }
            guard let vote = results[item].vote else { continue }
            try check(VoteAnswer(frame.id, vote), ledger.batches.vote(item, of: sent.argument))
        }
        if let status = results.lazy.compactMap(\.status).first(where: \.isTemporary) {
            // The answer to the next send counts the votes that this send counted once more.
            var request = sent
            request.marks.insert(.doubtful)
            guard !postpone(request, status) else { return }
        }
        var okCount = 0
        for item in 0..<count {
            let vote = ledger.batches.vote(item, of: sent.argument)
            if let answer = results[item].vote {
                ledger.acknowledge(VoteAnswer(frame.id, answer), of: vote, in: sent, client: index)
                okCount += 1
            } else if let status = results[item].status {
                if isDoubtful(status, sent) {
                    ledger.forget(vote, of: sent, client: index)
                } else {
                    ledger.fail(vote)
                }
                self.count(status)
            }
        }
        finish(sent, okCount: okCount, times: frame.times, at: now)
    }

    private func finish(
        _ request: InFlightRequest,
        okCount: Int,
        times: CallTimes? = nil,
        at now: UInt64
    ) {
        let failedCount = ledger.batches.count(request.argument) - okCount
        worker.answered(request, .vote, count: UInt64(okCount), at: now)
        worker.recorder.outcomes.error += UInt64(failedCount)
        if okCount > 0 { recordTimes(times, of: request, at: now) }
        if request.marks.contains(.again) { recovery.answered() }
        ledger.release(request)
    }

    private func checkCount(
        _ received: Int,
        of expected: Int,
        id: UInt64
    ) throws(ProtocolViolation) {
        guard received == expected else {
            throw .wrongResultCount(id: id, received: received, expected: expected)
        }
    }

    @inline(__always)
    private func check(_ answer: VoteAnswer, _ vote: UInt32) throws(ProtocolViolation) {
        let expected = ledger.votedPostID(vote)
        guard answer.postID == expected else {
            throw .wrongPost(id: answer.id, received: answer.postID, expected: expected)
        }
    }
}

extension VoteAnswer {
    fileprivate init(_ id: UInt64, _ vote: CastVoteResponse) {
        self.init(
            id: id,
            postID: vote.postID.rawValue,
            score: vote.score,
            upvoteCount: vote.upvoteCount,
            downvoteCount: vote.downvoteCount,
            standingBallot: UInt64(truncatingIfNeeded: vote.vote.rawValue)
        )
    }
}

extension ServerFrame {
    /// Whether the answer may come before those to earlier requests.
    fileprivate var passesOthers: Bool {
        if case .ping = response { return true }
        return status?.code == .unavailable
    }
}

extension ListedPost {
    init(_ post: Post) {
        self.init(
            id: post.id.rawValue,
            score: post.score,
            title: post.title,
            createTimeMilliseconds: post.createTimeMilliseconds
        )
    }
}
