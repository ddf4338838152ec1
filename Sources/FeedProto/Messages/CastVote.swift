/// Votes on a post.
public struct CastVoteRequest: Equatable, Sendable {
    /// The post.
    public var postID: UInt64
    /// What the vote says.
    public var direction: VoteDirection

    /// A vote.
    public init(postID: UInt64, direction: VoteDirection) {
        self.postID = postID
        self.direction = direction
    }
}

/// A post's counts, the vote among them.
public struct CastVoteResponse: Equatable, Sendable {
    /// The post.
    public var postID: UInt64
    /// Upvotes less downvotes.
    public var score: Int64
    /// How many voted for it.
    public var upvoteCount: UInt64
    /// How many voted against it.
    public var downvoteCount: UInt64
    /// The caller's ballot now; unspecified where votes are not ballots.
    public var vote: VoteDirection

    /// By default in a feed where votes are not ballots.
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
