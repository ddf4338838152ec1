// The rows have ids, so `import FeedRanking` brings the types of ids.
@_exported public import FeedIdentifiers

/// A range of `PostPage.texts`.
package struct TextRange: Equatable, Sendable {
    package var offset: UInt32
    package var count: UInt32

    static let none = TextRange(offset: 0, count: 0)

    package init(offset: UInt32, count: UInt32) {
        self.offset = offset
        self.count = count
    }
}

/// One post of a page: its numbers, and where its texts lie.
package struct PostRow: Equatable, Sendable {
    package var id: PostID
    package var feed: FeedID
    package var score: Int64 = 0
    package var upvoteCount: UInt64 = 0
    package var downvoteCount: UInt64 = 0
    /// What the last create or update said it is.
    package var commentCount: UInt64 = 0
    /// Unix time by the store's clock.
    package var createTimeMilliseconds: Int64 = 0
    /// Unix time of the last edit; votes are none.
    package var updateTimeMilliseconds: Int64 = 0
    /// The number of the last write of any kind, votes among them.
    package var revision: UInt64
    /// The viewer's ballot, where the feed keeps ballots and the viewer cast one.
    package var viewerVote: VoteDirection?
    package var viewerState = ViewerState()
    /// The user that wrote the post; 0 for an author without an account.
    package var authorID: UInt64 = 0
    /// The texts, each empty where the post has none.
    package var authorName = TextRange.none
    package var title = TextRange.none
    package var text = TextRange.none
    package var linkURL = TextRange.none
    package var thumbnailURL = TextRange.none
    package var imageURL = TextRange.none
    /// Whether the post was deleted; only its id and the revision have a meaning then.
    package var isDeleted = false
}

/// What the marks of a viewer make of a post.
package struct ViewerState: BitwiseCopyable, Equatable, Sendable {
    package var isRead = false
    package var isDismissed = false

    package init(isRead: Bool = false, isDismissed: Bool = false) {
        self.isRead = isRead
        self.isDismissed = isDismissed
    }

    /// Whether the post counts as unread: it is neither read nor dismissed.
    package var isUnread: Bool { !isRead && !isDismissed }
}
