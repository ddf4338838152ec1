import CFeedProto

extension ClientFrame {
    /// Copies the call out of a C struct.
    init(
        _ frame: UnsafeMutablePointer<Feed__V1__ClientFrame>,
        byteCount: Int
    ) throws(MessageError) {
        let reader = unsafe WireReader(byteCount: byteCount, frameID: frame.pointee.id)
        try unsafe reader.rejectFieldZero(frame)
        try unsafe self.init(
            id: frame.pointee.id,
            request: Request(frame, reader),
            timeoutMilliseconds: frame.pointee.timeout_ms,
            sequence: frame.pointee.sequence,
            minimumRevision: frame.pointee.min_revision
        )
    }

    /// Copies the call into an empty C struct.
    func write(
        to frame: UnsafeMutablePointer<Feed__V1__ClientFrame>,
        _ arena: borrowing MessageArena
    ) {
        unsafe frame.pointee.id = id
        unsafe frame.pointee.timeout_ms = timeoutMilliseconds
        unsafe frame.pointee.sequence = sequence
        unsafe frame.pointee.min_revision = minimumRevision
        if let request { unsafe request.write(to: frame, arena) }
    }
}

extension Request {
    /// The set member of the oneof; nil where there is none, or none that this version knows.
    fileprivate init?(
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
        case FEED__V1__CLIENT_FRAME__BODY_CREATE_POST:
            self = try unsafe .createPost(reader.body(frame.pointee.create_post))
        case FEED__V1__CLIENT_FRAME__BODY_IMPORT_POSTS:
            self = try unsafe .importPosts(reader.body(frame.pointee.import_posts))
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
        case FEED__V1__CLIENT_FRAME__BODY_GET_POST_RANK:
            self = try unsafe .getPostRank(reader.body(frame.pointee.get_post_rank))
        case FEED__V1__CLIENT_FRAME__BODY_BATCH_CAST_VOTES:
            self = try unsafe .batchCastVotes(reader.body(frame.pointee.batch_cast_votes))
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
        default:
            return nil
        }
    }

    /// Sets the member of the oneof.
    fileprivate func write(
        to frame: UnsafeMutablePointer<Feed__V1__ClientFrame>,
        _ arena: borrowing MessageArena
    ) {
        switch self {
        case .castVote(let request):
            unsafe frame.pointee.body_case = FEED__V1__CLIENT_FRAME__BODY_CAST_VOTE
            unsafe frame.pointee.cast_vote = arena.message(request)
        case .hello(let request):
            unsafe frame.pointee.body_case = FEED__V1__CLIENT_FRAME__BODY_HELLO
            unsafe frame.pointee.hello = arena.message(request)
        case .ping(let request):
            unsafe frame.pointee.body_case = FEED__V1__CLIENT_FRAME__BODY_PING
            unsafe frame.pointee.ping = arena.message(request)
        case .createPost(let request):
            unsafe frame.pointee.body_case = FEED__V1__CLIENT_FRAME__BODY_CREATE_POST
            unsafe frame.pointee.create_post = arena.message(request)
        case .importPosts(let request):
            unsafe frame.pointee.body_case = FEED__V1__CLIENT_FRAME__BODY_IMPORT_POSTS
            unsafe frame.pointee.import_posts = arena.message(request)
        case .getPost(let request):
            unsafe frame.pointee.body_case = FEED__V1__CLIENT_FRAME__BODY_GET_POST
            unsafe frame.pointee.get_post = arena.message(request)
        case .batchGetPosts(let request):
            unsafe frame.pointee.body_case = FEED__V1__CLIENT_FRAME__BODY_BATCH_GET_POSTS
            unsafe frame.pointee.batch_get_posts = arena.message(request)
        case .listPosts(let request):
            unsafe frame.pointee.body_case = FEED__V1__CLIENT_FRAME__BODY_LIST_POSTS
            unsafe frame.pointee.list_posts = arena.message(request)
        case .updatePost(let request):
            unsafe frame.pointee.body_case = FEED__V1__CLIENT_FRAME__BODY_UPDATE_POST
            unsafe frame.pointee.update_post = arena.message(request)
        case .deletePost(let request):
            unsafe frame.pointee.body_case = FEED__V1__CLIENT_FRAME__BODY_DELETE_POST
            unsafe frame.pointee.delete_post = arena.message(request)
        case .getPostRank(let request):
            unsafe frame.pointee.body_case = FEED__V1__CLIENT_FRAME__BODY_GET_POST_RANK
            unsafe frame.pointee.get_post_rank = arena.message(request)
        case .batchCastVotes(let request):
            unsafe frame.pointee.body_case = FEED__V1__CLIENT_FRAME__BODY_BATCH_CAST_VOTES
            unsafe frame.pointee.batch_cast_votes = arena.message(request)
        case .listFeeds:
            unsafe frame.pointee.body_case = FEED__V1__CLIENT_FRAME__BODY_LIST_FEEDS
            unsafe frame.pointee.list_feeds = arena.empty(feed__v1__list_feeds_request__init)
        case .getServerStats:
            unsafe frame.pointee.body_case = FEED__V1__CLIENT_FRAME__BODY_GET_SERVER_STATS
            unsafe frame.pointee.get_server_stats = arena.empty(
                feed__v1__get_server_stats_request__init
            )
        case .createFeed(let request):
            unsafe frame.pointee.body_case = FEED__V1__CLIENT_FRAME__BODY_CREATE_FEED
            unsafe frame.pointee.create_feed = arena.message(request)
        case .backup:
            unsafe frame.pointee.body_case = FEED__V1__CLIENT_FRAME__BODY_BACKUP
            unsafe frame.pointee.backup = arena.empty(feed__v1__backup_request__init)
        case .correctTimes(let request):
            unsafe frame.pointee.body_case = FEED__V1__CLIENT_FRAME__BODY_CORRECT_TIMES
            unsafe frame.pointee.correct_times = arena.message(request)
        }
    }
}
