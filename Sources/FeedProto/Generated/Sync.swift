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
    /// Asks for the marks that the caller has made since, on any device: the `next` of the answer
    /// before, and an empty one at first or for another caller.
    ///
    /// Absent asks for none; IDENTITY_REQUIRED for callers without identity.
    public var marks: MarkPosition?

    /// All fields; each has a default.
    public init(
        feed: String = "",
        sinceRevision: UInt64 = 0,
        pageSize: Int32 = 0,
        copyRevision: UInt64 = 0,
        instanceID: UInt64 = 0,
        marks: MarkPosition? = nil
    ) {
        self.feed = feed
        self.sinceRevision = sinceRevision
        self.pageSize = pageSize
        self.copyRevision = copyRevision
        self.instanceID = instanceID
        self.marks = marks
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
    /// The caller's marks, if they were asked for: apply them before the posts.
    ///
    /// `more` is of them, too.
    public var marks: MarkChanges?

    /// All fields; those with a default may be left out.
    public init(
        posts: [Post],
        nextRevision: UInt64,
        hasMore: Bool = false,
        isReset: Bool = false,
        copyRevision: UInt64 = 0,
        instanceID: UInt64 = 0,
        marks: MarkChanges? = nil
    ) {
        self.posts = posts
        self.nextRevision = nextRevision
        self.hasMore = hasMore
        self.isReset = isReset
        self.copyRevision = copyRevision
        self.instanceID = instanceID
        self.marks = marks
    }
}

/// The place in a caller's marks that a copy has come to.
public struct MarkPosition: Equatable, Sendable {
    /// The copy has the marks up to this revision; 0 begins.
    ///
    /// One that has its posts with the marks of a revision, as from a list, begins with that.
    public var revision: UInt64
    /// Until all marks have come after a `reset`, the revision at which that was; else 0.
    public var copyRevision: UInt64

    /// All fields; each has a default.
    public init(revision: UInt64 = 0, copyRevision: UInt64 = 0) {
        self.revision = revision
        self.copyRevision = copyRevision
    }
}

/// What has changed in the caller's marks on posts of the feed, in the order of the changes.
public struct MarkChanges: Equatable, Sendable {
    /// The `marks` of the next request.
    public var next: MarkPosition?
    /// Whether to forget all marks first, as all that stand are to come.
    ///
    /// It is set at the first request, and where the service no longer knows which marks were taken
    /// back.
    public var isReset: Bool
    /// Marks on all posts up to one, the oldest first.
    public var through: [MarkedThrough]
    /// Posts whose own marks have changed, as all marks make them now.
    ///
    /// Apply them after `through`.
    public var posts: [MarkedPost]

    /// All fields; each has a default.
    public init(
        next: MarkPosition? = nil,
        isReset: Bool = false,
        through: [MarkedThrough] = [],
        posts: [MarkedPost] = []
    ) {
        self.next = next
        self.isReset = isReset
        self.through = through
        self.posts = posts
    }
}

/// A mark on all posts up to one: it stands on each until a later one is applied.
public struct MarkedThrough: Equatable, Sendable {
    /// The feed; empty is all feeds.
    public var feed: String
    /// The mark.
    public var mark: Mark
    /// The time of the last post: those with an earlier one are marked.
    public var createTimeMilliseconds: Int64
    /// The last post: of those with its time, those with a smaller id are marked, too.
    public var postID: PostID

    /// All fields; each must be given.
    public init(feed: String, mark: Mark, createTimeMilliseconds: Int64, postID: PostID) {
        self.feed = feed
        self.mark = mark
        self.createTimeMilliseconds = createTimeMilliseconds
        self.postID = postID
    }
}

/// What a caller's marks make of a post.
public struct MarkedPost: Equatable, Sendable {
    /// The post.
    public var id: PostID
    /// Whether the caller has read it.
    public var isRead: Bool
    /// Whether the caller has dismissed it.
    public var isDismissed: Bool

    /// All fields; each must be given.
    public init(id: PostID, isRead: Bool, isDismissed: Bool) {
        self.id = id
        self.isRead = isRead
        self.isDismissed = isDismissed
    }
}

extension SyncPostsRequest: SwiftMessage {
    package static var fieldCount: Int { 6 }
    package static var structByteCount: Int { 80 }

    package static func field(_ index: Int) -> FieldShape {
        switch index {
        case 0: FieldShape(1, .bytes)
        case 1: FieldShape(2, .uint64)
        case 2: FieldShape(3, .int32)
        case 3: FieldShape(4, .uint64)
        case 4: FieldShape(5, .fixed64)
        default: FieldShape(6, .message(MarkPosition.self))
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
            instanceID: tree.number(node, 4),
            marks: tree.message(node, 5, "marks")
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.text(1, feed)
        writer.number(2, sinceRevision)
        writer.number(3, pageSize)
        writer.number(4, copyRevision)
        writer.fixed64(5, instanceID)
        writer.message(6, marks)
    }
}

extension SyncPostsResponse: SwiftMessage {
    package static var fieldCount: Int { 7 }
    package static var structByteCount: Int { 80 }

    package static func field(_ index: Int) -> FieldShape {
        switch index {
        case 0: FieldShape(1, .message(Post.self), .repeated)
        case 1: FieldShape(2, .uint64)
        case 2: FieldShape(3, .bool)
        case 3: FieldShape(4, .bool)
        case 4: FieldShape(5, .uint64)
        case 5: FieldShape(6, .fixed64)
        default: FieldShape(7, .message(MarkChanges.self))
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
            instanceID: tree.number(node, 5),
            marks: tree.message(node, 6, "marks")
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.messages(1, posts)
        writer.number(2, nextRevision)
        writer.flag(3, hasMore)
        writer.flag(4, isReset)
        writer.number(5, copyRevision)
        writer.fixed64(6, instanceID)
        writer.message(7, marks)
    }
}

extension MarkPosition: SwiftMessage {
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
            revision: tree.number(node, 0),
            copyRevision: tree.number(node, 1)
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.number(1, revision)
        writer.number(2, copyRevision)
    }
}

extension MarkChanges: SwiftMessage {
    package static var fieldCount: Int { 4 }
    package static var structByteCount: Int { 72 }

    package static func field(_ index: Int) -> FieldShape {
        switch index {
        case 0: FieldShape(1, .message(MarkPosition.self))
        case 1: FieldShape(2, .bool)
        case 2: FieldShape(3, .message(MarkedThrough.self), .repeated)
        default: FieldShape(4, .message(MarkedPost.self), .repeated)
        }
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) throws(MessageError) {
        try self.init(
            next: tree.message(node, 0, "next"),
            isReset: tree.flag(node, 1),
            through: tree.messages(node, 2, "through"),
            posts: tree.messages(node, 3, "posts")
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.message(1, next)
        writer.flag(2, isReset)
        writer.messages(3, through)
        writer.messages(4, posts)
    }
}

extension MarkedThrough: SwiftMessage {
    package static var fieldCount: Int { 4 }
    package static var structByteCount: Int { 64 }

    package static func field(_ index: Int) -> FieldShape {
        switch index {
        case 0: FieldShape(1, .bytes)
        case 1: FieldShape(2, .int32)
        case 2: FieldShape(3, .uint64)
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
            createTimeMilliseconds: tree.number(node, 2),
            postID: tree.number(node, 3)
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.text(1, feed)
        writer.value(2, mark)
        writer.number(3, createTimeMilliseconds)
        writer.number(4, postID)
    }
}

extension MarkedPost: SwiftMessage {
    package static var fieldCount: Int { 3 }
    package static var structByteCount: Int { 40 }

    package static func field(_ index: Int) -> FieldShape {
        switch index {
        case 0: FieldShape(1, .uint64)
        case 1: FieldShape(2, .bool)
        default: FieldShape(3, .bool)
        }
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) {
        self.init(
            id: tree.number(node, 0),
            isRead: tree.flag(node, 1),
            isDismissed: tree.flag(node, 2)
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.number(1, id)
        writer.flag(2, isRead)
        writer.flag(3, isDismissed)
    }
}
