internal import FeedLog
internal import FeedProto
internal import FeedRanking

/// CastVote and BatchCastVotes.
extension RequestHandler {
    /// Counts one vote and answers with the post's counts.
    mutating func castVote(
        _ request: CastVoteRequest,
        from caller: inout Caller,
        id: UInt64
    ) throws(Status) -> Answer {
        if let wrong = faultyVotes?.next() {
            return try castVoteWrongly(request, wrong, from: &caller, id: id)
        }
        let outcome = try vote(request, from: &caller)
        return .vote(CastVoteResponse(request.postID, outcome), revision: outcome.revision)
    }

    /// Counts votes in order; each succeeds or fails on its own.
    ///
    /// - Parameters:
    ///   - request: The votes.
    ///   - caller: Who votes.
    ///   - done: The votes that were counted before, which are not counted again.
    ///   - refusal: Why none of the others may be counted; nil where they may.
    /// - Returns: The answer, and the votes that are counted now.
    /// - Throws: A refusal of the whole batch, of which no vote is counted.
    mutating func batchCastVotes(
        _ request: BatchCastVotesRequest,
        from caller: inout Caller,
        except done: ItemMask = ItemMask(),
        refusal: Status? = nil
    ) throws(Status) -> (answer: Answer, done: ItemMask) {
        try checkBatch(
            request.votes.count,
            field: "votes",
            limit: context.limits.maximumBatchVoteCount
        )
        var results: [CastVoteResult] = []
        results.reserveCapacity(request.votes.count)
        var done = done
        for (item, vote) in request.votes.enumerated() {
            do throws(Status) {
                let counts: CastVoteResponse
                if done[item] {
                    counts = try countsNow(of: vote.postID, for: caller).counts
                } else {
                    if let refusal { throw refusal }
                    counts = CastVoteResponse(vote.postID, try self.vote(vote, from: &caller))
                    done[item] = true
                }
                results.append(CastVoteResult(status: nil, vote: counts))
            } catch {
                results.append(CastVoteResult(status: error, vote: nil))
            }
        }
        let response = BatchCastVotesResponse(results: results)
        return (.response(.batchCastVotes(response), revision: store.revision), done)
    }

    /// Counts one vote of any kind; a caller's first ballot makes it a voter.
    mutating func vote(
        _ request: CastVoteRequest,
        from caller: inout Caller
    ) throws(Status) -> VoteOutcome {
        guard let direction = FeedRanking.VoteDirection(request.direction) else {
            throw .badVote(request.direction)
        }
        let post = PostID(rawValue: request.postID)
        if case .clear = direction { return try clear(post, caller) }
        do throws(RankingError) {
            return try vote(post, direction, caller.voter)
        } catch {
            // Only ballots need a voter, so only they look one up.
            guard case .voterRequired = error else { throw Status(error) }
        }
        let voter = try becomeVoter(&caller)
        do throws(RankingError) {
            return try vote(post, direction, voter)
        } catch {
            throw Status(error)
        }
    }

    /// Takes a ballot back; a device that never voted has none, and needs no number for that.
    private mutating func clear(
        _ post: PostID,
        _ caller: borrowing Caller
    ) throws(Status) -> VoteOutcome {
        let outcome: VoteOutcome
        do throws(RankingError) {
            outcome = try vote(post, .clear, voter(of: caller))
        } catch {
            throw Status(error)
        }
        // Nothing has changed for a caller without identity, who is told why.
        guard caller.device != nil else { throw .identityRequired }
        return outcome
    }

    private mutating func vote(
        _ post: PostID,
        _ direction: FeedRanking.VoteDirection,
        _ voter: VoterID?
    ) throws(RankingError) -> VoteOutcome {
        let outcome = try store.castVote(post, direction, voter: voter, sink: changeLog)
        if outcome.refreshIsDue { refreshLater(stripeOf: post) }
        return outcome
    }

    /// Counts one vote in the way of a deliberate fault.
    private mutating func castVoteWrongly(
        _ request: CastVoteRequest,
        _ wrong: FaultyVotes.Wrong,
        from caller: inout Caller,
        id: UInt64
    ) throws(Status) -> Answer {
        switch wrong {
        case .forgotten:
            preconditionFailure("What is forgotten is the outcome, not the vote.")
        case .doubled:
            _ = try vote(request, from: &caller)
            let outcome = try vote(request, from: &caller)
            return .vote(CastVoteResponse(request.postID, outcome), revision: outcome.revision)
        case .dropped:
            return .vote(try pretendVote(request), revision: store.revision)
        case .answeredEarly:
            let response = try pretendVote(request)
            append(ServerFrame(id: id, revision: store.revision, response: .castVote(response)))
            throw Status(
                code: .internal,
                reason: .internal,
                message: "The vote failed after it was answered.",
                isNotExecuted: false
            )
        }
    }

    /// The answer that an upvote would get if it were counted.
    private mutating func pretendVote(_ request: CastVoteRequest) throws(Status) -> CastVoteResponse
    {
        page.removeAll()
        do throws(RankingError) {
            try store.post(PostID(rawValue: request.postID), voter: nil, into: &page)
        } catch {
            throw Status(error)
        }
        let row = page.rows[0]
        return CastVoteResponse(
            postID: request.postID,
            score: row.score + 1,
            upvoteCount: row.upvoteCount + 1,
            downvoteCount: row.downvoteCount
        )
    }
}
