/// The authorisation table: one row a call.
///
/// There is no default, so a new call does not compile before it has a row. A row admits roles. The
/// call itself may ask for more: that a user is the author of a post, for example.
///
/// The fast path of votes does not read the table: ``Caller/takesFastPath`` is false for callers of the
/// roles that may not vote.
extension Method {
    /// The roles that may make the call.
    package var access: Access {
        switch self {
        case .hello, .ping, .cancel: .everyone
        case .signUp, .signIn: .changing
        case .getSession, .signOut: .users
        case .getPost, .batchGetPosts, .listPosts, .getPostRank: .reading
        case .syncPosts, .watchPosts, .listFeeds: .reading
        case .getServerStats: .everyone
        case .createPost, .castVote, .batchCastVotes: .changing
        case .updatePost, .deletePost: .users
        case .markPosts: .viewers
        case .importPosts, .createFeed, .correctTimes: .services
        case .deletePosts: .servicesAndOperators
        case .backup, .drain, .setLogLevel: .operators
        // No caller may learn from a refusal which calls a newer service has.
        case .unknown: .everyone
        }
    }
}
