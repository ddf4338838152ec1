/// Brings posts from another system, all or none; only a service may.
public struct ImportPostsRequest: Equatable, Sendable {
    /// The feed; empty is `posts`.
    public var feed: String
    /// The posts; what `CreatePostRequest` reads is read, and the creation time and the counts.
    public var posts: [Post]

    /// By default into `posts`.
    public init(feed: String = "", posts: [Post]) {
        self.feed = feed
        self.posts = posts
    }
}

/// What was imported.
public struct ImportPostsResponse: Equatable, Sendable {
    /// The posts' ids in the order of the request: consecutive numbers.
    public var ids: [UInt64]

    /// Names the posts.
    public init(ids: [UInt64]) {
        self.ids = ids
    }
}
