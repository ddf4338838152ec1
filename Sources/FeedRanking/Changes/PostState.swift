// PostCounts is public, as PostID is: the compiler would not inline a `package` initializer into other
// modules, and a replay makes one of each for a log entry.

/// The votes of a post as of a revision.
public struct PostCounts: BitwiseCopyable, Equatable, Sendable {
    /// The post.
    public var id: PostID
    /// All ups counted, or the ballots that are up.
    public var upvoteCount: UInt64
    /// All downs counted, or the ballots that are down.
    public var downvoteCount: UInt64
    /// The number of the post's last write of any kind, votes among them.
    public var revision: UInt64
    /// What RISING sorts by.
    ///
    /// As a change, `initial` leaves the sum of the post as it is.
    public var risingSum: RisingSum

    /// The votes of a post as of a revision.
    public init(
        id: PostID,
        upvoteCount: UInt64,
        downvoteCount: UInt64,
        revision: UInt64,
        risingSum: RisingSum = .initial
    ) {
        self.id = id
        self.upvoteCount = upvoteCount
        self.downvoteCount = downvoteCount
        self.revision = revision
        self.risingSum = risingSum
    }
}

/// The whole state of a post, except for its voters' ballots.
package struct PostState: Equatable, Sendable {
    /// The post, its votes and its last revision.
    package var counts: PostCounts
    /// The feed it is in; never changes.
    package var feed: FeedID
    /// Whether votes set ballots instead of counting each; never changes.
    package var keepsBallots: Bool
    /// Unix time, 0 to `RankingLimits.maximumTimeMilliseconds`; changes only where it is corrected,
    /// and then with `editRevision`.
    package var createTimeMilliseconds: Int64
    /// Unix time of the last edit, within the same bounds.
    package var updateTimeMilliseconds: Int64
    /// The revision of the write that gave the post its content, at most that of the counts.
    package var editRevision: UInt64
    /// The content of the post as of that revision.
    package var content: PostContent

    /// A post as of the revision of its counts.
    package init(
        counts: PostCounts,
        feed: FeedID,
        keepsBallots: Bool,
        createTimeMilliseconds: Int64,
        updateTimeMilliseconds: Int64,
        editRevision: UInt64,
        content: PostContent
    ) {
        self.counts = counts
        self.feed = feed
        self.keepsBallots = keepsBallots
        self.createTimeMilliseconds = createTimeMilliseconds
        self.updateTimeMilliseconds = updateTimeMilliseconds
        self.editRevision = editRevision
        self.content = content
    }
}
