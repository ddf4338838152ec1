import FeedProto

extension Request {
    /// Whether executing the request may change the service's state; an unknown request may.
    var mayHaveEffect: Bool {
        switch self {
        case .hello, .ping, .cancel, .getSession, .getPost, .batchGetPosts, .listPosts, .syncPosts,
            .watchPosts, .getPostRank, .listFeeds, .getServerStats:
            false
        case .correctTimes(let request): request.appliesCorrection
        case .deletePosts(let request): request.deletesPosts
        default:
            true
        }
    }

    /// Whether the protocol gives the request a sequence, by which it is executed once.
    var takesSequence: Bool {
        switch self {
        case .createPost, .importPosts, .updatePost, .deletePost, .castVote, .batchCastVotes,
            .markPosts, .createFeed:
            true
        case .hello, .ping, .cancel, .signUp, .signIn, .getSession, .signOut, .getPost,
            .batchGetPosts, .listPosts, .syncPosts, .watchPosts, .getPostRank, .listFeeds,
            .getServerStats, .backup, .correctTimes, .deletePosts, .drain, .setLogLevel:
            false
        }
    }
}
