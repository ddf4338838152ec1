// Generated from proto/feed.proto by scripts/wire. Do not edit: run scripts/generate-proto.sh.

import CFeedProto

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
    public var ids: [UInt64]

    /// All fields; each must be given.
    public init(ids: [UInt64]) {
        self.ids = ids
    }
}

/// Asks for one post.
///
/// The answer: `Post`.
public struct GetPostRequest: Equatable, Sendable {
    /// The post.
    public var id: UInt64

    /// All fields; each must be given.
    public init(id: UInt64) {
        self.id = id
    }
}

/// Asks for several posts by id.
///
/// The answer: `BatchGetPostsResponse`.
public struct BatchGetPostsRequest: Equatable, Sendable {
    /// The posts: 1 to 100 ids.
    public var ids: [UInt64]

    /// All fields; each must be given.
    public init(ids: [UInt64]) {
        self.ids = ids
    }
}

/// Posts by id.
public struct BatchGetPostsResponse: Equatable, Sendable {
    /// In the order of the ids; fewer where about a frame is full: ask for the rest again.
    public var posts: [Post]
    /// Ids that no post has.
    public var missingIDs: [UInt64]

    /// All fields; those with a default may be left out.
    public init(posts: [Post], missingIDs: [UInt64] = []) {
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

/// Changes fields of a post; for its author (else NOT_AUTHOR) and service callers.
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
    public var id: UInt64
    /// 0, or the revision of a post or of any answer: REVISION_MISMATCH where somebody has edited
    /// the post since.
    public var revision: UInt64

    /// All fields; those with a default may be left out.
    public init(id: UInt64, revision: UInt64 = 0) {
        self.id = id
        self.revision = revision
    }
}

/// Asks for a post's place in its feed.
///
/// The answer: `PostRank`.
public struct GetPostRankRequest: Equatable, Sendable {
    /// The post.
    public var id: UInt64
    /// The order; unspecified is the feed's default order.
    public var order: Order
    /// The window, as in ListPostsRequest; unspecified is all posts.
    public var window: Window

    /// All fields; those with a default may be left out.
    public init(id: UInt64, order: Order = .unspecified, window: Window = .unspecified) {
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

extension CreatePostRequest: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__CreatePostRequest>) {
        unsafe feed__v1__create_post_request__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__CreatePostRequest>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            feed: reader.text(message.pointee.feed, "feed"),
            post: reader.message(message.pointee.post, "post")
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__CreatePostRequest>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.feed = arena.text(feed)
        unsafe message.pointee.post = arena.message(post)
    }
}

extension ImportPostsRequest: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__ImportPostsRequest>) {
        unsafe feed__v1__import_posts_request__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__ImportPostsRequest>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            feed: reader.text(message.pointee.feed, "feed"),
            posts: reader.messages(message.pointee.posts, count: message.pointee.n_posts, "posts")
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__ImportPostsRequest>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.feed = arena.text(feed)
        unsafe message.pointee.n_posts = posts.count
        unsafe message.pointee.posts = arena.messages(posts)
    }
}

extension ImportPostsResponse: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__ImportPostsResponse>) {
        unsafe feed__v1__import_posts_response__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__ImportPostsResponse>,
        _ reader: WireReader
    ) {
        unsafe self.init(
            ids: reader.numbers(message.pointee.ids, count: message.pointee.n_ids)
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__ImportPostsResponse>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.n_ids = ids.count
        unsafe message.pointee.ids = arena.numbers(ids)
    }
}

extension GetPostRequest: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__GetPostRequest>) {
        unsafe feed__v1__get_post_request__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__GetPostRequest>,
        _ reader: WireReader
    ) {
        unsafe self.init(
            id: message.pointee.id
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__GetPostRequest>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.id = id
    }
}

extension BatchGetPostsRequest: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__BatchGetPostsRequest>) {
        unsafe feed__v1__batch_get_posts_request__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__BatchGetPostsRequest>,
        _ reader: WireReader
    ) {
        unsafe self.init(
            ids: reader.numbers(message.pointee.ids, count: message.pointee.n_ids)
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__BatchGetPostsRequest>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.n_ids = ids.count
        unsafe message.pointee.ids = arena.numbers(ids)
    }
}

extension BatchGetPostsResponse: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__BatchGetPostsResponse>) {
        unsafe feed__v1__batch_get_posts_response__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__BatchGetPostsResponse>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            posts: reader.messages(message.pointee.posts, count: message.pointee.n_posts, "posts"),
            missingIDs: reader.numbers(
                message.pointee.missing_ids,
                count: message.pointee.n_missing_ids
            )
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__BatchGetPostsResponse>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.n_posts = posts.count
        unsafe message.pointee.posts = arena.messages(posts)
        unsafe message.pointee.n_missing_ids = missingIDs.count
        unsafe message.pointee.missing_ids = arena.numbers(missingIDs)
    }
}

extension UpdatePostRequest: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__UpdatePostRequest>) {
        unsafe feed__v1__update_post_request__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__UpdatePostRequest>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            post: reader.message(message.pointee.post, "post"),
            updateMask: reader.numbers(
                message.pointee.update_mask,
                count: message.pointee.n_update_mask
            ).map { PostField($0) }
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__UpdatePostRequest>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.post = arena.message(post)
        unsafe message.pointee.n_update_mask = updateMask.count
        unsafe message.pointee.update_mask = arena.numbers(updateMask.map { $0.cValue() })
    }
}

extension DeletePostRequest: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__DeletePostRequest>) {
        unsafe feed__v1__delete_post_request__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__DeletePostRequest>,
        _ reader: WireReader
    ) {
        unsafe self.init(
            id: message.pointee.id,
            revision: message.pointee.revision
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__DeletePostRequest>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.id = id
        unsafe message.pointee.revision = revision
    }
}

extension GetPostRankRequest: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__GetPostRankRequest>) {
        unsafe feed__v1__get_post_rank_request__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__GetPostRankRequest>,
        _ reader: WireReader
    ) {
        unsafe self.init(
            id: message.pointee.id,
            order: Order(message.pointee.order),
            window: Window(message.pointee.window)
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__GetPostRankRequest>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.id = id
        unsafe message.pointee.order = order.cValue()
        unsafe message.pointee.window = window.cValue()
    }
}

extension PostRank: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__PostRank>) {
        unsafe feed__v1__post_rank__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__PostRank>,
        _ reader: WireReader
    ) {
        unsafe self.init(
            rank: message.pointee.rank,
            totalSize: message.pointee.total_size
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__PostRank>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.rank = rank
        unsafe message.pointee.total_size = totalSize
    }
}
