/// Creates a post.
public struct CreatePostRequest: Equatable, Sendable {
    /// The feed; empty is `posts`.
    public var feed: String
    /// The post; the service reads its author's name, title, text, URLs and comment count.
    public var post: Post?

    /// A request, by default for the feed `posts`.
    public init(feed: String = "", post: Post?) {
        self.feed = feed
        self.post = post
    }
}
