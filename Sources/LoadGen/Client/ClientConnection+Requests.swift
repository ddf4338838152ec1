import FeedProto

extension ClientConnection {
    /// The message of a request without a specialised encoder.
    func message(_ operation: Operation, argument: UInt32) -> FeedProto.Request {
        let configuration = worker.setup.configuration
        switch operation {
        case .vote, .get:
            return .getPost(GetPostRequest(id: worker.posts.id(argument)))
        case .create:
            let title = PostText.title(maker: number + 1, number: Int(argument))
            let post = Post(title: title, text: PostText.body)
            return .createPost(CreatePostRequest(feed: configuration.feed, post: post))
        case .list, .page:
            return .listPosts(
                ListPostsRequest(
                    feed: configuration.feed,
                    order: .top,
                    pageSize: Int32(configuration.pageSize),
                    pageToken: operation == .page ? pageToken : []
                )
            )
        }
    }
}
