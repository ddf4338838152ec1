internal import FeedClient
import FeedProto
import FeedTransport

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

    /// Encodes a batch into the bytes of the next write.
    func encodeBatch(_ request: InFlightRequest, id: UInt64) {
        let place = request.argument
        worker.output.appendBatch(
            id: id,
            sequence: request.sequence,
            actingUserID: actingUserID(request),
            count: worker.batches.count(place)
        ) { item in
            let vote = worker.batches.vote(item, of: place)
            return (worker.votedPostID(vote), worker.tallied.ballot(vote))
        }
    }

    /// Handles the answer in `worker.batchAnswer`, in which every vote was counted.
    func receiveBatch(at now: UInt64) throws(ProtocolViolation) {
        let id = worker.batchAnswer.id
        let request = try dueRequest(id)
        guard request.operation == .vote else {
            throw .wrongAnswer(id: id, expected: request.operation?.name ?? "greeting or ping")
        }
        guard !request.marks.contains(.expired) else {
            worker.recorder.lateAnswerCount += 1
            return
        }
        let count = worker.batches.count(request.argument)
        try checkCount(worker.batchAnswer.count, of: count, id: id)
        let answers = worker.batchAnswer.votes
        for item in 0..<count {
            let vote = worker.batches.vote(item, of: request.argument)
            if worker.posts.isLarge, worker.tallied != .ballots { worker.posts.prefetch(vote) }
            try check(answers[item], vote)
        }
        for item in 0..<count {
            let vote = worker.batches.vote(item, of: request.argument)
            if request.marks.isEmpty {
                acknowledgeFirst(answers[item], of: vote, in: request)
            } else {
                acknowledge(answers[item], of: vote, in: request)
            }
        }
        finish(request, okCount: count, at: now)
    }

    /// Handles the answer to a batch that is no plain one: some votes may have failed, or it has times.
    func receiveResults(
        _ frame: ServerFrame,
        _ sent: InFlightRequest,
        at now: UInt64
    ) throws(ProtocolViolation) {
        guard case .batchCastVotes(let response) = frame.response else {
            throw .wrongAnswer(id: frame.id, expected: "batch of votes")
        }
        let results = response.results
        let count = worker.batches.count(sent.argument)
        try checkCount(results.count, of: count, id: frame.id)
        for item in 0..<count {
            guard (results[item].vote == nil) != (results[item].status == nil) else {
                throw .wrongResult(id: frame.id, number: item + 1)
            }
            guard let vote = results[item].vote else { continue }
            try check(
                VoteAnswer(frame.id, vote),
                worker.batches.vote(item, of: sent.argument)
            )
        }
        if let status = results.lazy.compactMap(\.status).first(where: \.isTemporary) {
            // The answer to the next send counts the votes that this send counted once more.
            var request = sent
            request.marks.insert(.doubtful)
            guard !postpone(request, status) else { return }
        }
        var okCount = 0
        for item in 0..<count {
            let vote = worker.batches.vote(item, of: sent.argument)
            if let answer = results[item].vote {
                acknowledge(VoteAnswer(frame.id, answer), of: vote, in: sent)
                okCount += 1
            } else if let status = results[item].status {
                if isDoubtful(status, sent) {
                    worker.forget(vote, of: sent, client: index)
                } else {
                    worker.fail(vote)
                }
                self.count(status)
            }
        }
        finish(sent, okCount: okCount, times: frame.times, at: now)
    }

    /// Ends a batch that was answered.
    private func finish(
        _ request: InFlightRequest,
        okCount: Int,
        times: CallTimes? = nil,
        at now: UInt64
    ) {
        let failedCount = worker.batches.count(request.argument) - okCount
        worker.outstandingCount -= 1
        worker.recorder.outcomes.ok += UInt64(okCount)
        worker.recorder.outcomes.error += UInt64(failedCount)
        if okCount > 0 {
            worker.recorder.recordAnswer(
                .vote,
                count: UInt64(okCount),
                intended: request.intended,
                sent: request.sent,
                answered: now,
                phases: worker.phases
            )
            recordTimes(times, of: request, at: now)
        }
        if request.marks.contains(.again) { recovery.answered() }
        worker.release(request)
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
        let expected = worker.votedPostID(vote)
        guard answer.postID == expected else {
            throw .wrongPost(id: answer.id, received: answer.postID, expected: expected)
        }
    }
}

extension VoteAnswer {
    /// The counts of a decoded answer.
    init(_ id: UInt64, _ vote: CastVoteResponse) {
        self.init(
            id: id,
            postID: vote.postID,
            score: vote.score,
            upvoteCount: vote.upvoteCount,
            downvoteCount: vote.downvoteCount,
            standingBallot: UInt64(truncatingIfNeeded: vote.vote.rawValue)
        )
    }
}
