import FeedProto

extension ListedPost {
    /// A post as a page of the service shows it.
    init(_ post: Post) {
        self.init(
            id: post.id,
            score: post.score,
            title: post.title,
            createTimeMilliseconds: post.createTimeMilliseconds
        )
    }
}
