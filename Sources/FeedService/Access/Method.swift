internal import FeedProto

/// The calls of the protocol, as the statistics count them; each has a row of its own below.
package enum Method: Int, CaseIterable, Sendable {
    case hello, ping, cancel
    case signUp, signIn, getSession, signOut
    case changePassword, changeEmail, deleteAccount, listSessions, endSession
    case changeUser, makePasswordReset, resetPassword
    case createPost, importPosts, getPost, batchGetPosts, listPosts, updatePost, deletePost
    case syncPosts, watchPosts, getPostRank
    case castVote, batchCastVotes, markPosts
    case listFeeds, createFeed
    case getServerStats, backup, correctTimes, deletePosts, drain, setLogLevel
    case clusterStatus, changeMembers, transferLeadership
    case unknown

    /// The call of a request; `unknown` where there is none.
    init(_ request: borrowing Request?) {
        self =
            switch request {
            case .hello: .hello
            case .ping: .ping
            case .cancel: .cancel
            case .signUp: .signUp
            case .signIn: .signIn
            case .getSession: .getSession
            case .signOut: .signOut
            case .changePassword: .changePassword
            case .changeEmail: .changeEmail
            case .deleteAccount: .deleteAccount
            case .listSessions: .listSessions
            case .endSession: .endSession
            case .changeUser: .changeUser
            case .makePasswordReset: .makePasswordReset
            case .resetPassword: .resetPassword
            case .createPost: .createPost
            case .importPosts: .importPosts
            case .getPost: .getPost
            case .batchGetPosts: .batchGetPosts
            case .listPosts: .listPosts
            case .updatePost: .updatePost
            case .deletePost: .deletePost
            case .syncPosts: .syncPosts
            case .watchPosts: .watchPosts
            case .getPostRank: .getPostRank
            case .castVote: .castVote
            case .batchCastVotes: .batchCastVotes
            case .markPosts: .markPosts
            case .listFeeds: .listFeeds
            case .createFeed: .createFeed
            case .getServerStats: .getServerStats
            case .backup: .backup
            case .correctTimes: .correctTimes
            case .deletePosts: .deletePosts
            case .drain: .drain
            case .setLogLevel: .setLogLevel
            case .clusterStatus: .clusterStatus
            case .changeMembers: .changeMembers
            case .transferLeadership: .transferLeadership
            case nil: .unknown
            }
    }
}

/// The table of calls: who may make each, and what it does.
///
/// There is no default, so a new call does not compile before it has a row. A row admits roles. The
/// call itself may ask for more: that a user is the author of a post, for example.
///
/// The fast path of votes does not read the table: ``Caller/takesFastPath`` is false for callers of the
/// roles that may not vote.
extension Method {
    private enum Effect {
        /// It shows the state and has no effect on it, or one on its connection alone.
        case none
        /// It changes what lists show, and may have a sequence; it is refused under overload.
        case change
        /// It changes what lists show only on request, and may be repeated: so it takes no sequence, and
        /// asks for admission itself.
        case correction
        /// It changes accounts or sessions, and asks for admission itself.
        case session
        /// It changes the cluster, by its leader.
        case cluster
        case other
    }

    private struct Row {
        /// The call's field in the contract's ClientFrame.
        let name: StaticString
        let access: Access
        let effect: Effect

        init(_ name: StaticString, _ access: Access, _ effect: Effect) {
            self.name = name
            self.access = access
            self.effect = effect
        }
    }

    // Inlined, a question about one column is a mask of bits; a call would build the whole row.
    @inline(__always)
    private var row: Row {
        switch self {
        case .hello: Row("hello", .everyone, .none)
        case .ping: Row("ping", .everyone, .none)
        case .cancel: Row("cancel", .everyone, .other)
        case .signUp: Row("sign_up", .changing, .session)
        case .signIn: Row("sign_in", .changing, .session)
        case .getSession: Row("get_session", .users, .none)
        case .signOut: Row("sign_out", .users, .session)
        case .changePassword: Row("change_password", .users, .session)
        case .changeEmail: Row("change_email", .users, .session)
        case .deleteAccount: Row("delete_account", .users, .session)
        case .listSessions: Row("list_sessions", .users, .none)
        case .endSession: Row("end_session", .users, .session)
        case .changeUser: Row("change_user", .services, .session)
        case .makePasswordReset: Row("make_password_reset", .services, .session)
        case .resetPassword: Row("reset_password", .changing, .session)
        case .createPost: Row("create_post", .changing, .change)
        case .importPosts: Row("import_posts", .services, .change)
        case .getPost: Row("get_post", .reading, .none)
        case .batchGetPosts: Row("batch_get_posts", .reading, .none)
        case .listPosts: Row("list_posts", .reading, .none)
        case .updatePost: Row("update_post", .viewers, .change)
        case .deletePost: Row("delete_post", .viewers, .change)
        case .syncPosts: Row("sync_posts", .reading, .none)
        case .watchPosts: Row("watch_posts", .reading, .none)
        case .getPostRank: Row("get_post_rank", .reading, .none)
        case .castVote: Row("cast_vote", .changing, .change)
        case .batchCastVotes: Row("batch_cast_votes", .changing, .change)
        case .markPosts: Row("mark_posts", .viewers, .change)
        case .listFeeds: Row("list_feeds", .reading, .none)
        case .createFeed: Row("create_feed", .services, .change)
        case .getServerStats: Row("get_server_stats", .everyone, .none)
        case .backup: Row("backup", .operators, .other)
        case .correctTimes: Row("correct_times", .services, .correction)
        case .deletePosts: Row("delete_posts", .servicesAndOperators, .correction)
        case .drain: Row("drain", .operators, .other)
        case .setLogLevel: Row("set_log_level", .operators, .other)
        case .clusterStatus: Row("cluster_status", .operators, .none)
        case .changeMembers: Row("change_members", .operators, .cluster)
        case .transferLeadership: Row("transfer_leadership", .operators, .cluster)
        // No caller may learn from a refusal which calls a newer service has.
        case .unknown: Row("unknown", .everyone, .none)
        }
    }

    package var name: String { row.name.description }
    package var access: Access { row.access }
    var takesSequence: Bool { row.effect == .change }
    var isChange: Bool { row.effect == .change || row.effect == .correction }
    var onlyReads: Bool { row.effect == .none }

    /// Whether the call may change what all services of a cluster have: only their leader takes it.
    var needsLeader: Bool { isChange || row.effect == .session || row.effect == .cluster }

    /// Whether the answer shows the state, and so how old that is.
    var showsState: Bool { onlyReads && !isAnsweredInStall && self != .unknown }

    /// Whether the call is answered while a commit stands still: its answer shows nothing of the state,
    /// or helps an operator.
    var isAnsweredInStall: Bool {
        switch self {
        case .hello, .ping, .cancel, .getServerStats, .drain, .setLogLevel: true
        case .clusterStatus, .changeMembers, .transferLeadership: true
        default: false
        }
    }

    /// Whether the answer has a token.
    var givesSecret: Bool {
        switch self {
        case .signUp, .signIn, .changePassword, .makePasswordReset, .resetPassword: true
        default: false
        }
    }

    /// Whether the call gives a post a time, so that the clock is checked before it.
    var stampsTime: Bool { self == .createPost || self == .importPosts || self == .updatePost }
}
