/// All feeds.
public struct ListFeedsResponse: Equatable, Sendable {
    /// In the order of their creation.
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

    /// Names the feed and its policy.
    public init(feed: Feed?) {
        self.feed = feed
    }
}
