public import FeedProto

/// A list of posts: which feed, in which order, and which of its posts.
public struct PostList: Sendable, Hashable {
    /// The feed; empty is the front page over all feeds.
    public var feed: String
    /// The order; unspecified is the feed's default.
    public var order: Order
    /// The age of the posts, for TOP, CONTROVERSIAL and DISCUSSED; unspecified is any.
    public var window: Window
    /// The author of the posts; 0 is any.
    public var authorID: UInt64
    /// Whether posts that the caller has read are left out.
    public var unreadOnly: Bool
    /// Whether posts that the caller has dismissed are in the list.
    public var includesDismissed: Bool
    /// Whether the pages are of one snapshot (STABLE); unspecified is LIVE.
    public var consistency: Consistency

    /// A list; by default all posts of all feeds.
    public init(
        feed: String = "",
        order: Order = .unspecified,
        window: Window = .unspecified,
        authorID: UInt64 = 0,
        unreadOnly: Bool = false,
        includesDismissed: Bool = false,
        consistency: Consistency = .unspecified
    ) {
        self.feed = feed
        self.order = order
        self.window = window
        self.authorID = authorID
        self.unreadOnly = unreadOnly
        self.includesDismissed = includesDismissed
        self.consistency = consistency
    }

    /// The request for a page.
    func request(pageSize: Int, from start: PageStart) -> ListPostsRequest {
        var request = ListPostsRequest(
            feed: feed,
            order: order,
            window: window,
            pageSize: Int32(clamping: pageSize),
            authorID: authorID,
            unreadOnly: unreadOnly,
            includesDismissed: includesDismissed,
            consistency: consistency
        )
        switch start {
        case .first: break
        case .token(let token): request.pageToken = token.bytes
        case .around(let id): request.start = .aroundPostID(id)
        case .rank(let rank): request.start = .rank(rank)
        case .newerThan(let id): request.start = .newerThanPostID(id)
        }
        return request
    }
}
