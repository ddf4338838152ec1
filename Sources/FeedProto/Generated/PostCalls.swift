// Generated from proto/feed.proto by scripts/wire. Do not edit: run scripts/generate-proto.sh.

/// Creates a post.
///
/// The answer: `Post`.
public struct CreatePostRequest: Equatable, Sendable {
    /// The feed; empty is `posts`.
    public var feed: String
    /// The post: `author.displayName`, title, text, the URLs and `commentCount` are read; the rest
    /// is not.
    public var post: Post?

    /// All fields; those with a default may be left out.
    public init(feed: String = "", post: Post?) {
        self.feed = feed
        self.post = post
    }
}

/// Imports posts from another system, all or none, with the times and counts they had there.
///
/// Service callers only, else PERMISSION_DENIED / SERVICE_ONLY.
///
/// The answer: `ImportPostsResponse`.
public struct ImportPostsRequest: Equatable, Sendable {
    /// The feed; empty is `posts`.
    public var feed: String
    /// The posts, 1 to 256.
    ///
    /// The service reads the fields that CreatePost reads, `createTimeMilliseconds` (0, the epoch,
    /// to five minutes from now), `upvoteCount`, `downvoteCount` and `commentCount` (each at most
    /// 2^53); the score is the difference. A post counts as last edited when it was created.
    public var posts: [Post]

    /// All fields; those with a default may be left out.
    public init(feed: String = "", posts: [Post]) {
        self.feed = feed
        self.posts = posts
    }
}

/// The posts that were imported.
public struct ImportPostsResponse: Equatable, Sendable {
    /// The posts' ids, in the order of the request: consecutive numbers.
    public var ids: [PostID]

    /// All fields; each must be given.
    public init(ids: [PostID]) {
        self.ids = ids
    }
}

/// Asks for one post.
///
/// The answer: `Post`.
public struct GetPostRequest: Equatable, Sendable {
    /// The post.
    public var id: PostID

    /// All fields; each must be given.
    public init(id: PostID) {
        self.id = id
    }
}

/// Asks for several posts by id.
///
/// The answer: `BatchGetPostsResponse`.
public struct BatchGetPostsRequest: Equatable, Sendable {
    /// The posts: 1 to 100 ids.
    public var ids: [PostID]

    /// All fields; each must be given.
    public init(ids: [PostID]) {
        self.ids = ids
    }
}

/// Posts by id.
public struct BatchGetPostsResponse: Equatable, Sendable {
    /// In the order of the ids; fewer where about a frame is full: ask for the rest again.
    public var posts: [Post]
    /// Ids that no post has.
    public var missingIDs: [PostID]

    /// All fields; those with a default may be left out.
    public init(posts: [Post], missingIDs: [PostID] = []) {
        self.posts = posts
        self.missingIDs = missingIDs
    }
}

/// A field of a post that UpdatePost can change.
public struct PostField: WireEnum {
    /// The number on the wire.
    public let rawValue: Int32

    /// Takes any number, known or not.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// No field.
    public static var unspecified: Self { Self(rawValue: 0) }
    /// The title.
    public static var title: Self { Self(rawValue: 1) }
    /// The text.
    public static var text: Self { Self(rawValue: 2) }
    /// The address that the post links to.
    public static var linkURL: Self { Self(rawValue: 3) }
    /// The address of the small picture.
    public static var thumbnailURL: Self { Self(rawValue: 4) }
    /// The address of the full picture.
    public static var imageURL: Self { Self(rawValue: 5) }
    /// The number of comments.
    public static var commentCount: Self { Self(rawValue: 6) }

    /// The contract's names, by number.
    public static let names = [
        "POST_FIELD_UNSPECIFIED", "TITLE", "TEXT", "LINK_URL", "THUMBNAIL_URL", "IMAGE_URL",
        "COMMENT_COUNT",
    ]
}

/// Changes fields of a post; for its author, the user or the device that created it (else
/// NOT_AUTHOR), and service callers.
///
/// The answer: `Post`.
public struct UpdatePostRequest: Equatable, Sendable {
    /// The id of the post, and the new values.
    ///
    /// A revision other than 0 is the revision of a post or of any answer: REVISION_MISMATCH where
    /// somebody has edited the post since. Votes are no edits.
    public var post: Post?
    /// The fields to take from `post`; at least one.
    public var updateMask: [PostField]

    /// All fields; each must be given.
    public init(post: Post?, updateMask: [PostField]) {
        self.post = post
        self.updateMask = updateMask
    }
}

/// Deletes a post; deleting it again is OK.
///
/// For its author (else NOT_AUTHOR) and service callers.
///
/// The answer: `Empty`.
public struct DeletePostRequest: Equatable, Sendable {
    /// The post.
    public var id: PostID
    /// 0, or the revision of a post or of any answer: REVISION_MISMATCH where somebody has edited
    /// the post since.
    public var revision: UInt64

    /// All fields; those with a default may be left out.
    public init(id: PostID, revision: UInt64 = 0) {
        self.id = id
        self.revision = revision
    }
}

/// Asks for a post's place in its feed.
///
/// The answer: `PostRank`.
public struct GetPostRankRequest: Equatable, Sendable {
    /// The post.
    public var id: PostID
    /// The order; unspecified is the feed's default order.
    public var order: Order
    /// The window, as in ListPostsRequest; unspecified is all posts.
    public var window: Window

    /// All fields; those with a default may be left out.
    public init(id: PostID, order: Order = .unspecified, window: Window = .unspecified) {
        self.id = id
        self.order = order
        self.window = window
    }
}

/// A post's place in its feed.
public struct PostRank: Equatable, Sendable {
    /// The place; 1 is the best.
    public var rank: UInt64
    /// How many posts the list has: the feed, or its part within the window.
    public var totalSize: UInt64

    /// All fields; each must be given.
    public init(rank: UInt64, totalSize: UInt64) {
        self.rank = rank
        self.totalSize = totalSize
    }
}

extension CreatePostRequest: SwiftMessage {
    package static var fieldCount: Int { 2 }
    package static var structByteCount: Int { 48 }

    package static func field(_ index: Int) -> FieldShape {
        switch index {
        case 0: FieldShape(1, .bytes)
        default: FieldShape(2, .message(Post.self))
        }
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) throws(MessageError) {
        try self.init(
            feed: tree.text(node, 0, "feed"),
            post: tree.message(node, 1, "post")
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.text(1, feed)
        writer.message(2, post)
    }
}

extension ImportPostsRequest: SwiftMessage {
    package static var fieldCount: Int { 2 }
    package static var structByteCount: Int { 56 }

    package static func field(_ index: Int) -> FieldShape {
        switch index {
        case 0: FieldShape(1, .bytes)
        default: FieldShape(2, .message(Post.self), .repeated)
        }
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) throws(MessageError) {
        try self.init(
            feed: tree.text(node, 0, "feed"),
            posts: tree.messages(node, 1, "posts")
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.text(1, feed)
        writer.messages(2, posts)
    }
}

extension ImportPostsResponse: SwiftMessage {
    package static var fieldCount: Int { 1 }
    package static var structByteCount: Int { 40 }

    package static func field(_ index: Int) -> FieldShape {
        FieldShape(1, .uint64, .repeated)
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) {
        self.init(
            ids: tree.numbers(node, 0)
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.numbers(1, ids)
    }
}

extension GetPostRequest: SwiftMessage {
    package static var fieldCount: Int { 1 }
    package static var structByteCount: Int { 32 }

    package static func field(_ index: Int) -> FieldShape {
        FieldShape(1, .uint64)
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) {
        self.init(
            id: tree.number(node, 0)
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.number(1, id)
    }
}

extension BatchGetPostsRequest: SwiftMessage {
    package static var fieldCount: Int { 1 }
    package static var structByteCount: Int { 40 }

    package static func field(_ index: Int) -> FieldShape {
        FieldShape(1, .uint64, .repeated)
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) {
        self.init(
            ids: tree.numbers(node, 0)
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.numbers(1, ids)
    }
}

extension BatchGetPostsResponse: SwiftMessage {
    package static var fieldCount: Int { 2 }
    package static var structByteCount: Int { 56 }

    package static func field(_ index: Int) -> FieldShape {
        switch index {
        case 0: FieldShape(1, .message(Post.self), .repeated)
        default: FieldShape(2, .uint64, .repeated)
        }
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) throws(MessageError) {
        try self.init(
            posts: tree.messages(node, 0, "posts"),
            missingIDs: tree.numbers(node, 1)
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.messages(1, posts)
        writer.numbers(2, missingIDs)
    }
}

extension UpdatePostRequest: SwiftMessage {
    package static var fieldCount: Int { 2 }
    package static var structByteCount: Int { 48 }

    package static func field(_ index: Int) -> FieldShape {
        switch index {
        case 0: FieldShape(1, .message(Post.self))
        default: FieldShape(2, .int32, .repeated)
        }
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) throws(MessageError) {
        try self.init(
            post: tree.message(node, 0, "post"),
            updateMask: tree.values(node, 1)
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.message(1, post)
        writer.numbers(2, updateMask.map(\.rawValue))
    }
}

extension DeletePostRequest: SwiftMessage {
    package static var fieldCount: Int { 2 }
    package static var structByteCount: Int { 40 }

    package static func field(_ index: Int) -> FieldShape {
        switch index {
        case 0: FieldShape(1, .uint64)
        default: FieldShape(2, .uint64)
        }
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) {
        self.init(
            id: tree.number(node, 0),
            revision: tree.number(node, 1)
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.number(1, id)
        writer.number(2, revision)
    }
}

extension GetPostRankRequest: SwiftMessage {
    package static var fieldCount: Int { 3 }
    package static var structByteCount: Int { 40 }

    package static func field(_ index: Int) -> FieldShape {
        switch index {
        case 0: FieldShape(1, .uint64)
        case 1: FieldShape(2, .int32)
        default: FieldShape(3, .int32)
        }
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) {
        self.init(
            id: tree.number(node, 0),
            order: tree.value(node, 1),
            window: tree.value(node, 2)
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.number(1, id)
        writer.value(2, order)
        writer.value(3, window)
    }
}

extension PostRank: SwiftMessage {
    package static var fieldCount: Int { 2 }
    package static var structByteCount: Int { 40 }

    package static func field(_ index: Int) -> FieldShape {
        switch index {
        case 0: FieldShape(1, .uint64)
        default: FieldShape(2, .uint64)
        }
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) {
        self.init(
            rank: tree.number(node, 0),
            totalSize: tree.number(node, 1)
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.number(1, rank)
        writer.number(2, totalSize)
    }
}
