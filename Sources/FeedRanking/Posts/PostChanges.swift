/// The new values of an update; nil leaves what is there.
package struct PostChanges: Sendable, Equatable {
    /// A new title gives the post a new place in `top`.
    package var title: String?
    package var text: String?
    package var linkURL: String?
    package var thumbnailURL: String?
    package var imageURL: String?
    package var commentCount: UInt64?

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
