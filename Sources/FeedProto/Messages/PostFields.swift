/// For services: a post whose texts stay bytes, with the numbers and the ranges of the texts.
///
/// It is trivial to copy. `FrameEncoder` writes it without a `String` and without an allocation.
/// The texts must be UTF-8 without NUL, as all texts are that a `MessageDecoder` accepts.
public struct PostFields: Equatable, Sendable {
    /// As in `Post`.
    public var id: PostID
    /// As in `Post`.
    public var feed = TextRange.empty
    /// The author's account; with 0 and an empty name the post has no author.
    public var authorID: UserID = 0
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
    public init(id: PostID) { self.id = id }

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

/// For services: a page of `PostFields`, with the fields of `ListPostsResponse` beside its posts.
public struct ListPostsFields: Equatable, Sendable {
    /// As in `ListPostsResponse`; lies in the same buffer as the texts.
    public var nextPageToken = TextRange.empty
    /// As in `ListPostsResponse`; lies in the same buffer as the texts.
    public var previousPageToken = TextRange.empty
    /// As in `ListPostsResponse`; lies in the same buffer as the texts.
    public var refreshToken = TextRange.empty
    /// As in `ListPostsResponse`.
    public var firstRank: UInt64
    /// As in `ListPostsResponse`.
    public var totalSize: UInt64
    /// As in `ListPostsResponse`.
    public var newerCount: UInt32 = 0
    /// As in `ListPostsResponse`.
    public var consistency = Consistency.unspecified

    /// A page without neighbours.
    public init(firstRank: UInt64, totalSize: UInt64) {
        self.firstRank = firstRank
        self.totalSize = totalSize
    }
}

/// For services: changes as `PostFields`, with the fields of `SyncPostsResponse` beside its posts.
public struct SyncPostsFields: Equatable, Sendable {
    /// As in `SyncPostsResponse`.
    public var nextRevision: UInt64
    /// As in `SyncPostsResponse`.
    public var hasMore = false
    /// As in `SyncPostsResponse`.
    public var isReset = false
    /// As in `SyncPostsResponse`.
    public var copyRevision: UInt64 = 0
    /// As in `SyncPostsResponse`.
    public var instanceID: UInt64
    /// As in `SyncPostsResponse`.
    public var marks: MarkChanges?

    /// The last page of changes up to a revision.
    public init(nextRevision: UInt64, instanceID: UInt64) {
        self.nextRevision = nextRevision
        self.instanceID = instanceID
    }
}

/// For services: the fields of `WatchPostsEvent` beside its posts.
public struct WatchEventFields: Equatable, Sendable {
    /// As in `WatchPostsEvent`.
    public var ranking: [PostID] = []
    /// As in `WatchPostsEvent`.
    public var removedIDs: [PostID] = []
    /// As in `WatchPostsEvent`.
    public var newPostCount: UInt32 = 0
    /// As in `WatchPostsEvent`.
    public var isReset = false

    /// An event without anything but posts.
    public init() {}
}

/// For services: the range of a text in a buffer of texts that several posts share.
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
