import FeedProto
import FeedTransport

/// The answers to batches of votes: each vote is checked and counted as one that was sent alone.
extension ClientConnection {
    /// Handles the answer in `worker.batchAnswer`, whose votes were all counted.
    func receiveBatch(at now: UInt64) throws(ProtocolViolation) {
        let id = worker.batchAnswer.id
        let flight = try nextFlight(id)
        guard flight.operation == .vote else {
            throw .wrongAnswer(id: id, expected: flight.operation?.name ?? "greeting or ping")
        }
        guard !flight.marks.contains(.expired) else {
            worker.recorder.lateAnswerCount += 1
            return
        }
        let count = worker.batches.count(flight.argument)
        try checkCount(worker.batchAnswer.count, of: count, id: id)
        let answers = worker.batchAnswer.votes
        for item in 0..<count {
            let vote = worker.batches.vote(item, of: flight.argument)
            try check(answers[item], vote)
        }
        for item in 0..<count {
            acknowledge(
                answers[item],
                worker.batches.vote(item, of: flight.argument),
                flight.marks
            )
        }
        finish(flight, okCount: count, at: now)
    }

    /// Handles the answer to a batch of which some votes may have failed.
    func receiveResults(
        _ frame: ServerFrame,
        _ sent: Flight,
        at now: UInt64
    ) throws(ProtocolViolation) {
        guard case .batchCastVotes(let response) = frame.response else {
            throw .wrongAnswer(id: frame.id, expected: "batch of votes")
        }
        let results = response.results
        let count = worker.batches.count(sent.argument)
        try checkCount(results.count, of: count, id: frame.id)
        for item in 0..<count {
            guard let vote = results[item].vote else { continue }
            try check(
                VoteAnswer(frame.id, vote),
                worker.batches.vote(item, of: sent.argument)
            )
        }
        if let status = results.lazy.compactMap(\.status).first(where: \.isRetryable) {
            // What was counted in this send is counted again in the answer to the next one.
            var flight = sent
            flight.marks.insert(.doubtful)
            guard !postpone(flight, status) else { return }
        }
        var okCount = 0
        for item in 0..<count {
            let vote = worker.batches.vote(item, of: sent.argument)
            if let answer = results[item].vote {
                acknowledge(VoteAnswer(frame.id, answer), vote, sent.marks)
                okCount += 1
            } else if let status = results[item].status {
                if isDoubtful(status, sent) {
                    worker.ledger.forget(vote: vote)
                } else {
                    worker.ledger.fail(vote: vote)
                }
                self.count(status)
            }
        }
        finish(sent, okCount: okCount, at: now)
    }

    /// Ends a batch that has its answer.
    private func finish(_ flight: Flight, okCount: Int, at now: UInt64) {
        let failedCount = worker.batches.count(flight.argument) - okCount
        worker.outstandingCount -= 1
        worker.recorder.outcomes.ok += UInt64(okCount)
        worker.recorder.outcomes.error += UInt64(failedCount)
        if okCount > 0 {
            worker.recorder.recordAnswer(
                .vote,
                count: UInt64(okCount),
                intended: flight.intended,
                sent: flight.sent,
                answered: now,
                phases: worker.phases
            )
        }
        if flight.marks.contains(.again) { recovery.settle() }
        worker.release(flight)
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
        let expected = worker.posts.id(vote)
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
            downvoteCount: vote.downvoteCount
        )
    }
}
