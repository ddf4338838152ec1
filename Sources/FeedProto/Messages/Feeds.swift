/// All feeds.
public struct ListFeedsResponse: Equatable, Sendable {
    /// The feeds, in the order of their creation.
    public var feeds: [Feed]

    /// All feeds.
    public init(feeds: [Feed]) {
        self.feeds = feeds
    }
}

/// Creates a feed.
public struct CreateFeedRequest: Equatable, Sendable {
    /// Its name and policy.
    public var feed: Feed?

    /// A request for a feed with this name and policy.
    public init(feed: Feed?) {
        self.feed = feed
    }
}
