/// The texts of a post as UTF-8 without NUL, checked by the caller, and its number of comments.
///
/// A text over `RankingLimits.maximumTextByteCount`, or another field over
/// `RankingLimits.maximumFieldByteCount`, is a programmer's error.
package struct PostContent: Sendable, Equatable {
    /// The user that wrote the post, 0 for an author without an account; never changes.
    package var authorID: UInt64
    /// Never changes once the post exists.
    package var authorName: String
    /// Decides between equal scores in `top`, by the byte order of its UTF-8.
    package var title: String
    /// The text of the post; decides no order.
    package var text: String
    /// The address that the post links to; the store does not check it.
    package var linkURL: String
    /// A small picture for lists.
    package var thumbnailURL: String
    /// A picture for the post by itself.
    package var imageURL: String
    /// The number of comments, which the caller sets; the store counts none.
    package var commentCount: UInt64

    /// A content with empty texts, except for the given ones.
    package init(
        authorID: UInt64 = 0,
        authorName: String = "",
        title: String = "",
        text: String = "",
        linkURL: String = "",
        thumbnailURL: String = "",
        imageURL: String = "",
        commentCount: UInt64 = 0
    ) {
        self.authorID = authorID
        self.authorName = authorName
        self.title = title
        self.text = text
        self.linkURL = linkURL
        self.thumbnailURL = thumbnailURL
        self.imageURL = imageURL
        self.commentCount = commentCount
    }

    /// The bytes of all texts together.
    package var textByteCount: Int {
        authorName.utf8.count + title.utf8.count + text.utf8.count + linkURL.utf8.count
            + thumbnailURL.utf8.count + imageURL.utf8.count
    }
}

/// The new values of an update; nil leaves what is there.
package struct PostChanges: Sendable, Equatable {
    /// A new title gives the post a new place in `top`.
    package var title: String?
    /// Replaces the whole text.
    package var text: String?
    /// The empty text takes the link away.
    package var linkURL: String?
    /// The empty text takes the thumbnail away.
    package var thumbnailURL: String?
    /// The empty text takes the picture away.
    package var imageURL: String?
    /// Replaces the count; the store adds nothing up.
    package var commentCount: UInt64?

    /// Changes of the given fields only.
    package init(
        title: String? = nil,
        text: String? = nil,
        linkURL: String? = nil,
        thumbnailURL: String? = nil,
        imageURL: String? = nil,
        commentCount: UInt64? = nil
    ) {
        self.title = title
        self.text = text
        self.linkURL = linkURL
        self.thumbnailURL = thumbnailURL
        self.imageURL = imageURL
        self.commentCount = commentCount
    }
}
