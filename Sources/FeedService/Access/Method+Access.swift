/// The authorisation table: one row a call.
///
/// There is no default, so a new call does not compile before it has a row. A row admits roles. The
/// call itself may ask for more: that a user is the author of a post, for example.
///
/// The fast path of votes does not read the table. It serves only calls that are open to everyone.
extension Method {
    /// The roles that may make the call.
    package var access: Access {
        switch self {
        case .hello, .ping, .cancel: .everyone
        case .signUp, .signIn: .everyone
        case .getSession, .signOut: .users
        case .getPost, .batchGetPosts, .listPosts, .getPostRank: .everyone
        case .syncPosts, .watchPosts: .everyone
        case .listFeeds, .getServerStats: .everyone
        case .createPost, .castVote, .batchCastVotes: .everyone
        case .updatePost, .deletePost: .users
        case .markPosts: .viewers
        case .importPosts, .createFeed, .backup, .correctTimes: .services
        // No caller may learn from a refusal which calls a newer service has.
        case .unknown: .everyone
        }
    }
}
