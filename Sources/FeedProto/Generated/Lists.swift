// Generated from proto/feed.proto by scripts/wire. Do not edit: run scripts/generate-proto.sh.

/// How posts are ordered.
///
/// Each order is total: ties end by id.
public struct Order: WireEnum {
    /// The number on the wire.
    public let rawValue: Int32

    /// Takes any number, known or not.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// The feed's default order.
    public static var unspecified: Self { Self(rawValue: 0) }
    /// Score descending, title ascending by bytes, id ascending.
    public static var top: Self { Self(rawValue: 1) }
    /// Creation time descending, id descending.
    public static var new: Self { Self(rawValue: 2) }
    /// Creation time ascending, id ascending.
    public static var old: Self { Self(rawValue: 3) }
    /// Reddit's hot formula, rounded exactly (docs/PROTOCOL.md), descending, id ascending.
    public static var hot: Self { Self(rawValue: 4) }
    /// The lower bound of Wilson's interval of the share of upvotes, descending, id ascending.
    public static var best: Self { Self(rawValue: 5) }
    /// Reddit's controversy, descending, id ascending.
    public static var controversial: Self { Self(rawValue: 6) }
    /// The decayed number of recent upvotes, descending, id ascending.
    public static var rising: Self { Self(rawValue: 7) }
    /// The number of comments, descending, id ascending.
    public static var discussed: Self { Self(rawValue: 8) }

    /// The contract's names, by number.
    public static let names = [
        "ORDER_UNSPECIFIED", "TOP", "NEW", "OLD", "HOT", "BEST", "CONTROVERSIAL", "RISING",
        "DISCUSSED",
    ]
}

/// Limits a list to posts of a certain age, by the service's clock.
public struct Window: WireEnum {
    /// The number on the wire.
    public let rawValue: Int32

    /// Takes any number, known or not.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// All posts.
    public static var unspecified: Self { Self(rawValue: 0) }
    /// Posts of the last 60 minutes.
    public static var hour: Self { Self(rawValue: 1) }
    /// Posts of the last 24 hours.
    public static var day: Self { Self(rawValue: 2) }
    /// Posts of the last 7 days.
    public static var week: Self { Self(rawValue: 3) }
    /// Posts of the last 30 days.
    public static var month: Self { Self(rawValue: 4) }
    /// Posts of the last 365 days.
    public static var year: Self { Self(rawValue: 5) }

    /// The contract's names, by number.
    public static let names = ["WINDOW_UNSPECIFIED", "HOUR", "DAY", "WEEK", "MONTH", "YEAR"]
}

/// What pages of one list have in common.
public struct Consistency: WireEnum {
    /// The number on the wire.
    public let rawValue: Int32

    /// Takes any number, known or not.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// The service's default, LIVE.
    public static var unspecified: Self { Self(rawValue: 0) }
    /// Pages are of one snapshot of the first 1,000 posts: no post comes twice, and none is missed.
    ///
    /// Pages behind it are LIVE.
    public static var stable: Self { Self(rawValue: 1) }
    /// Each page is of the order as it is when the page is read.
    public static var live: Self { Self(rawValue: 2) }

    /// The contract's names, by number.
    public static let names = ["CONSISTENCY_UNSPECIFIED", "STABLE", "LIVE"]
}

/// Asks for a page of a feed.
///
/// The answer: `ListPostsResponse`.
public struct ListPostsRequest: Equatable, Sendable {
    /// The feed; empty is the front page over all feeds.
    public var feed: String
    /// The order; unspecified is the feed's default order.
    public var order: Order
    /// The window, for TOP, CONTROVERSIAL and DISCUSSED; unspecified is all posts.
    public var window: Window
    /// How many posts: 0 is 20; more than 100 is 100; negative is INVALID_ARGUMENT / BAD_PAGE_SIZE.
    public var pageSize: Int32
    /// A token of an answer about the same list: feed, order, window, filter and viewer, else
    /// PAGE_TOKEN_MISMATCH.
    ///
    /// Empty is the start given below.
    public var pageToken: [UInt8]
    /// Where to start without a token; nil is the first post.
    public var start: Start?
    /// Only posts of this author; 0 is any.
    public var authorID: UserID
    /// Only posts that the caller has not read.
    public var unreadOnly: Bool
    /// Whether posts that the caller has dismissed are in the list.
    public var includesDismissed: Bool
    /// Whether the pages are of one snapshot; unspecified is LIVE.
    public var consistency: Consistency

    /// Where to start without a token; absent is the first post.
    public enum Start: Equatable, Sendable {
        /// The page that holds this post.
        case aroundPostID(PostID)
        /// The page that starts at this rank; 1 is the first post.
        case rank(UInt64)
        /// The posts created since this post: those next to it where a page has no room for all.
        ///
        /// They come in the order NEW, or OLD in a list of OLD, and not in the order of the list.
        case newerThanPostID(PostID)
    }

    /// All fields; each has a default.
    public init(
        feed: String = "",
        order: Order = .unspecified,
        window: Window = .unspecified,
        pageSize: Int32 = 0,
        pageToken: [UInt8] = [],
        start: Start? = nil,
        authorID: UserID = 0,
        unreadOnly: Bool = false,
        includesDismissed: Bool = false,
        consistency: Consistency = .unspecified
    ) {
        self.feed = feed
        self.order = order
        self.window = window
        self.pageSize = pageSize
        self.pageToken = pageToken
        self.start = start
        self.authorID = authorID
        self.unreadOnly = unreadOnly
        self.includesDismissed = includesDismissed
        self.consistency = consistency
    }
}

/// A page of a feed.
public struct ListPostsResponse: Equatable, Sendable {
    /// At most `pageSize` posts in order; fewer also where about a frame is full.
    public var posts: [Post]
    /// The token of the page after this one; empty is the end of the list.
    public var nextPageToken: [UInt8]
    /// The token of the page before this one; empty is the start of the list.
    public var previousPageToken: [UInt8]
    /// The token of the posts that are created after this page, in any order: pass it as
    /// `pageToken`.
    ///
    /// Empty in pages that were asked for by `nextPageToken` or `previousPageToken`. A post may
    /// come twice, and none is missed.
    public var refreshToken: [UInt8]
    /// The rank of the first post; 1 is the best.
    ///
    /// Counted for the first page, then carried along.
    public var firstRank: UInt64
    /// How many posts the list has, without filters.
    public var totalSize: UInt64
    /// In an answer about newer posts: how many more there are, those that the filters leave out
    /// among them.
    ///
    /// Ask for them by `refreshToken`.
    public var newerCount: UInt32
    /// What was served: LIVE also where STABLE was asked for and its snapshot is gone or ends.
    public var consistency: Consistency

    /// All fields; those with a default may be left out.
    public init(
        posts: [Post],
        nextPageToken: [UInt8] = [],
        previousPageToken: [UInt8] = [],
        refreshToken: [UInt8] = [],
        firstRank: UInt64 = 0,
        totalSize: UInt64 = 0,
        newerCount: UInt32 = 0,
        consistency: Consistency = .unspecified
    ) {
        self.posts = posts
        self.nextPageToken = nextPageToken
        self.previousPageToken = previousPageToken
        self.refreshToken = refreshToken
        self.firstRank = firstRank
        self.totalSize = totalSize
        self.newerCount = newerCount
        self.consistency = consistency
    }
}

extension ListPostsRequest: SwiftMessage {
    package static var fieldCount: Int { 12 }
    package static var structByteCount: Int { 104 }

    package static func field(_ index: Int) -> FieldShape {
        switch index {
        case 0: FieldShape(1, .bytes)
        case 1: FieldShape(2, .int32)
        case 2: FieldShape(3, .int32)
        case 3: FieldShape(4, .int32)
        case 4: FieldShape(5, .bytes)
        case 5: FieldShape(6, .uint64, .member)
        case 6: FieldShape(7, .uint64, .member)
        case 7: FieldShape(8, .uint64, .member)
        case 8: FieldShape(9, .uint64)
        case 9: FieldShape(10, .bool)
        case 10: FieldShape(11, .bool)
        default: FieldShape(12, .int32)
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
            pageSize: tree.number(node, 3),
            pageToken: tree.bytes(node, 4),
            start: Start(node, in: tree),
            authorID: tree.number(node, 8),
            unreadOnly: tree.flag(node, 9),
            includesDismissed: tree.flag(node, 10),
            consistency: tree.value(node, 11)
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.text(1, feed)
        writer.value(2, order)
        writer.value(3, window)
        writer.number(4, pageSize)
        writer.bytes(5, pageToken)
        switch start {
        case .aroundPostID(let value):
            writer.member(6, value)
        case .rank(let value):
            writer.member(7, UInt64(truncatingIfNeeded: value))
        case .newerThanPostID(let value):
            writer.member(8, value)
        case nil:
            break
        }
        writer.number(9, authorID)
        writer.flag(10, unreadOnly)
        writer.flag(11, includesDismissed)
        writer.value(12, consistency)
    }
}

extension ListPostsRequest.Start {
    /// The set member of the oneof; nil where there is none.
    fileprivate init?(
        _ node: Int,
        in tree: borrowing MessageTree
    ) {
        switch tree.member(node) {
        case 6:
            self = .aroundPostID(tree.number(node, 5))
        case 7:
            self = .rank(tree.number(node, 6))
        case 8:
            self = .newerThanPostID(tree.number(node, 7))
        default:
            return nil
        }
    }
}

extension ListPostsResponse: SwiftMessage {
    package static var fieldCount: Int { 8 }
    package static var structByteCount: Int { 112 }

    package static func field(_ index: Int) -> FieldShape {
        switch index {
        case 0: FieldShape(1, .message(Post.self), .repeated)
        case 1: FieldShape(2, .bytes)
        case 2: FieldShape(3, .bytes)
        case 3: FieldShape(4, .bytes)
        case 4: FieldShape(5, .uint64)
        case 5: FieldShape(6, .uint64)
        case 6: FieldShape(7, .uint32)
        default: FieldShape(8, .int32)
        }
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) throws(MessageError) {
        try self.init(
            posts: tree.messages(node, 0, "posts"),
            nextPageToken: tree.bytes(node, 1),
            previousPageToken: tree.bytes(node, 2),
            refreshToken: tree.bytes(node, 3),
            firstRank: tree.number(node, 4),
            totalSize: tree.number(node, 5),
            newerCount: tree.number(node, 6),
            consistency: tree.value(node, 7)
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.messages(1, posts)
        writer.bytes(2, nextPageToken)
        writer.bytes(3, previousPageToken)
        writer.bytes(4, refreshToken)
        writer.number(5, firstRank)
        writer.number(6, totalSize)
        writer.number(7, newerCount)
        writer.value(8, consistency)
    }
}
