// Generated from proto/feed.proto by scripts/wire. Do not edit: run scripts/generate-proto.sh.

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
    public var postIDs: [PostID]
    /// Marks this post and all posts of the feed that were created before it; 0 where posts are
    /// named.
    public var throughPostID: PostID

    /// All fields; those with a default may be left out.
    public init(feed: String = "", mark: Mark, postIDs: [PostID] = [], throughPostID: PostID = 0) {
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

extension MarkPostsRequest: SwiftMessage {
    package static var fieldCount: Int { 4 }
    package static var structByteCount: Int { 72 }

    package static func field(_ index: Int) -> FieldShape {
        switch index {
        case 0: FieldShape(1, .bytes)
        case 1: FieldShape(2, .int32)
        case 2: FieldShape(3, .uint64, .repeated)
        default: FieldShape(4, .uint64)
        }
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) throws(MessageError) {
        try self.init(
            feed: tree.text(node, 0, "feed"),
            mark: tree.value(node, 1),
            postIDs: tree.numbers(node, 2),
            throughPostID: tree.number(node, 3)
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.text(1, feed)
        writer.value(2, mark)
        writer.numbers(3, postIDs)
        writer.number(4, throughPostID)
    }
}

extension MarkPostsResponse: SwiftMessage {
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
            unreadCount: tree.number(node, 0)
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.number(1, unreadCount)
    }
}
