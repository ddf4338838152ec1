internal import FeedProto
internal import FeedRanking

/// Votes that a deliberate fault makes go wrong.
extension VoteCalls {
    /// Whether the outcome of the next numbered call is not recorded.
    mutating func forgetsNextOutcome() -> Bool { faultyVotes?.forgetsNext() ?? false }

    /// Counts one vote in the way of a deliberate fault.
    mutating func castVoteWrongly(
        _ request: CastVoteRequest,
        _ wrong: FaultyVotes.Wrong,
        from caller: inout Caller,
        id: UInt64,
        _ answers: inout Answers
    ) throws(Status) -> Answer {
        switch wrong {
        case .forgotten:
            preconditionFailure("The fault forgets the outcome, not the vote.")
        case .doubled:
            _ = try cast(request, from: &caller, &answers)
            let outcome = try cast(request, from: &caller, &answers)
            return .vote(CastVoteResponse(request.postID, outcome), revision: outcome.revision)
        case .dropped:
            return .vote(try pretendVote(request), revision: environment.store.revision)
        case .answeredEarly:
            let response = try pretendVote(request)
            let revision = environment.store.revision
            answers.append(ServerFrame(id: id, revision: revision, response: .castVote(response)))
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
        let row: PostRow
        do throws(RankingError) {
            row = try readPost(request.postID, voter: nil)
        } catch {
            throw Status(error)
        }
        return CastVoteResponse(
            postID: request.postID,
            score: row.score + 1,
            upvoteCount: row.upvoteCount + 1,
            downvoteCount: row.downvoteCount
        )
    }
}
