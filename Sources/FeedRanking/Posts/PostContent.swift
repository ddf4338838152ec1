/// What a post says: its texts as UTF-8 without NUL, checked by the caller, and its comments.
///
/// A text over `RankingLimits.maximumTextByteCount`, or another field over
/// `RankingLimits.maximumFieldByteCount`, is a programmer's error.
package struct PostContent: Sendable, Equatable {
    package var authorName: String
    /// Decides between equal scores in `top`, by the byte order of its UTF-8.
    package var title: String
    package var text: String
    package var linkURL: String
    package var thumbnailURL: String
    package var imageURL: String
    /// What the caller says it is; the store counts no comments.
    package var commentCount: UInt64

    package init(
        authorName: String = "",
        title: String = "",
        text: String = "",
        linkURL: String = "",
        thumbnailURL: String = "",
        imageURL: String = "",
        commentCount: UInt64 = 0
    ) {
        self.authorName = authorName
        self.title = title
        self.text = text
        self.linkURL = linkURL
        self.thumbnailURL = thumbnailURL
        self.imageURL = imageURL
        self.commentCount = commentCount
    }
}
