// Generated from proto/feed.proto by scripts/wire. Do not edit: run scripts/generate-proto.sh.

import CFeedProto

/// What a caller may note of a post.
public struct Mark: WireEnum {
    /// The number on the wire.
    public let rawValue: Int32

    /// Takes any number, known or not.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// No mark.
    public static var unspecified: Self { Self(rawValue: 0) }
    /// The caller has read it.
    public static var read: Self { Self(rawValue: 1) }
    /// The caller has not read it.
    public static var unread: Self { Self(rawValue: 2) }
    /// The caller does not want to see it.
    public static var dismissed: Self { Self(rawValue: 3) }
    /// The caller wants to see it again.
    public static var restored: Self { Self(rawValue: 4) }

    /// The contract's names, by number.
    public static let names = ["MARK_UNSPECIFIED", "READ", "UNREAD", "DISMISSED", "RESTORED"]
}

/// Marks posts for the caller: a user, or else a device.
///
/// The answer: `MarkPostsResponse`.
public struct MarkPostsRequest: Equatable, Sendable {
    /// The feed of `throughPostID` and of the answer; empty is the front page over all feeds.
    public var feed: String
    /// The mark.
    public var mark: Mark
    /// The posts, at most 100; empty is all posts up to `throughPostID`.
    public var postIDs: [UInt64]
    /// Marks this post and all posts of the feed that were created before it; 0 where posts are
    /// named.
    public var throughPostID: UInt64

    /// All fields; those with a default may be left out.
    public init(feed: String = "", mark: Mark, postIDs: [UInt64] = [], throughPostID: UInt64 = 0) {
        self.feed = feed
        self.mark = mark
        self.postIDs = postIDs
        self.throughPostID = throughPostID
    }
}

/// How many posts are left to read.
public struct MarkPostsResponse: Equatable, Sendable {
    /// The posts of the feed that the caller has neither read nor dismissed.
    public var unreadCount: UInt64

    /// All fields; each must be given.
    public init(unreadCount: UInt64) {
        self.unreadCount = unreadCount
    }
}

extension MarkPostsRequest: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__MarkPostsRequest>) {
        unsafe feed__v1__mark_posts_request__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__MarkPostsRequest>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            feed: reader.text(message.pointee.feed, "feed"),
            mark: Mark(message.pointee.mark),
            postIDs: reader.numbers(message.pointee.post_ids, count: message.pointee.n_post_ids),
            throughPostID: message.pointee.through_post_id
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__MarkPostsRequest>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.feed = arena.text(feed)
        unsafe message.pointee.mark = mark.cValue()
        unsafe message.pointee.n_post_ids = postIDs.count
        unsafe message.pointee.post_ids = arena.numbers(postIDs)
        unsafe message.pointee.through_post_id = throughPostID
    }
}

extension MarkPostsResponse: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__MarkPostsResponse>) {
        unsafe feed__v1__mark_posts_response__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__MarkPostsResponse>,
        _ reader: WireReader
    ) {
        unsafe self.init(
            unreadCount: message.pointee.unread_count
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__MarkPostsResponse>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.unread_count = unreadCount
    }
}
