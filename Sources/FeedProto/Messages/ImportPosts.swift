/// Imports posts from another system, all or none; only a service may call this.
public struct ImportPostsRequest: Equatable, Sendable {
    /// The feed; empty is `posts`.
    public var feed: String
    /// The posts; the service reads what it reads of `CreatePostRequest`, the creation time and the
    /// counts.
    public var posts: [Post]

    /// A request, by default for the feed `posts`.
    public init(feed: String = "", posts: [Post]) {
        self.feed = feed
        self.posts = posts
    }
}

/// The posts that were imported.
public struct ImportPostsResponse: Equatable, Sendable {
    /// The posts' ids in the order of the request: consecutive numbers.
    public var ids: [UInt64]

    /// An answer with these ids.
    public init(ids: [UInt64]) {
        self.ids = ids
    }
}
