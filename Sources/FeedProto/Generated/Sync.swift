// Generated from proto/feed.proto by scripts/wire. Do not edit: run scripts/generate-proto.sh.

/// Asks for the posts that have changed since a revision, to keep a copy of a feed.
///
/// The answers form a chain: each request names `nextRevision`, `copyRevision` and `instanceID` of
/// the answer before, also where hours or restarts lie between. A new copy begins without them.
///
/// The answer: `SyncPostsResponse`.
public struct SyncPostsRequest: Equatable, Sendable {
    /// The feed; empty is all feeds.
    ///
    /// A chain keeps to one feed.
    public var feed: String
    /// The `nextRevision` of the answer before; 0 begins a copy.
    public var sinceRevision: UInt64
    /// How many posts: 0 and more than 500 are 500; negative is INVALID_ARGUMENT / BAD_PAGE_SIZE.
    public var pageSize: Int32
    /// The `copyRevision` of the answer before.
    public var copyRevision: UInt64
    /// The `instanceID` of the answer before: where the service has another one now, the answer
    /// begins a new copy.
    ///
    /// 0 is any.
    public var instanceID: UInt64

    /// All fields; each has a default.
    public init(
        feed: String = "",
        sinceRevision: UInt64 = 0,
        pageSize: Int32 = 0,
        copyRevision: UInt64 = 0,
        instanceID: UInt64 = 0
    ) {
        self.feed = feed
        self.sinceRevision = sinceRevision
        self.pageSize = pageSize
        self.copyRevision = copyRevision
        self.instanceID = instanceID
    }
}

/// Posts in the order of their last changes, each as it is now.
public struct SyncPostsResponse: Equatable, Sendable {
    /// The posts, and those that were deleted.
    ///
    /// There may be fewer than asked for, or none, and more to come. A post may come twice; of two
    /// answers the one with the greater revision is the newer.
    public var posts: [Post]
    /// The `sinceRevision` of the next request.
    public var nextRevision: UInt64
    /// Whether more is to come now: send the next request at once.
    public var hasMore: Bool
    /// Whether this is the first answer of a new copy: forget all posts of the feed first.
    ///
    /// It is set where a copy is begun, and where a service no longer knows what the caller has
    /// missed.
    public var isReset: Bool
    /// Until a copy is complete, the revision at which it was begun; else 0.
    public var copyRevision: UInt64
    /// Identifies the state, as in HelloResponse.
    public var instanceID: UInt64

    /// All fields; those with a default may be left out.
    public init(
        posts: [Post],
        nextRevision: UInt64,
        hasMore: Bool = false,
        isReset: Bool = false,
        copyRevision: UInt64 = 0,
        instanceID: UInt64 = 0
    ) {
        self.posts = posts
        self.nextRevision = nextRevision
        self.hasMore = hasMore
        self.isReset = isReset
        self.copyRevision = copyRevision
        self.instanceID = instanceID
    }
}

extension SyncPostsRequest: SwiftMessage {
    package static var fieldCount: Int { 5 }
    package static var structByteCount: Int { 72 }

    package static func field(_ index: Int) -> FieldShape {
        switch index {
        case 0: FieldShape(1, .bytes)
        case 1: FieldShape(2, .uint64)
        case 2: FieldShape(3, .int32)
        case 3: FieldShape(4, .uint64)
        default: FieldShape(5, .fixed64)
        }
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) throws(MessageError) {
        try self.init(
            feed: tree.text(node, 0, "feed"),
            sinceRevision: tree.number(node, 1),
            pageSize: tree.number(node, 2),
            copyRevision: tree.number(node, 3),
            instanceID: tree.number(node, 4)
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.text(1, feed)
        writer.number(2, sinceRevision)
        writer.number(3, pageSize)
        writer.number(4, copyRevision)
        writer.fixed64(5, instanceID)
    }
}

extension SyncPostsResponse: SwiftMessage {
    package static var fieldCount: Int { 6 }
    package static var structByteCount: Int { 72 }

    package static func field(_ index: Int) -> FieldShape {
        switch index {
        case 0: FieldShape(1, .message(Post.self), .repeated)
        case 1: FieldShape(2, .uint64)
        case 2: FieldShape(3, .bool)
        case 3: FieldShape(4, .bool)
        case 4: FieldShape(5, .uint64)
        default: FieldShape(6, .fixed64)
        }
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) throws(MessageError) {
        try self.init(
            posts: tree.messages(node, 0, "posts"),
            nextRevision: tree.number(node, 1),
            hasMore: tree.flag(node, 2),
            isReset: tree.flag(node, 3),
            copyRevision: tree.number(node, 4),
            instanceID: tree.number(node, 5)
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.messages(1, posts)
        writer.number(2, nextRevision)
        writer.flag(3, hasMore)
        writer.flag(4, isReset)
        writer.number(5, copyRevision)
        writer.fixed64(6, instanceID)
    }
}
