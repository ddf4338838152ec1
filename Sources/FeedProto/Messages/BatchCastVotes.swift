/// Casts several votes in one frame; the batch is not atomic.
public struct BatchCastVotesRequest: Equatable, Sendable {
    /// The votes; those on one post are executed in their order.
    public var votes: [CastVoteRequest]

    /// A batch of votes.
    public init(votes: [CastVoteRequest]) {
        self.votes = votes
    }
}

/// The result of each vote.
public struct BatchCastVotesResponse: Equatable, Sendable {
    /// The results, in the order of the votes.
    public var results: [CastVoteResult]

    /// One result for each vote.
    public init(results: [CastVoteResult]) {
        self.results = results
    }
}
