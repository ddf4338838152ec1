// Generated from proto/feed.proto by scripts/wire. Do not edit: run scripts/generate-proto.sh.

import CFeedProto

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

extension SyncPostsRequest: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__SyncPostsRequest>) {
        unsafe feed__v1__sync_posts_request__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__SyncPostsRequest>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            feed: reader.text(message.pointee.feed, "feed"),
            sinceRevision: message.pointee.since_revision,
            pageSize: message.pointee.page_size,
            copyRevision: message.pointee.copy_revision,
            instanceID: message.pointee.instance_id
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__SyncPostsRequest>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.feed = arena.text(feed)
        unsafe message.pointee.since_revision = sinceRevision
        unsafe message.pointee.page_size = pageSize
        unsafe message.pointee.copy_revision = copyRevision
        unsafe message.pointee.instance_id = instanceID
    }
}

extension SyncPostsResponse: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__SyncPostsResponse>) {
        unsafe feed__v1__sync_posts_response__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__SyncPostsResponse>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            posts: reader.messages(message.pointee.posts, count: message.pointee.n_posts, "posts"),
            nextRevision: message.pointee.next_revision,
            hasMore: message.pointee.more != 0,
            isReset: message.pointee.reset != 0,
            copyRevision: message.pointee.copy_revision,
            instanceID: message.pointee.instance_id
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__SyncPostsResponse>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.n_posts = posts.count
        unsafe message.pointee.posts = arena.messages(posts)
        unsafe message.pointee.next_revision = nextRevision
        unsafe message.pointee.more = hasMore ? 1 : 0
        unsafe message.pointee.reset = isReset ? 1 : 0
        unsafe message.pointee.copy_revision = copyRevision
        unsafe message.pointee.instance_id = instanceID
    }
}
