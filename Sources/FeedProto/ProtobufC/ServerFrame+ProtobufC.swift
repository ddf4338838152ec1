import CFeedProto

extension ServerFrame {
    /// Copies the answer out of a C struct.
    init(
        _ frame: UnsafeMutablePointer<Feed__V1__ServerFrame>,
        byteCount: Int
    ) throws(MessageError) {
        let reader = unsafe WireReader(byteCount: byteCount, frameID: frame.pointee.id)
        try unsafe reader.rejectFieldZero(frame)
        id = unsafe frame.pointee.id
        revision = unsafe frame.pointee.revision
        status = try unsafe reader.message(frame.pointee.status, "status")
        response = try unsafe Response(frame, reader)
    }

    /// Copies the answer into an empty C struct.
    func write(
        to frame: UnsafeMutablePointer<Feed__V1__ServerFrame>,
        _ arena: borrowing MessageArena
    ) {
        unsafe frame.pointee.id = id
        unsafe frame.pointee.revision = revision
        unsafe frame.pointee.status = arena.message(status)
        if let response { unsafe response.write(to: frame, arena) }
    }
}

extension Response {
    /// The set member of the oneof; nil where there is none, or none that this version knows.
    fileprivate init?(
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
        case FEED__V1__SERVER_FRAME__BODY_POST:
            self = try unsafe .post(reader.body(frame.pointee.post))
        case FEED__V1__SERVER_FRAME__BODY_IMPORT_POSTS:
            self = try unsafe .importPosts(reader.body(frame.pointee.import_posts))
        case FEED__V1__SERVER_FRAME__BODY_BATCH_GET_POSTS:
            self = try unsafe .batchGetPosts(reader.body(frame.pointee.batch_get_posts))
        case FEED__V1__SERVER_FRAME__BODY_LIST_POSTS:
            self = try unsafe .listPosts(reader.body(frame.pointee.list_posts))
        case FEED__V1__SERVER_FRAME__BODY_POST_RANK:
            self = try unsafe .postRank(reader.body(frame.pointee.post_rank))
        case FEED__V1__SERVER_FRAME__BODY_BATCH_CAST_VOTES:
            self = try unsafe .batchCastVotes(reader.body(frame.pointee.batch_cast_votes))
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
        case FEED__V1__SERVER_FRAME__BODY_EMPTY:
            try unsafe reader.rejectFieldZero(frame.pointee.empty)
            self = .empty
        default:
            return nil
        }
    }

    /// Sets the member of the oneof.
    fileprivate func write(
        to frame: UnsafeMutablePointer<Feed__V1__ServerFrame>,
        _ arena: borrowing MessageArena
    ) {
        switch self {
        case .castVote(let response):
            unsafe frame.pointee.body_case = FEED__V1__SERVER_FRAME__BODY_CAST_VOTE
            unsafe frame.pointee.cast_vote = arena.message(response)
        case .hello(let response):
            unsafe frame.pointee.body_case = FEED__V1__SERVER_FRAME__BODY_HELLO
            unsafe frame.pointee.hello = arena.message(response)
        case .ping(let response):
            unsafe frame.pointee.body_case = FEED__V1__SERVER_FRAME__BODY_PING
            unsafe frame.pointee.ping = arena.message(response)
        case .goAway(let response):
            unsafe frame.pointee.body_case = FEED__V1__SERVER_FRAME__BODY_GO_AWAY
            unsafe frame.pointee.go_away = arena.message(response)
        case .post(let response):
            unsafe frame.pointee.body_case = FEED__V1__SERVER_FRAME__BODY_POST
            unsafe frame.pointee.post = arena.message(response)
        case .importPosts(let response):
            unsafe frame.pointee.body_case = FEED__V1__SERVER_FRAME__BODY_IMPORT_POSTS
            unsafe frame.pointee.import_posts = arena.message(response)
        case .batchGetPosts(let response):
            unsafe frame.pointee.body_case = FEED__V1__SERVER_FRAME__BODY_BATCH_GET_POSTS
            unsafe frame.pointee.batch_get_posts = arena.message(response)
        case .listPosts(let response):
            unsafe frame.pointee.body_case = FEED__V1__SERVER_FRAME__BODY_LIST_POSTS
            unsafe frame.pointee.list_posts = arena.message(response)
        case .postRank(let response):
            unsafe frame.pointee.body_case = FEED__V1__SERVER_FRAME__BODY_POST_RANK
            unsafe frame.pointee.post_rank = arena.message(response)
        case .batchCastVotes(let response):
            unsafe frame.pointee.body_case = FEED__V1__SERVER_FRAME__BODY_BATCH_CAST_VOTES
            unsafe frame.pointee.batch_cast_votes = arena.message(response)
        case .listFeeds(let response):
            unsafe frame.pointee.body_case = FEED__V1__SERVER_FRAME__BODY_LIST_FEEDS
            unsafe frame.pointee.list_feeds = arena.message(response)
        case .serverStats(let response):
            unsafe frame.pointee.body_case = FEED__V1__SERVER_FRAME__BODY_SERVER_STATS
            unsafe frame.pointee.server_stats = arena.message(response)
        case .feed(let response):
            unsafe frame.pointee.body_case = FEED__V1__SERVER_FRAME__BODY_FEED
            unsafe frame.pointee.feed = arena.message(response)
        case .backup(let response):
            unsafe frame.pointee.body_case = FEED__V1__SERVER_FRAME__BODY_BACKUP
            unsafe frame.pointee.backup = arena.message(response)
        case .correctTimes(let response):
            unsafe frame.pointee.body_case = FEED__V1__SERVER_FRAME__BODY_CORRECT_TIMES
            unsafe frame.pointee.correct_times = arena.message(response)
        case .empty:
            unsafe frame.pointee.body_case = FEED__V1__SERVER_FRAME__BODY_EMPTY
            unsafe frame.pointee.empty = arena.empty(feed__v1__empty__init)
        }
    }
}
