/// For services: a post whose texts stay bytes, with the numbers and the ranges of the texts.
///
/// It is trivial to copy. `FrameEncoder` writes it without a `String` and without an allocation.
/// The texts must be UTF-8 without NUL, as all texts are that a `MessageDecoder` accepts.
public struct PostFields: Equatable, Sendable {
    /// As in `Post`.
    public var id: UInt64
    /// As in `Post`.
    public var feed = TextRange.empty
    /// The author's account; with 0 and an empty name the post has no author.
    public var authorID: UInt64 = 0
    /// The author's name.
    public var authorName = TextRange.empty
    /// As in `Post`.
    public var title = TextRange.empty
    /// As in `Post`.
    public var text = TextRange.empty
    /// As in `Post`.
    public var linkURL = TextRange.empty
    /// As in `Post`.
    public var thumbnailURL = TextRange.empty
    /// As in `Post`.
    public var imageURL = TextRange.empty
    /// As in `Post`.
    public var score: Int64 = 0
    /// As in `Post`.
    public var upvoteCount: UInt64 = 0
    /// As in `Post`.
    public var downvoteCount: UInt64 = 0
    /// As in `Post`.
    public var commentCount: UInt64 = 0
    /// As in `Post`.
    public var createTimeMilliseconds: Int64 = 0
    /// As in `Post`.
    public var updateTimeMilliseconds: Int64 = 0
    /// As in `Post`.
    public var revision: UInt64 = 0
    /// As in `Post`.
    public var isDeleted = false
    /// What the caller has made of the post; nil for callers without identity.
    public var viewer: Viewer?

    /// A post of which only the id is known.
    public init(id: UInt64) { self.id = id }

    /// The bytes of all texts.
    public var textByteCount: Int {
        Int(feed.byteCount) + Int(authorName.byteCount) + Int(title.byteCount)
            + Int(text.byteCount) + Int(linkURL.byteCount) + Int(thumbnailURL.byteCount)
            + Int(imageURL.byteCount)
    }

    /// The room that writing the post into a page takes, so that a page can end before it; its bytes
    /// are never more.
    ///
    /// Beside its texts it has 23 tags of at most 2 bytes, including those of its author, its
    /// ballot, its marks and itself. Each tag has a number or a length of at most 10 bytes.
    public var maximumEncodedByteCount: Int { 23 * 12 + textByteCount }
}
