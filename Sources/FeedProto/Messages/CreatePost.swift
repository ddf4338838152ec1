/// Creates a post.
public struct CreatePostRequest: Equatable, Sendable {
    /// The feed; empty is `posts`.
    public var feed: String
    /// The post; its author's name, title, text, URLs and comment count are read.
    public var post: Post?

    /// By default into `posts`.
    public init(feed: String = "", post: Post?) {
        self.feed = feed
        self.post = post
    }
}
