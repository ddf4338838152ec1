internal import FeedProto
internal import FeedRanking

/// CastVote and BatchCastVotes.
extension RequestHandler {
    /// Counts one vote and answers with the post's counts.
    func castVote(
        _ request: CastVoteRequest,
        from caller: borrowing Caller,
        id: UInt64
    ) throws(Status) -> Answer {
        if let wrong = faultyVotes?.next() {
            return try castVoteWrongly(request, wrong, from: caller, id: id)
        }
        let outcome = try vote(request, from: caller)
        return .response(
            .castVote(CastVoteResponse(request.postID, outcome)),
            revision: outcome.revision
        )
    }

    /// Counts votes in order; each succeeds or fails on its own.
    func batchCastVotes(
        _ request: BatchCastVotesRequest,
        from caller: borrowing Caller
    ) throws(Status) -> Answer {
        try checkBatch(
            request.votes.count,
            field: "batch_cast_votes.votes",
            limit: context.limits.maximumBatchVoteCount
        )
        var results: [CastVoteResult] = []
        results.reserveCapacity(request.votes.count)
        for vote in request.votes {
            do throws(Status) {
                let outcome = try self.vote(vote, from: caller)
                results.append(.success(CastVoteResponse(vote.postID, outcome)))
            } catch {
                results.append(.failure(error))
            }
        }
        return .response(
            .batchCastVotes(BatchCastVotesResponse(results: results)),
            revision: store.revision
        )
    }

    private func vote(
        _ request: CastVoteRequest,
        from caller: borrowing Caller
    ) throws(Status) -> VoteOutcome {
        guard let direction = FeedRanking.VoteDirection(request.direction) else {
            throw .badVote(request.direction)
        }
        let post = PostID(rawValue: request.postID)
        do throws(RankingError) {
            let outcome = try store.castVote(post, direction, voter: caller.voter)
            if outcome.settlingIsDue { settleLater(stripeOf: post) }
            return outcome
        } catch {
            throw Status(error)
        }
    }
}
