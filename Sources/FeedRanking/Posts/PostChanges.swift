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

    /// Changes nothing, save for what is given.
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
