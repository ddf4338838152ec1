import FeedProto

/// The messages of requests for the general encoder, which takes all that are no votes sent alone.
struct RequestMessages {
    private let worker: Worker
    /// The number of the client over all threads, which titles of new posts name.
    private let maker: Int

    init(_ worker: Worker, maker: Int) {
        self.worker = worker
        self.maker = maker
    }

    /// The message of a request; `pageToken` continues the page that the client saw last.
    func message(
        _ operation: Operation,
        _ request: InFlightRequest,
        pageToken: [UInt8]
    ) -> FeedProto.Request {
        let configuration = worker.setup.configuration
        let argument = request.argument
        switch operation {
        case .vote where worker.isBatching:
            let count = worker.batches.count(argument)
            let votes = (0..<count).map { castVote(worker.batches.vote($0, of: argument)) }
            return .batchCastVotes(BatchCastVotesRequest(votes: votes))
        case .vote:
            return .castVote(castVote(argument))
        case .get:
            return .getPost(GetPostRequest(id: worker.posts.id(argument)))
        case .create:
            let title = PostText.title(maker: maker + 1, number: Int(argument))
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

    /// The vote of a number.
    private func castVote(_ vote: UInt32) -> CastVoteRequest {
        let direction = VoteDirection(rawValue: Int32(worker.tallied.ballot(vote).rawValue))
        return CastVoteRequest(postID: worker.votedPostID(vote), direction: direction)
    }
}
