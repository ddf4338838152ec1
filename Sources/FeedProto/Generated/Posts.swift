// Generated from proto/feed.proto by scripts/wire. Do not edit: run scripts/generate-proto.sh.

import CFeedProto

/// A post as the service shows it.
///
/// Of a post in a request the service reads only the fields that the call names.
public struct Post: Equatable, Sendable {
    /// Assigned by the service, above 0, never reused; ids are not times.
    public var id: UInt64
    /// The feed the post is in.
    public var feed: String
    /// The author; nil where unknown.
    public var author: User?
    /// The title, verbatim: none to the feed's `maximumTitleLength` characters, and at most 32
    /// bytes for each of these, or 1,024.
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
        id: UInt64 = 0,
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
public struct User: Equatable, Sendable {
    /// The account, or the user of a service that acted for it; 0 is a name without an account.
    public var id: UInt64
    /// The name to show: at most 50 characters and 200 bytes, else NAME_TOO_LONG.
    public var displayName: String
    /// When the account was created, in milliseconds since the Unix epoch; 0 for authors of posts.
    public var createTimeMilliseconds: Int64

    /// All fields; those with a default may be left out.
    public init(id: UInt64 = 0, displayName: String, createTimeMilliseconds: Int64 = 0) {
        self.id = id
        self.displayName = displayName
        self.createTimeMilliseconds = createTimeMilliseconds
    }
}

/// The caller's relation to a post.
public struct Viewer: Equatable, Sendable {
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

extension Post: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__Post>) {
        unsafe feed__v1__post__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__Post>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            id: message.pointee.id,
            feed: reader.text(message.pointee.feed, "feed"),
            author: reader.message(message.pointee.author, "author"),
            title: reader.text(message.pointee.title, "title"),
            text: reader.text(message.pointee.text, "text"),
            linkURL: reader.text(message.pointee.link_url, "link_url"),
            thumbnailURL: reader.text(message.pointee.thumbnail_url, "thumbnail_url"),
            imageURL: reader.text(message.pointee.image_url, "image_url"),
            score: message.pointee.score,
            upvoteCount: message.pointee.upvote_count,
            downvoteCount: message.pointee.downvote_count,
            commentCount: message.pointee.comment_count,
            createTimeMilliseconds: message.pointee.create_time_ms,
            updateTimeMilliseconds: message.pointee.update_time_ms,
            revision: message.pointee.revision,
            isDeleted: message.pointee.deleted != 0,
            viewer: reader.message(message.pointee.viewer, "viewer")
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__Post>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.id = id
        unsafe message.pointee.feed = arena.text(feed)
        unsafe message.pointee.author = arena.message(author)
        unsafe message.pointee.title = arena.text(title)
        unsafe message.pointee.text = arena.text(text)
        unsafe message.pointee.link_url = arena.text(linkURL)
        unsafe message.pointee.thumbnail_url = arena.text(thumbnailURL)
        unsafe message.pointee.image_url = arena.text(imageURL)
        unsafe message.pointee.score = score
        unsafe message.pointee.upvote_count = upvoteCount
        unsafe message.pointee.downvote_count = downvoteCount
        unsafe message.pointee.comment_count = commentCount
        unsafe message.pointee.create_time_ms = createTimeMilliseconds
        unsafe message.pointee.update_time_ms = updateTimeMilliseconds
        unsafe message.pointee.revision = revision
        unsafe message.pointee.deleted = isDeleted ? 1 : 0
        unsafe message.pointee.viewer = arena.message(viewer)
    }
}

extension User: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__User>) {
        unsafe feed__v1__user__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__User>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            id: message.pointee.id,
            displayName: reader.text(message.pointee.display_name, "display_name"),
            createTimeMilliseconds: message.pointee.create_time_ms
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__User>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.id = id
        unsafe message.pointee.display_name = arena.text(displayName)
        unsafe message.pointee.create_time_ms = createTimeMilliseconds
    }
}

extension Viewer: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__Viewer>) {
        unsafe feed__v1__viewer__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__Viewer>,
        _ reader: WireReader
    ) {
        unsafe self.init(
            vote: VoteDirection(message.pointee.vote),
            isRead: message.pointee.read != 0,
            isDismissed: message.pointee.dismissed != 0
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__Viewer>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.vote = vote.cValue()
        unsafe message.pointee.read = isRead ? 1 : 0
        unsafe message.pointee.dismissed = isDismissed ? 1 : 0
    }
}
