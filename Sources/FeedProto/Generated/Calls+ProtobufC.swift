// Generated from proto/feed.proto by scripts/wire. Do not edit: run scripts/generate-proto.sh.

#if canImport(CFeedProto)

import CFeedProto

extension Request {
    /// The set member of the oneof; nil where there is none, or none that this version knows.
    init?(
        _ frame: UnsafeMutablePointer<Feed__V1__ClientFrame>,
        _ reader: WireReader
    ) throws(MessageError) {
        switch unsafe frame.pointee.body_case {
        case FEED__V1__CLIENT_FRAME__BODY_CAST_VOTE:
            self = try unsafe .castVote(reader.body(frame.pointee.cast_vote))
        case FEED__V1__CLIENT_FRAME__BODY_HELLO:
            self = try unsafe .hello(reader.body(frame.pointee.hello))
        case FEED__V1__CLIENT_FRAME__BODY_PING:
            self = try unsafe .ping(reader.body(frame.pointee.ping))
        case FEED__V1__CLIENT_FRAME__BODY_CANCEL:
            self = try unsafe .cancel(reader.body(frame.pointee.cancel))
        case FEED__V1__CLIENT_FRAME__BODY_SIGN_UP:
            self = try unsafe .signUp(reader.body(frame.pointee.sign_up))
        case FEED__V1__CLIENT_FRAME__BODY_SIGN_IN:
            self = try unsafe .signIn(reader.body(frame.pointee.sign_in))
        case FEED__V1__CLIENT_FRAME__BODY_GET_SESSION:
            try unsafe reader.rejectFieldZero(frame.pointee.get_session)
            self = .getSession
        case FEED__V1__CLIENT_FRAME__BODY_SIGN_OUT:
            self = try unsafe .signOut(reader.body(frame.pointee.sign_out))
        case FEED__V1__CLIENT_FRAME__BODY_CHANGE_PASSWORD:
            self = try unsafe .changePassword(reader.body(frame.pointee.change_password))
        case FEED__V1__CLIENT_FRAME__BODY_CHANGE_EMAIL:
            self = try unsafe .changeEmail(reader.body(frame.pointee.change_email))
        case FEED__V1__CLIENT_FRAME__BODY_LIST_SESSIONS:
            try unsafe reader.rejectFieldZero(frame.pointee.list_sessions)
            self = .listSessions
        case FEED__V1__CLIENT_FRAME__BODY_END_SESSION:
            self = try unsafe .endSession(reader.body(frame.pointee.end_session))
        case FEED__V1__CLIENT_FRAME__BODY_CHANGE_USER:
            self = try unsafe .changeUser(reader.body(frame.pointee.change_user))
        case FEED__V1__CLIENT_FRAME__BODY_MAKE_PASSWORD_RESET:
            self = try unsafe .makePasswordReset(reader.body(frame.pointee.make_password_reset))
        case FEED__V1__CLIENT_FRAME__BODY_RESET_PASSWORD:
            self = try unsafe .resetPassword(reader.body(frame.pointee.reset_password))
        case FEED__V1__CLIENT_FRAME__BODY_DELETE_ACCOUNT:
            self = try unsafe .deleteAccount(reader.body(frame.pointee.delete_account))
        case FEED__V1__CLIENT_FRAME__BODY_CREATE_POST:
            self = try unsafe .createPost(reader.body(frame.pointee.create_post))
        case FEED__V1__CLIENT_FRAME__BODY_GET_POST:
            self = try unsafe .getPost(reader.body(frame.pointee.get_post))
        case FEED__V1__CLIENT_FRAME__BODY_BATCH_GET_POSTS:
            self = try unsafe .batchGetPosts(reader.body(frame.pointee.batch_get_posts))
        case FEED__V1__CLIENT_FRAME__BODY_LIST_POSTS:
            self = try unsafe .listPosts(reader.body(frame.pointee.list_posts))
        case FEED__V1__CLIENT_FRAME__BODY_UPDATE_POST:
            self = try unsafe .updatePost(reader.body(frame.pointee.update_post))
        case FEED__V1__CLIENT_FRAME__BODY_DELETE_POST:
            self = try unsafe .deletePost(reader.body(frame.pointee.delete_post))
        case FEED__V1__CLIENT_FRAME__BODY_SYNC_POSTS:
            self = try unsafe .syncPosts(reader.body(frame.pointee.sync_posts))
        case FEED__V1__CLIENT_FRAME__BODY_WATCH_POSTS:
            self = try unsafe .watchPosts(reader.body(frame.pointee.watch_posts))
        case FEED__V1__CLIENT_FRAME__BODY_GET_POST_RANK:
            self = try unsafe .getPostRank(reader.body(frame.pointee.get_post_rank))
        case FEED__V1__CLIENT_FRAME__BODY_IMPORT_POSTS:
            self = try unsafe .importPosts(reader.body(frame.pointee.import_posts))
        case FEED__V1__CLIENT_FRAME__BODY_BATCH_CAST_VOTES:
            self = try unsafe .batchCastVotes(reader.body(frame.pointee.batch_cast_votes))
        case FEED__V1__CLIENT_FRAME__BODY_MARK_POSTS:
            self = try unsafe .markPosts(reader.body(frame.pointee.mark_posts))
        case FEED__V1__CLIENT_FRAME__BODY_LIST_FEEDS:
            try unsafe reader.rejectFieldZero(frame.pointee.list_feeds)
            self = .listFeeds
        case FEED__V1__CLIENT_FRAME__BODY_GET_SERVER_STATS:
            try unsafe reader.rejectFieldZero(frame.pointee.get_server_stats)
            self = .getServerStats
        case FEED__V1__CLIENT_FRAME__BODY_CREATE_FEED:
            self = try unsafe .createFeed(reader.body(frame.pointee.create_feed))
        case FEED__V1__CLIENT_FRAME__BODY_BACKUP:
            try unsafe reader.rejectFieldZero(frame.pointee.backup)
            self = .backup
        case FEED__V1__CLIENT_FRAME__BODY_CORRECT_TIMES:
            self = try unsafe .correctTimes(reader.body(frame.pointee.correct_times))
        case FEED__V1__CLIENT_FRAME__BODY_DRAIN:
            try unsafe reader.rejectFieldZero(frame.pointee.drain)
            self = .drain
        case FEED__V1__CLIENT_FRAME__BODY_SET_LOG_LEVEL:
            self = try unsafe .setLogLevel(reader.body(frame.pointee.set_log_level))
        case FEED__V1__CLIENT_FRAME__BODY_DELETE_POSTS:
            self = try unsafe .deletePosts(reader.body(frame.pointee.delete_posts))
        case FEED__V1__CLIENT_FRAME__BODY_CLUSTER_STATUS:
            self = try unsafe .clusterStatus(reader.body(frame.pointee.cluster_status))
        case FEED__V1__CLIENT_FRAME__BODY_CHANGE_MEMBERS:
            self = try unsafe .changeMembers(reader.body(frame.pointee.change_members))
        case FEED__V1__CLIENT_FRAME__BODY_TRANSFER_LEADERSHIP:
            self = try unsafe .transferLeadership(reader.body(frame.pointee.transfer_leadership))
        default:
            return nil
        }
    }

    /// Sets the member of the oneof.
    func write(
        to frame: UnsafeMutablePointer<Feed__V1__ClientFrame>,
        _ arena: borrowing MessageArena
    ) {
        switch self {
        case .castVote(let value):
            unsafe frame.pointee.body_case = FEED__V1__CLIENT_FRAME__BODY_CAST_VOTE
            unsafe frame.pointee.cast_vote = arena.message(value)
        case .hello(let value):
            unsafe frame.pointee.body_case = FEED__V1__CLIENT_FRAME__BODY_HELLO
            unsafe frame.pointee.hello = arena.message(value)
        case .ping(let value):
            unsafe frame.pointee.body_case = FEED__V1__CLIENT_FRAME__BODY_PING
            unsafe frame.pointee.ping = arena.message(value)
        case .cancel(let value):
            unsafe frame.pointee.body_case = FEED__V1__CLIENT_FRAME__BODY_CANCEL
            unsafe frame.pointee.cancel = arena.message(value)
        case .signUp(let value):
            unsafe frame.pointee.body_case = FEED__V1__CLIENT_FRAME__BODY_SIGN_UP
            unsafe frame.pointee.sign_up = arena.message(value)
        case .signIn(let value):
            unsafe frame.pointee.body_case = FEED__V1__CLIENT_FRAME__BODY_SIGN_IN
            unsafe frame.pointee.sign_in = arena.message(value)
        case .getSession:
            unsafe frame.pointee.body_case = FEED__V1__CLIENT_FRAME__BODY_GET_SESSION
            unsafe frame.pointee.get_session = arena.empty(feed__v1__get_session_request__init)
        case .signOut(let value):
            unsafe frame.pointee.body_case = FEED__V1__CLIENT_FRAME__BODY_SIGN_OUT
            unsafe frame.pointee.sign_out = arena.message(value)
        case .changePassword(let value):
            unsafe frame.pointee.body_case = FEED__V1__CLIENT_FRAME__BODY_CHANGE_PASSWORD
            unsafe frame.pointee.change_password = arena.message(value)
        case .changeEmail(let value):
            unsafe frame.pointee.body_case = FEED__V1__CLIENT_FRAME__BODY_CHANGE_EMAIL
            unsafe frame.pointee.change_email = arena.message(value)
        case .listSessions:
            unsafe frame.pointee.body_case = FEED__V1__CLIENT_FRAME__BODY_LIST_SESSIONS
            unsafe frame.pointee.list_sessions = arena.empty(feed__v1__list_sessions_request__init)
        case .endSession(let value):
            unsafe frame.pointee.body_case = FEED__V1__CLIENT_FRAME__BODY_END_SESSION
            unsafe frame.pointee.end_session = arena.message(value)
        case .changeUser(let value):
            unsafe frame.pointee.body_case = FEED__V1__CLIENT_FRAME__BODY_CHANGE_USER
            unsafe frame.pointee.change_user = arena.message(value)
        case .makePasswordReset(let value):
            unsafe frame.pointee.body_case = FEED__V1__CLIENT_FRAME__BODY_MAKE_PASSWORD_RESET
            unsafe frame.pointee.make_password_reset = arena.message(value)
        case .resetPassword(let value):
            unsafe frame.pointee.body_case = FEED__V1__CLIENT_FRAME__BODY_RESET_PASSWORD
            unsafe frame.pointee.reset_password = arena.message(value)
        case .deleteAccount(let value):
            unsafe frame.pointee.body_case = FEED__V1__CLIENT_FRAME__BODY_DELETE_ACCOUNT
            unsafe frame.pointee.delete_account = arena.message(value)
        case .createPost(let value):
            unsafe frame.pointee.body_case = FEED__V1__CLIENT_FRAME__BODY_CREATE_POST
            unsafe frame.pointee.create_post = arena.message(value)
        case .getPost(let value):
            unsafe frame.pointee.body_case = FEED__V1__CLIENT_FRAME__BODY_GET_POST
            unsafe frame.pointee.get_post = arena.message(value)
        case .batchGetPosts(let value):
            unsafe frame.pointee.body_case = FEED__V1__CLIENT_FRAME__BODY_BATCH_GET_POSTS
            unsafe frame.pointee.batch_get_posts = arena.message(value)
        case .listPosts(let value):
            unsafe frame.pointee.body_case = FEED__V1__CLIENT_FRAME__BODY_LIST_POSTS
            unsafe frame.pointee.list_posts = arena.message(value)
        case .updatePost(let value):
            unsafe frame.pointee.body_case = FEED__V1__CLIENT_FRAME__BODY_UPDATE_POST
            unsafe frame.pointee.update_post = arena.message(value)
        case .deletePost(let value):
            unsafe frame.pointee.body_case = FEED__V1__CLIENT_FRAME__BODY_DELETE_POST
            unsafe frame.pointee.delete_post = arena.message(value)
        case .syncPosts(let value):
            unsafe frame.pointee.body_case = FEED__V1__CLIENT_FRAME__BODY_SYNC_POSTS
            unsafe frame.pointee.sync_posts = arena.message(value)
        case .watchPosts(let value):
            unsafe frame.pointee.body_case = FEED__V1__CLIENT_FRAME__BODY_WATCH_POSTS
            unsafe frame.pointee.watch_posts = arena.message(value)
        case .getPostRank(let value):
            unsafe frame.pointee.body_case = FEED__V1__CLIENT_FRAME__BODY_GET_POST_RANK
            unsafe frame.pointee.get_post_rank = arena.message(value)
        case .importPosts(let value):
            unsafe frame.pointee.body_case = FEED__V1__CLIENT_FRAME__BODY_IMPORT_POSTS
            unsafe frame.pointee.import_posts = arena.message(value)
        case .batchCastVotes(let value):
            unsafe frame.pointee.body_case = FEED__V1__CLIENT_FRAME__BODY_BATCH_CAST_VOTES
            unsafe frame.pointee.batch_cast_votes = arena.message(value)
        case .markPosts(let value):
            unsafe frame.pointee.body_case = FEED__V1__CLIENT_FRAME__BODY_MARK_POSTS
            unsafe frame.pointee.mark_posts = arena.message(value)
        case .listFeeds:
            unsafe frame.pointee.body_case = FEED__V1__CLIENT_FRAME__BODY_LIST_FEEDS
            unsafe frame.pointee.list_feeds = arena.empty(feed__v1__list_feeds_request__init)
        case .getServerStats:
            unsafe frame.pointee.body_case = FEED__V1__CLIENT_FRAME__BODY_GET_SERVER_STATS
            unsafe frame.pointee.get_server_stats = arena.empty(
                feed__v1__get_server_stats_request__init
            )
        case .createFeed(let value):
            unsafe frame.pointee.body_case = FEED__V1__CLIENT_FRAME__BODY_CREATE_FEED
            unsafe frame.pointee.create_feed = arena.message(value)
        case .backup:
            unsafe frame.pointee.body_case = FEED__V1__CLIENT_FRAME__BODY_BACKUP
            unsafe frame.pointee.backup = arena.empty(feed__v1__backup_request__init)
        case .correctTimes(let value):
            unsafe frame.pointee.body_case = FEED__V1__CLIENT_FRAME__BODY_CORRECT_TIMES
            unsafe frame.pointee.correct_times = arena.message(value)
        case .drain:
            unsafe frame.pointee.body_case = FEED__V1__CLIENT_FRAME__BODY_DRAIN
            unsafe frame.pointee.drain = arena.empty(feed__v1__drain_request__init)
        case .setLogLevel(let value):
            unsafe frame.pointee.body_case = FEED__V1__CLIENT_FRAME__BODY_SET_LOG_LEVEL
            unsafe frame.pointee.set_log_level = arena.message(value)
        case .deletePosts(let value):
            unsafe frame.pointee.body_case = FEED__V1__CLIENT_FRAME__BODY_DELETE_POSTS
            unsafe frame.pointee.delete_posts = arena.message(value)
        case .clusterStatus(let value):
            unsafe frame.pointee.body_case = FEED__V1__CLIENT_FRAME__BODY_CLUSTER_STATUS
            unsafe frame.pointee.cluster_status = arena.message(value)
        case .changeMembers(let value):
            unsafe frame.pointee.body_case = FEED__V1__CLIENT_FRAME__BODY_CHANGE_MEMBERS
            unsafe frame.pointee.change_members = arena.message(value)
        case .transferLeadership(let value):
            unsafe frame.pointee.body_case = FEED__V1__CLIENT_FRAME__BODY_TRANSFER_LEADERSHIP
            unsafe frame.pointee.transfer_leadership = arena.message(value)
        }
    }
}

extension Response {
    /// The set member of the oneof; nil where there is none, or none that this version knows.
    init?(
        _ frame: UnsafeMutablePointer<Feed__V1__ServerFrame>,
        _ reader: WireReader
    ) throws(MessageError) {
        switch unsafe frame.pointee.body_case {
        case FEED__V1__SERVER_FRAME__BODY_CAST_VOTE:
            self = try unsafe .castVote(reader.body(frame.pointee.cast_vote))
        case FEED__V1__SERVER_FRAME__BODY_HELLO:
            self = try unsafe .hello(reader.body(frame.pointee.hello))
        case FEED__V1__SERVER_FRAME__BODY_PING:
            self = try unsafe .ping(reader.body(frame.pointee.ping))
        case FEED__V1__SERVER_FRAME__BODY_GO_AWAY:
            self = try unsafe .goAway(reader.body(frame.pointee.go_away))
        case FEED__V1__SERVER_FRAME__BODY_SESSION:
            self = try unsafe .session(reader.body(frame.pointee.session))
        case FEED__V1__SERVER_FRAME__BODY_LIST_SESSIONS:
            self = try unsafe .listSessions(reader.body(frame.pointee.list_sessions))
        case FEED__V1__SERVER_FRAME__BODY_PASSWORD_RESET:
            self = try unsafe .passwordReset(reader.body(frame.pointee.password_reset))
        case FEED__V1__SERVER_FRAME__BODY_POST:
            self = try unsafe .post(reader.body(frame.pointee.post))
        case FEED__V1__SERVER_FRAME__BODY_BATCH_GET_POSTS:
            self = try unsafe .batchGetPosts(reader.body(frame.pointee.batch_get_posts))
        case FEED__V1__SERVER_FRAME__BODY_LIST_POSTS:
            self = try unsafe .listPosts(reader.body(frame.pointee.list_posts))
        case FEED__V1__SERVER_FRAME__BODY_SYNC_POSTS:
            self = try unsafe .syncPosts(reader.body(frame.pointee.sync_posts))
        case FEED__V1__SERVER_FRAME__BODY_WATCH_POSTS:
            self = try unsafe .watchPosts(reader.body(frame.pointee.watch_posts))
        case FEED__V1__SERVER_FRAME__BODY_POST_RANK:
            self = try unsafe .postRank(reader.body(frame.pointee.post_rank))
        case FEED__V1__SERVER_FRAME__BODY_IMPORT_POSTS:
            self = try unsafe .importPosts(reader.body(frame.pointee.import_posts))
        case FEED__V1__SERVER_FRAME__BODY_BATCH_CAST_VOTES:
            self = try unsafe .batchCastVotes(reader.body(frame.pointee.batch_cast_votes))
        case FEED__V1__SERVER_FRAME__BODY_MARK_POSTS:
            self = try unsafe .markPosts(reader.body(frame.pointee.mark_posts))
        case FEED__V1__SERVER_FRAME__BODY_LIST_FEEDS:
            self = try unsafe .listFeeds(reader.body(frame.pointee.list_feeds))
        case FEED__V1__SERVER_FRAME__BODY_SERVER_STATS:
            self = try unsafe .serverStats(reader.body(frame.pointee.server_stats))
        case FEED__V1__SERVER_FRAME__BODY_FEED:
            self = try unsafe .feed(reader.body(frame.pointee.feed))
        case FEED__V1__SERVER_FRAME__BODY_BACKUP:
            self = try unsafe .backup(reader.body(frame.pointee.backup))
        case FEED__V1__SERVER_FRAME__BODY_CORRECT_TIMES:
            self = try unsafe .correctTimes(reader.body(frame.pointee.correct_times))
        case FEED__V1__SERVER_FRAME__BODY_DELETE_POSTS:
            self = try unsafe .deletePosts(reader.body(frame.pointee.delete_posts))
        case FEED__V1__SERVER_FRAME__BODY_CLUSTER_STATUS:
            self = try unsafe .clusterStatus(reader.body(frame.pointee.cluster_status))
        case FEED__V1__SERVER_FRAME__BODY_CHANGE_MEMBERS:
            self = try unsafe .changeMembers(reader.body(frame.pointee.change_members))
        case FEED__V1__SERVER_FRAME__BODY_EMPTY:
            try unsafe reader.rejectFieldZero(frame.pointee.empty)
            self = .empty
        default:
            return nil
        }
    }

    /// Sets the member of the oneof.
    func write(
        to frame: UnsafeMutablePointer<Feed__V1__ServerFrame>,
        _ arena: borrowing MessageArena
    ) {
        switch self {
        case .castVote(let value):
            unsafe frame.pointee.body_case = FEED__V1__SERVER_FRAME__BODY_CAST_VOTE
            unsafe frame.pointee.cast_vote = arena.message(value)
        case .hello(let value):
            unsafe frame.pointee.body_case = FEED__V1__SERVER_FRAME__BODY_HELLO
            unsafe frame.pointee.hello = arena.message(value)
        case .ping(let value):
            unsafe frame.pointee.body_case = FEED__V1__SERVER_FRAME__BODY_PING
            unsafe frame.pointee.ping = arena.message(value)
        case .goAway(let value):
            unsafe frame.pointee.body_case = FEED__V1__SERVER_FRAME__BODY_GO_AWAY
            unsafe frame.pointee.go_away = arena.message(value)
        case .session(let value):
            unsafe frame.pointee.body_case = FEED__V1__SERVER_FRAME__BODY_SESSION
            unsafe frame.pointee.session = arena.message(value)
        case .listSessions(let value):
            unsafe frame.pointee.body_case = FEED__V1__SERVER_FRAME__BODY_LIST_SESSIONS
            unsafe frame.pointee.list_sessions = arena.message(value)
        case .passwordReset(let value):
            unsafe frame.pointee.body_case = FEED__V1__SERVER_FRAME__BODY_PASSWORD_RESET
            unsafe frame.pointee.password_reset = arena.message(value)
        case .post(let value):
            unsafe frame.pointee.body_case = FEED__V1__SERVER_FRAME__BODY_POST
            unsafe frame.pointee.post = arena.message(value)
        case .batchGetPosts(let value):
            unsafe frame.pointee.body_case = FEED__V1__SERVER_FRAME__BODY_BATCH_GET_POSTS
            unsafe frame.pointee.batch_get_posts = arena.message(value)
        case .listPosts(let value):
            unsafe frame.pointee.body_case = FEED__V1__SERVER_FRAME__BODY_LIST_POSTS
            unsafe frame.pointee.list_posts = arena.message(value)
        case .syncPosts(let value):
            unsafe frame.pointee.body_case = FEED__V1__SERVER_FRAME__BODY_SYNC_POSTS
            unsafe frame.pointee.sync_posts = arena.message(value)
        case .watchPosts(let value):
            unsafe frame.pointee.body_case = FEED__V1__SERVER_FRAME__BODY_WATCH_POSTS
            unsafe frame.pointee.watch_posts = arena.message(value)
        case .postRank(let value):
            unsafe frame.pointee.body_case = FEED__V1__SERVER_FRAME__BODY_POST_RANK
            unsafe frame.pointee.post_rank = arena.message(value)
        case .importPosts(let value):
            unsafe frame.pointee.body_case = FEED__V1__SERVER_FRAME__BODY_IMPORT_POSTS
            unsafe frame.pointee.import_posts = arena.message(value)
        case .batchCastVotes(let value):
            unsafe frame.pointee.body_case = FEED__V1__SERVER_FRAME__BODY_BATCH_CAST_VOTES
            unsafe frame.pointee.batch_cast_votes = arena.message(value)
        case .markPosts(let value):
            unsafe frame.pointee.body_case = FEED__V1__SERVER_FRAME__BODY_MARK_POSTS
            unsafe frame.pointee.mark_posts = arena.message(value)
        case .listFeeds(let value):
            unsafe frame.pointee.body_case = FEED__V1__SERVER_FRAME__BODY_LIST_FEEDS
            unsafe frame.pointee.list_feeds = arena.message(value)
        case .serverStats(let value):
            unsafe frame.pointee.body_case = FEED__V1__SERVER_FRAME__BODY_SERVER_STATS
            unsafe frame.pointee.server_stats = arena.message(value)
        case .feed(let value):
            unsafe frame.pointee.body_case = FEED__V1__SERVER_FRAME__BODY_FEED
            unsafe frame.pointee.feed = arena.message(value)
        case .backup(let value):
            unsafe frame.pointee.body_case = FEED__V1__SERVER_FRAME__BODY_BACKUP
            unsafe frame.pointee.backup = arena.message(value)
        case .correctTimes(let value):
            unsafe frame.pointee.body_case = FEED__V1__SERVER_FRAME__BODY_CORRECT_TIMES
            unsafe frame.pointee.correct_times = arena.message(value)
        case .deletePosts(let value):
            unsafe frame.pointee.body_case = FEED__V1__SERVER_FRAME__BODY_DELETE_POSTS
            unsafe frame.pointee.delete_posts = arena.message(value)
        case .clusterStatus(let value):
            unsafe frame.pointee.body_case = FEED__V1__SERVER_FRAME__BODY_CLUSTER_STATUS
            unsafe frame.pointee.cluster_status = arena.message(value)
        case .changeMembers(let value):
            unsafe frame.pointee.body_case = FEED__V1__SERVER_FRAME__BODY_CHANGE_MEMBERS
            unsafe frame.pointee.change_members = arena.message(value)
        case .empty:
            unsafe frame.pointee.body_case = FEED__V1__SERVER_FRAME__BODY_EMPTY
            unsafe frame.pointee.empty = arena.empty(feed__v1__empty__init)
        }
    }
}

#endif
