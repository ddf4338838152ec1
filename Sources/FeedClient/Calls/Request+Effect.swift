import FeedProto

extension Request {
    /// Whether executing it may change the service's state; one that is not known here may.
    var mayHaveEffect: Bool {
        switch self {
        case .hello, .ping, .getPost, .batchGetPosts, .listPosts, .getPostRank, .listFeeds,
            .getServerStats:
            false
        case .correctTimes(let request): request.appliesCorrection
        default:
            true
        }
    }
}
