// Generated from proto/feed.proto by scripts/wire. Do not edit: run scripts/generate-proto.sh.

/// Watches the first posts of a list, or single posts.
///
/// The answers are any number of events with `more`, the first at once, until a frame without:
/// CANCELLED after a Cancel, or why the watch ended. TOO_MANY_WATCHES where the connection has as
/// many as it may, or, with `retryAfterMilliseconds`, the service.
///
/// The answer: `WatchPostsEvent`.
public struct WatchPostsRequest: Equatable, Sendable {
    /// The feed of the list; empty is the front page over all feeds.
    public var feed: String
    /// The order of the list; unspecified is the feed's default order.
    public var order: Order
    /// The window of the list, as in ListPostsRequest; unspecified is all posts.
    public var window: Window
    /// How many posts from the first one on: at most 100; 0 where posts are named.
    public var topCount: UInt32
    /// The posts, at most 200; empty where `topCount` is given.
    public var postIDs: [PostID]
    /// The least time between two events: 0 is 250; less than 50 is 50; more than 60,000 is 60,000.
    public var minimumIntervalMilliseconds: UInt32
    /// The revision of the last event of an earlier watch of the same posts: the first event has
    /// what has changed since.
    ///
    /// 0, or a revision that the service cannot resume from, is all of them.
    public var sinceRevision: UInt64
    /// Only posts of this author; 0 is any.
    ///
    /// A watch with a filter looks at the first 5,000 posts of the list.
    public var authorID: UserID
    /// Only posts that the caller has not read; IDENTITY_REQUIRED for callers without identity.
    public var unreadOnly: Bool
    /// Leaves out the posts that the caller has dismissed, as lists do.
    public var excludesDismissed: Bool

    /// All fields; each has a default.
    public init(
        feed: String = "",
        order: Order = .unspecified,
        window: Window = .unspecified,
        topCount: UInt32 = 0,
        postIDs: [PostID] = [],
        minimumIntervalMilliseconds: UInt32 = 0,
        sinceRevision: UInt64 = 0,
        authorID: UserID = 0,
        unreadOnly: Bool = false,
        excludesDismissed: Bool = false
    ) {
        self.feed = feed
        self.order = order
        self.window = window
        self.topCount = topCount
        self.postIDs = postIDs
        self.minimumIntervalMilliseconds = minimumIntervalMilliseconds
        self.sinceRevision = sinceRevision
        self.authorID = authorID
        self.unreadOnly = unreadOnly
        self.excludesDismissed = excludesDismissed
    }
}

/// What has changed since the event before.
///
/// The frame's revision is the state that it shows.
public struct WatchPostsEvent: Equatable, Sendable {
    /// The watched posts that have changed or are new among those watched, as they are now.
    ///
    /// Of a post without `feed` only `id`, `score`, the counts of votes, `revision` and `viewer`
    /// are set: the rest is as the client has it. Posts that do not fit into a frame follow in the
    /// next event. A post may show a later change than the frame's revision, which its own revision
    /// says; it then comes again.
    public var changed: [Post]
    /// The ids of the watched list in order, where they or their order have changed; else empty.
    ///
    /// Empty in the first event is a list without posts.
    public var ranking: [PostID]
    /// Posts that are watched no more: deleted ones, and those that are no longer among the first.
    public var removedIDs: [PostID]
    /// How many posts were created in the list's feed since the event before.
    public var newPostCount: UInt32
    /// Whether the event has all of the watched posts: what the client knew before is void.
    public var isReset: Bool

    /// All fields; each has a default.
    public init(
        changed: [Post] = [],
        ranking: [PostID] = [],
        removedIDs: [PostID] = [],
        newPostCount: UInt32 = 0,
        isReset: Bool = false
    ) {
        self.changed = changed
        self.ranking = ranking
        self.removedIDs = removedIDs
        self.newPostCount = newPostCount
        self.isReset = isReset
    }
}

extension WatchPostsRequest: SwiftMessage {
    package static var fieldCount: Int { 10 }
    package static var structByteCount: Int { 104 }

    package static func field(_ index: Int) -> FieldShape {
        switch index {
        case 0: FieldShape(1, .bytes)
        case 1: FieldShape(2, .int32)
        case 2: FieldShape(3, .int32)
        case 3: FieldShape(4, .uint32)
        case 4: FieldShape(5, .uint64, .repeated)
        case 5: FieldShape(6, .uint32)
        case 6: FieldShape(7, .uint64)
        case 7: FieldShape(8, .uint64)
        case 8: FieldShape(9, .bool)
        default: FieldShape(10, .bool)
        }
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) throws(MessageError) {
        try self.init(
            feed: tree.text(node, 0, "feed"),
            order: tree.value(node, 1),
            window: tree.value(node, 2),
            topCount: tree.number(node, 3),
            postIDs: tree.numbers(node, 4),
            minimumIntervalMilliseconds: tree.number(node, 5),
            sinceRevision: tree.number(node, 6),
            authorID: tree.number(node, 7),
            unreadOnly: tree.flag(node, 8),
            excludesDismissed: tree.flag(node, 9)
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.text(1, feed)
        writer.value(2, order)
        writer.value(3, window)
        writer.number(4, topCount)
        writer.numbers(5, postIDs)
        writer.number(6, minimumIntervalMilliseconds)
        writer.number(7, sinceRevision)
        writer.number(8, authorID)
        writer.flag(9, unreadOnly)
        writer.flag(10, excludesDismissed)
    }
}

extension WatchPostsEvent: SwiftMessage {
    package static var fieldCount: Int { 5 }
    package static var structByteCount: Int { 80 }

    package static func field(_ index: Int) -> FieldShape {
        switch index {
        case 0: FieldShape(1, .message(Post.self), .repeated)
        case 1: FieldShape(2, .uint64, .repeated)
        case 2: FieldShape(3, .uint64, .repeated)
        case 3: FieldShape(4, .uint32)
        default: FieldShape(5, .bool)
        }
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) throws(MessageError) {
        try self.init(
            changed: tree.messages(node, 0, "changed"),
            ranking: tree.numbers(node, 1),
            removedIDs: tree.numbers(node, 2),
            newPostCount: tree.number(node, 3),
            isReset: tree.flag(node, 4)
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.messages(1, changed)
        writer.numbers(2, ranking)
        writer.numbers(3, removedIDs)
        writer.number(4, newPostCount)
        writer.flag(5, isReset)
    }
}
