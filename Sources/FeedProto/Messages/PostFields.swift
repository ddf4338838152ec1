/// Where a text lies in a buffer of texts that several posts share.
public struct TextRange: Equatable, Sendable {
    /// The text's first byte.
    public var offset: UInt32
    /// The text's length in bytes; 0 is no text.
    public var byteCount: UInt32

    /// The bytes from `offset` on.
    public init(offset: UInt32, byteCount: UInt32) {
        self.offset = offset
        self.byteCount = byteCount
    }

    /// No text.
    public static var empty: Self { Self(offset: 0, byteCount: 0) }
}

/// A post for a program that keeps texts as bytes: the numbers, and where the texts lie.
///
/// Trivial to copy. `FrameEncoder` writes it without a `String` and without an allocation. The
/// texts must be UTF-8 without NUL, as everything is that a `MessageDecoder` has let in.
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
    /// The caller's ballot; nil for callers without identity.
    public var viewerVote: VoteDirection?

    /// A post of which only the id is known.
    public init(id: UInt64) { self.id = id }

    /// The bytes of all texts.
    public var textByteCount: Int {
        Int(feed.byteCount) + Int(authorName.byteCount) + Int(title.byteCount)
            + Int(text.byteCount) + Int(linkURL.byteCount) + Int(thumbnailURL.byteCount)
            + Int(imageURL.byteCount)
    }

    /// The most bytes that the post can take in a page, so that a page can end before it.
    ///
    /// Beside its texts it has 20 tags, those of its author, its ballot and itself among them, of
    /// at most 2 bytes, each with a number or a length of at most 10.
    public var maximumEncodedByteCount: Int { 20 * 12 + textByteCount }
}

/// A page of `PostFields`: what `ListPostsResponse` has beside its posts.
public struct ListPostsFields: Equatable, Sendable {
    /// As in `ListPostsResponse`; lies in the same buffer as the texts.
    public var nextPageToken = TextRange.empty
    /// As in `ListPostsResponse`; lies in the same buffer as the texts.
    public var previousPageToken = TextRange.empty
    /// As in `ListPostsResponse`.
    public var firstRank: UInt64
    /// As in `ListPostsResponse`.
    public var totalSize: UInt64

    /// A page without neighbours.
    public init(firstRank: UInt64, totalSize: UInt64) {
        self.firstRank = firstRank
        self.totalSize = totalSize
    }
}
