public import FeedProto

extension FeedClient {
    /// Votes on a post, as every ``FeedCalling`` does.
    ///
    /// It is a function of this type, too, since the most frequent call pays for each function that it
    /// passes. It runs where its caller does, which spares a look at the executor at each step.
    ///
    /// - Parameters:
    ///   - id: The post.
    ///   - direction: The direction of the vote.
    ///   - timeout: How long it may take; nil is the client's timeout.
    /// - Returns: The post's counts, including the vote.
    /// - Throws: A ``FeedClientError``, as `POST_NOT_FOUND`.
    @discardableResult
    nonisolated(nonsending) public func vote(
        on id: UInt64,
        _ direction: VoteDirection,
        timeout: Duration? = nil
    ) async throws(FeedClientError) -> CastVoteResponse {
        let request = Request.castVote(CastVoteRequest(postID: id, direction: direction))
        let changeCount = links.sessionChangeCount
        let answer: Answer
        do throws(FeedClientError) {
            answer = try await links.link(for: request).call(
                request,
                minimumRevision: 0,
                actingUserID: actingUserID,
                timeout: timeout ?? self.timeout
            )
        } catch {
            // The end of a session says nothing of one that has begun since.
            if error.endsSession, changeCount == links.sessionChangeCount { sessionStore?.remove() }
            throw error
        }
        guard case .castVote(let counts) = answer.response else {
            throw .wrongAnswer(to: request)
        }
        return counts
    }
}
