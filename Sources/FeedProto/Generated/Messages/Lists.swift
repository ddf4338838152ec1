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

    /// The contract's names, by number.
    public static let names = ["ORDER_UNSPECIFIED", "TOP", "NEW", "OLD", "HOT"]
}

/// Asks for a page of a feed.
///
/// The answer: `ListPostsResponse`.
public struct ListPostsRequest: Equatable, Sendable {
    /// The feed; empty is the front page over all feeds.
    public var feed: String
    /// The order; unspecified is the feed's default order.
    public var order: Order
    /// How many posts: 0 is 20; more than 100 is 100; negative is INVALID_ARGUMENT / BAD_PAGE_SIZE.
    public var pageSize: Int32
    /// A token of an earlier page of the same feed and order; empty is the start given below.
    public var pageToken: [UInt8]
    /// Where to start without a token; nil is the first post.
    public var start: Start?

    /// Where to start without a token; absent is the first post.
    public enum Start: Equatable, Sendable {
        /// The page that holds this post.
        case aroundPostID(UInt64)
        /// The page that starts at this rank; 1 is the first post.
        case rank(UInt64)
    }

    /// All fields; each has a default.
    public init(
        feed: String = "",
        order: Order = .unspecified,
        pageSize: Int32 = 0,
        pageToken: [UInt8] = [],
        start: Start? = nil
    ) {
        self.feed = feed
        self.order = order
        self.pageSize = pageSize
        self.pageToken = pageToken
        self.start = start
    }
}

/// A page of a feed.
public struct ListPostsResponse: Equatable, Sendable {
    /// At most `pageSize` posts in order; fewer also where a full page would not fit into a frame.
    public var posts: [Post]
    /// The token of the page after this one; empty is the end of the list.
    public var nextPageToken: [UInt8]
    /// The token of the page before this one; empty is the start of the list.
    public var previousPageToken: [UInt8]
    /// The rank of the first post; 1 is the best.
    ///
    /// Counted for the first page, then carried along.
    public var firstRank: UInt64
    /// How many posts the list has.
    public var totalSize: UInt64

    /// All fields; those with a default may be left out.
    public init(
        posts: [Post],
        nextPageToken: [UInt8] = [],
        previousPageToken: [UInt8] = [],
        firstRank: UInt64 = 0,
        totalSize: UInt64 = 0
    ) {
        self.posts = posts
        self.nextPageToken = nextPageToken
        self.previousPageToken = previousPageToken
        self.firstRank = firstRank
        self.totalSize = totalSize
    }
}
