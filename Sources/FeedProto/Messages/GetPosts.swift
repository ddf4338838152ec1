/// Asks for one post.
public struct GetPostRequest: Equatable, Sendable {
    /// The post.
    public var id: UInt64

    /// A request for this post.
    public init(id: UInt64) {
        self.id = id
    }
}

/// Asks for several posts by id.
public struct BatchGetPostsRequest: Equatable, Sendable {
    /// The posts.
    public var ids: [UInt64]

    /// A request for these posts.
    public init(ids: [UInt64]) {
        self.ids = ids
    }
}

/// Posts by id.
public struct BatchGetPostsResponse: Equatable, Sendable {
    /// The posts in the order of the ids; fewer where not all would fit into a frame.
    public var posts: [Post]
    /// Ids that no post has.
    public var missingIDs: [UInt64]

    /// Posts, by default with no id missing.
    public init(posts: [Post], missingIDs: [UInt64] = []) {
        self.posts = posts
        self.missingIDs = missingIDs
    }
}
