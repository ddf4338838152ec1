/// A range of `PostPage.texts`.
package struct TextRange: Equatable, Sendable {
    /// The first byte's place.
    package var offset: UInt32
    /// The bytes of UTF-8.
    package var count: UInt32

    /// No bytes.
    static let none = TextRange(offset: 0, count: 0)

    /// A range that the texts have, or will have.
    package init(offset: UInt32, count: UInt32) {
        self.offset = offset
        self.count = count
    }
}

/// One post of a page: its numbers, and where its texts lie.
package struct PostRow: Equatable, Sendable {
    /// The id of the post.
    package var id: PostID
    /// The feed it was made in.
    package var feed: FeedID
    /// Upvotes less downvotes.
    package var score: Int64 = 0
    /// All ups counted, or the ballots that are up.
    package var upvoteCount: UInt64 = 0
    /// All downs counted, or the ballots that are down.
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
    /// What the viewer's marks make of the post.
    package var viewerState = ViewerState()
    /// The user that wrote the post; 0 for an author without an account.
    package var authorID: UInt64 = 0
    /// Empty where the post has no author's name.
    package var authorName = TextRange.none
    /// Empty where the post has none.
    package var title = TextRange.none
    /// Empty where the post has none.
    package var text = TextRange.none
    /// Empty where the post has no link.
    package var linkURL = TextRange.none
    /// Empty where the post has none.
    package var thumbnailURL = TextRange.none
    /// Empty where the post has none.
    package var imageURL = TextRange.none
    /// Whether the post was deleted; only its id and the revision have a meaning then.
    package var isDeleted = false
}
