public import FeedProto

extension FeedCalling {
    /// Votes on a post.
    ///
    /// In a TALLY feed a repeated vote counts again, so check ``FeedClientError/effect`` before
    /// repeating one. In a BALLOT feed a vote sets the caller's one ballot, for which the client
    /// needs an id.
    ///
    /// - Parameters:
    ///   - id: The post.
    ///   - direction: The direction of the vote.
    ///   - timeout: How long it may take; nil is the client's timeout.
    /// - Returns: The post's counts, including the vote.
    /// - Throws: A ``FeedClientError``, as `POST_NOT_FOUND`.
    @discardableResult
    public func vote(
        on id: UInt64,
        _ direction: VoteDirection,
        timeout: Duration? = nil
    ) async throws(FeedClientError) -> CastVoteResponse {
        try await call(
            .castVote(CastVoteRequest(postID: id, direction: direction)),
            timeout: timeout
        ) {
            guard case .castVote(let counts) = $0 else { return nil }
            return counts
        }
    }

    /// Votes up to 256 times in one call; each vote succeeds or fails by itself.
    ///
    /// - Parameters:
    ///   - votes: The votes. Votes on one post are executed in their order; the order of votes on
    ///     different posts is not defined.
    ///   - timeout: How long all of them may take; nil is the client's timeout.
    /// - Returns: The result of each vote, in their order.
    /// - Throws: A ``FeedClientError`` where none of the votes has a result.
    public func votes(
        _ votes: [CastVoteRequest],
        timeout: Duration? = nil
    ) async throws(FeedClientError) -> [Result<CastVoteResponse, Status>] {
        try await call(.batchCastVotes(BatchCastVotesRequest(votes: votes)), timeout: timeout) {
            guard case .batchCastVotes(let batch) = $0, batch.results.count == votes.count else {
                return nil
            }
            let results = batch.results.compactMap(\.result)
            return results.count == votes.count ? results : nil
        }
    }
}

extension CastVoteResult {
    /// The one of the two that is present; nil where the service sent neither.
    fileprivate var result: Result<CastVoteResponse, Status>? {
        if let status { return .failure(status) }
        return vote.map(Result.success)
    }
}
