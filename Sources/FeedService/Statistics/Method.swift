/// The calls of the protocol, as the statistics count them.
package enum Method: Int, CaseIterable, Sendable {
    case hello
    case ping
    case cancel
    case signUp
    case signIn
    case getSession
    case signOut
    case createPost
    case importPosts
    case getPost
    case batchGetPosts
    case listPosts
    case updatePost
    case deletePost
    case syncPosts
    case watchPosts
    case getPostRank
    case castVote
    case batchCastVotes
    case markPosts
    case listFeeds
    case createFeed
    case getServerStats
    case backup
    case correctTimes
    case deletePosts
    case drain
    case setLogLevel
    case unknown

    /// Whether the call may have a sequence: it is a change, and is refused under overload.
    ///
    /// CorrectTimes and DeletePosts take none. They may be repeated, and they change posts only on
    /// request, so they ask for admission themselves.
    var takesSequence: Bool {
        switch self {
        case .createPost, .importPosts, .updatePost, .deletePost, .castVote, .batchCastVotes,
            .markPosts, .createFeed:
            true
        case .hello, .ping, .cancel, .signUp, .signIn, .getSession, .signOut, .getPost,
            .batchGetPosts, .listPosts, .syncPosts, .watchPosts, .getPostRank, .listFeeds,
            .getServerStats, .backup, .correctTimes, .deletePosts, .drain, .setLogLevel, .unknown:
            false
        }
    }

    /// Whether the call may change what lists show.
    var isChange: Bool { takesSequence || self == .correctTimes || self == .deletePosts }

    /// Whether the call shows the state and has no effect on it, or one on its connection alone.
    var onlyReads: Bool {
        switch self {
        case .hello, .ping, .getSession, .getPost, .batchGetPosts, .listPosts, .syncPosts,
            .watchPosts, .getPostRank, .listFeeds, .getServerStats, .unknown:
            true
        case .cancel, .signUp, .signIn, .signOut, .createPost, .importPosts, .updatePost,
            .deletePost, .castVote, .batchCastVotes, .markPosts, .createFeed, .backup,
            .correctTimes, .deletePosts, .drain, .setLogLevel:
            false
        }
    }

    /// Whether the call is answered while a commit stands still: its answer shows nothing of the state,
    /// or helps an operator.
    var isAnsweredInStall: Bool {
        switch self {
        case .hello, .ping, .cancel, .getServerStats, .drain, .setLogLevel: true
        default: false
        }
    }

    /// Whether the call's answer has a token.
    var isSignIn: Bool { self == .signUp || self == .signIn }

    /// Whether the call gives a post a time, so that the clock is checked before it.
    var stampsTime: Bool {
        switch self {
        case .createPost, .importPosts, .updatePost: true
        default: false
        }
    }

    /// The call's field in the contract's ClientFrame.
    package var name: String {
        switch self {
        case .hello: "hello"
        case .ping: "ping"
        case .cancel: "cancel"
        case .signUp: "sign_up"
        case .signIn: "sign_in"
        case .getSession: "get_session"
        case .signOut: "sign_out"
        case .createPost: "create_post"
        case .importPosts: "import_posts"
        case .getPost: "get_post"
        case .batchGetPosts: "batch_get_posts"
        case .listPosts: "list_posts"
        case .updatePost: "update_post"
        case .deletePost: "delete_post"
        case .syncPosts: "sync_posts"
        case .watchPosts: "watch_posts"
        case .getPostRank: "get_post_rank"
        case .castVote: "cast_vote"
        case .batchCastVotes: "batch_cast_votes"
        case .markPosts: "mark_posts"
        case .listFeeds: "list_feeds"
        case .createFeed: "create_feed"
        case .getServerStats: "get_server_stats"
        case .backup: "backup"
        case .correctTimes: "correct_times"
        case .deletePosts: "delete_posts"
        case .drain: "drain"
        case .setLogLevel: "set_log_level"
        case .unknown: "unknown"
        }
    }
}
