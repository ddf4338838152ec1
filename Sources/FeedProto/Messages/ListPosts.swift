/// Asks for a page of a feed.
public struct ListPostsRequest: Equatable, Sendable {
    /// The feed; empty is the front page over all feeds.
    public var feed: String
    /// The order; unspecified is the feed's default.
    public var order: Order
    /// How many posts; 0 is the service's default.
    public var pageSize: Int32
    /// A token of an earlier page of the same feed and order; empty is `start`.
    public var pageToken: [UInt8]
    /// Where to start without a token; nil is the first post.
    public var start: Start?

    /// Where a list without a token starts.
    public enum Start: Equatable, Sendable {
        /// The page that holds this post.
        case aroundPostID(UInt64)
        /// The page that starts at this rank; 1 is the first post.
        case rank(UInt64)
    }

    /// A request, by default for the first page of the front page.
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
    /// The posts, in order.
    public var posts: [Post]
    /// The token of the page after this one; empty at the end of the list.
    public var nextPageToken: [UInt8]
    /// The token of the page before this one; empty at the start of the list.
    public var previousPageToken: [UInt8]
    /// The rank of the first post; 1 is the best.
    public var firstRank: UInt64
    /// How many posts the list has.
    public var totalSize: UInt64

    /// A page, by default the only one.
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
