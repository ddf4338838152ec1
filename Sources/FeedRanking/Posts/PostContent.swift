/// What a post says: its texts as UTF-8 without NUL, checked by the caller, and its comments.
///
/// A text longer than its field can hold (`PostContent.maximumByteCount` for the post's text,
/// `PostContent.maximumFieldByteCount` for each other one) is a programmer's error.
package struct PostContent: Sendable, Equatable {
    /// The most bytes the text of a post can have.
    package static let maximumByteCount = Int(UInt32.max >> 8)
    /// The most bytes any other text can have.
    package static let maximumFieldByteCount = Int(UInt16.max)

    package var authorName: String
    package var title: String
    package var text: String
    package var linkURL: String
    package var thumbnailURL: String
    package var imageURL: String
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
