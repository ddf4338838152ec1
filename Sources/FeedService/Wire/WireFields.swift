internal import FeedProto
internal import FeedRanking

// The values of votes and of posts on a page as the wire has them. They are of this module, and not of
// FeedCalls: a vote and each post of a page use them, and the compiler inlines no `package` function into
// another module.

extension FeedRanking.VoteDirection {
    /// The direction of a number from the wire; nil for numbers without a meaning.
    init?(_ direction: FeedProto.VoteDirection) {
        switch direction {
        case .up: self = .up
        case .down: self = .down
        case .clear: self = .clear
        default: return nil
        }
    }
}

extension FeedProto.VoteDirection {
    /// A standing ballot; none is unspecified.
    init(_ direction: FeedRanking.VoteDirection?) {
        switch direction {
        case .up: self = .up
        case .down: self = .down
        case .clear, nil: self = .unspecified
        }
    }
}

extension CastVoteResponse {
    init(_ postID: UInt64, _ outcome: VoteOutcome) {
        self.init(
            postID: postID,
            score: outcome.score,
            upvoteCount: outcome.upvoteCount,
            downvoteCount: outcome.downvoteCount,
            vote: FeedProto.VoteDirection(outcome.standingVote)
        )
    }
}

extension FeedProto.TextRange {
    init(_ range: FeedRanking.TextRange) {
        self.init(offset: range.offset, byteCount: range.count)
    }
}

extension PostFields {
    /// A row of a page; the feed's name is in the same texts.
    init(_ row: PostRow, feed: FeedProto.TextRange) {
        self.init(id: row.id.rawValue)
        self.feed = feed
        authorID = row.authorID
        authorName = FeedProto.TextRange(row.authorName)
        title = FeedProto.TextRange(row.title)
        text = FeedProto.TextRange(row.text)
        linkURL = FeedProto.TextRange(row.linkURL)
        thumbnailURL = FeedProto.TextRange(row.thumbnailURL)
        imageURL = FeedProto.TextRange(row.imageURL)
        score = row.score
        upvoteCount = row.upvoteCount
        downvoteCount = row.downvoteCount
        commentCount = row.commentCount
        createTimeMilliseconds = row.createTimeMilliseconds
        updateTimeMilliseconds = row.updateTimeMilliseconds
        revision = row.revision
        isDeleted = row.isDeleted
    }
}

extension SyncPostsFields {
    /// A page of changes of an instance.
    init(_ page: SyncPage, _ instanceID: UInt64) {
        self.init(nextRevision: page.position.revision, instanceID: instanceID)
        hasMore = page.hasMore
        isReset = page.isReset
        copyRevision = page.position.copyRevision
    }
}
