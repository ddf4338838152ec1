/// Votes on a post.
public struct CastVoteRequest: Equatable, Sendable {
    /// The post.
    public var postID: UInt64
    /// The direction of the vote.
    public var direction: VoteDirection

    /// A vote.
    public init(postID: UInt64, direction: VoteDirection) {
        self.postID = postID
        self.direction = direction
    }
}

/// A post's counts, including the vote.
public struct CastVoteResponse: Equatable, Sendable {
    /// The post.
    public var postID: UInt64
    /// Upvotes minus downvotes.
    public var score: Int64
    /// The number of votes for the post.
    public var upvoteCount: UInt64
    /// The number of votes against the post.
    public var downvoteCount: UInt64
    /// The caller's ballot now; unspecified where votes are not ballots.
    public var vote: VoteDirection

    /// Counts, by default of a feed where votes are not ballots.
    public init(
        postID: UInt64,
        score: Int64,
        upvoteCount: UInt64,
        downvoteCount: UInt64,
        vote: VoteDirection = .unspecified
    ) {
        self.postID = postID
        self.score = score
        self.upvoteCount = upvoteCount
        self.downvoteCount = downvoteCount
        self.vote = vote
    }
}
