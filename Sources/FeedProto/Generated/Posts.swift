// Generated from proto/feed.proto by scripts/wire. Do not edit: run scripts/generate-proto.sh.

/// A post as the service shows it.
///
/// Of a post in a request the service reads only the fields that the call names.
public struct Post: Hashable, Sendable {
    /// Assigned by the service, above 0, never reused; ids are not times.
    public var id: PostID
    /// The feed the post is in.
    public var feed: String
    /// The author; nil where unknown.
    public var author: User?
    /// The title, verbatim: none to the feed's `maximumTitleLength` characters, and at most 40
    /// bytes for each of these, but 1,024 to 18,432 (see Limits).
    public var title: String
    /// The text, verbatim: at most 10,000 characters and 40,000 bytes (feeds may set less).
    public var text: String
    /// The address that the post links to, of at most 2,048 bytes, with http, https or no scheme;
    /// empty is none.
    public var linkURL: String
    /// The address of a small picture, of at most 2,048 bytes; empty is none.
    public var thumbnailURL: String
    /// The address of a full picture, of at most 2,048 bytes; empty is none.
    public var imageURL: String
    /// Upvotes minus downvotes.
    public var score: Int64
    /// The number of votes for it.
    public var upvoteCount: UInt64
    /// The number of votes against it.
    public var downvoteCount: UInt64
    /// The number of its comments elsewhere.
    public var commentCount: UInt64
    /// When it was created, in milliseconds since the Unix epoch: by the service's clock, or as it
    /// was imported.
    ///
    /// Only CorrectTimes changes it.
    public var createTimeMilliseconds: Int64
    /// When it was last edited, in milliseconds since the Unix epoch; votes do not count.
    public var updateTimeMilliseconds: Int64
    /// The revision of the post's last change of any kind, votes among them: of two answers about a
    /// post, the one with the higher revision is the newer.
    public var revision: UInt64
    /// Whether the post was deleted: only its id and the revision are set then.
    ///
    /// Only SyncPosts shows deleted posts.
    public var isDeleted: Bool
    /// The caller's relation to the post; nil for callers without identity.
    public var viewer: Viewer?

    /// All fields; each has a default.
    public init(
        id: PostID = 0,
        feed: String = "",
        author: User? = nil,
        title: String = "",
        text: String = "",
        linkURL: String = "",
        thumbnailURL: String = "",
        imageURL: String = "",
        score: Int64 = 0,
        upvoteCount: UInt64 = 0,
        downvoteCount: UInt64 = 0,
        commentCount: UInt64 = 0,
        createTimeMilliseconds: Int64 = 0,
        updateTimeMilliseconds: Int64 = 0,
        revision: UInt64 = 0,
        isDeleted: Bool = false,
        viewer: Viewer? = nil
    ) {
        self.id = id
        self.feed = feed
        self.author = author
        self.title = title
        self.text = text
        self.linkURL = linkURL
        self.thumbnailURL = thumbnailURL
        self.imageURL = imageURL
        self.score = score
        self.upvoteCount = upvoteCount
        self.downvoteCount = downvoteCount
        self.commentCount = commentCount
        self.createTimeMilliseconds = createTimeMilliseconds
        self.updateTimeMilliseconds = updateTimeMilliseconds
        self.revision = revision
        self.isDeleted = isDeleted
        self.viewer = viewer
    }
}

/// An author, or a person with an account.
public struct User: Hashable, Sendable {
    /// The account, or the user of a service that acted for it; 0 is a name without an account.
    public var id: UserID
    /// The name to show: at most 50 characters and 200 bytes, else NAME_TOO_LONG.
    public var displayName: String
    /// When the account was created, in milliseconds since the Unix epoch; 0 for authors of posts.
    public var createTimeMilliseconds: Int64

    /// All fields; those with a default may be left out.
    public init(id: UserID = 0, displayName: String, createTimeMilliseconds: Int64 = 0) {
        self.id = id
        self.displayName = displayName
        self.createTimeMilliseconds = createTimeMilliseconds
    }
}

/// The caller's relation to a post.
public struct Viewer: Hashable, Sendable {
    /// The caller's ballot; unspecified is none.
    public var vote: VoteDirection
    /// Whether the caller has read it.
    public var isRead: Bool
    /// Whether the caller has dismissed it.
    public var isDismissed: Bool

    /// All fields; each has a default.
    public init(
        vote: VoteDirection = .unspecified,
        isRead: Bool = false,
        isDismissed: Bool = false
    ) {
        self.vote = vote
        self.isRead = isRead
        self.isDismissed = isDismissed
    }
}

extension Post: SwiftMessage {
    package static var fieldCount: Int { 17 }
    package static var structByteCount: Int { 208 }

    package static func field(_ index: Int) -> FieldShape {
        switch index {
        case 0: FieldShape(1, .uint64)
        case 1: FieldShape(2, .bytes)
        case 2: FieldShape(3, .message(User.self))
        case 3: FieldShape(4, .bytes)
        case 4: FieldShape(5, .bytes)
        case 5: FieldShape(6, .bytes)
        case 6: FieldShape(7, .bytes)
        case 7: FieldShape(8, .bytes)
        case 8: FieldShape(9, .uint64)
        case 9: FieldShape(10, .uint64)
        case 10: FieldShape(11, .uint64)
        case 11: FieldShape(12, .uint64)
        case 12: FieldShape(13, .uint64)
        case 13: FieldShape(14, .uint64)
        case 14: FieldShape(15, .uint64)
        case 15: FieldShape(16, .bool)
        default: FieldShape(17, .message(Viewer.self))
        }
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) throws(MessageError) {
        try self.init(
            id: tree.number(node, 0),
            feed: tree.text(node, 1, "feed"),
            author: tree.message(node, 2, "author"),
            title: tree.text(node, 3, "title"),
            text: tree.text(node, 4, "text"),
            linkURL: tree.text(node, 5, "link_url"),
            thumbnailURL: tree.text(node, 6, "thumbnail_url"),
            imageURL: tree.text(node, 7, "image_url"),
            score: tree.number(node, 8),
            upvoteCount: tree.number(node, 9),
            downvoteCount: tree.number(node, 10),
            commentCount: tree.number(node, 11),
            createTimeMilliseconds: tree.number(node, 12),
            updateTimeMilliseconds: tree.number(node, 13),
            revision: tree.number(node, 14),
            isDeleted: tree.flag(node, 15),
            viewer: tree.message(node, 16, "viewer")
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.number(1, id)
        writer.text(2, feed)
        writer.message(3, author)
        writer.text(4, title)
        writer.text(5, text)
        writer.text(6, linkURL)
        writer.text(7, thumbnailURL)
        writer.text(8, imageURL)
        writer.number(9, score)
        writer.number(10, upvoteCount)
        writer.number(11, downvoteCount)
        writer.number(12, commentCount)
        writer.number(13, createTimeMilliseconds)
        writer.number(14, updateTimeMilliseconds)
        writer.number(15, revision)
        writer.flag(16, isDeleted)
        writer.message(17, viewer)
    }
}

extension User: SwiftMessage {
    package static var fieldCount: Int { 3 }
    package static var structByteCount: Int { 56 }

    package static func field(_ index: Int) -> FieldShape {
        switch index {
        case 0: FieldShape(1, .uint64)
        case 1: FieldShape(2, .bytes)
        default: FieldShape(3, .uint64)
        }
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) throws(MessageError) {
        try self.init(
            id: tree.number(node, 0),
            displayName: tree.text(node, 1, "display_name"),
            createTimeMilliseconds: tree.number(node, 2)
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.number(1, id)
        writer.text(2, displayName)
        writer.number(3, createTimeMilliseconds)
    }
}

extension Viewer: SwiftMessage {
    package static var fieldCount: Int { 3 }
    package static var structByteCount: Int { 40 }

    package static func field(_ index: Int) -> FieldShape {
        switch index {
        case 0: FieldShape(1, .int32)
        case 1: FieldShape(2, .bool)
        default: FieldShape(3, .bool)
        }
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) {
        self.init(
            vote: tree.value(node, 0),
            isRead: tree.flag(node, 1),
            isDismissed: tree.flag(node, 2)
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.value(1, vote)
        writer.flag(2, isRead)
        writer.flag(3, isDismissed)
    }
}
