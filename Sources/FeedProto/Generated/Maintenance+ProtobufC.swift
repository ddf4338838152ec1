// Generated from proto/feed.proto by scripts/wire. Do not edit: run scripts/generate-proto.sh.

#if canImport(CFeedProto)

import CFeedProto

extension BackupResponse: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__BackupResponse>) {
        unsafe feed__v1__backup_response__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__BackupResponse>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            name: reader.text(message.pointee.name, "name"),
            revision: message.pointee.revision
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__BackupResponse>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.name = arena.text(name)
        unsafe message.pointee.revision = revision
    }
}

extension SetLogLevelRequest: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__SetLogLevelRequest>) {
        unsafe feed__v1__set_log_level_request__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__SetLogLevelRequest>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            level: reader.text(message.pointee.level, "level")
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__SetLogLevelRequest>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.level = arena.text(level)
    }
}

extension CorrectTimesRequest: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__CorrectTimesRequest>) {
        unsafe feed__v1__correct_times_request__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__CorrectTimesRequest>,
        _ reader: WireReader
    ) {
        unsafe self.init(
            appliesCorrection: message.pointee.apply != 0,
            timeMilliseconds: message.pointee.time_ms,
            afterID: PostID(rawValue: message.pointee.after_id),
            limit: message.pointee.limit
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__CorrectTimesRequest>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.apply = appliesCorrection ? 1 : 0
        unsafe message.pointee.time_ms = timeMilliseconds
        unsafe message.pointee.after_id = afterID.rawValue
        unsafe message.pointee.limit = limit
    }
}

extension CorrectTimesResponse: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__CorrectTimesResponse>) {
        unsafe feed__v1__correct_times_response__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__CorrectTimesResponse>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            posts: reader.messages(message.pointee.posts, count: message.pointee.n_posts, "posts"),
            nextAfterID: PostID(rawValue: message.pointee.next_after_id),
            serverTimeMilliseconds: message.pointee.server_time_ms
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__CorrectTimesResponse>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.n_posts = posts.count
        unsafe message.pointee.posts = arena.messages(posts)
        unsafe message.pointee.next_after_id = nextAfterID.rawValue
        unsafe message.pointee.server_time_ms = serverTimeMilliseconds
    }
}

extension PostTimes: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__PostTimes>) {
        unsafe feed__v1__post_times__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__PostTimes>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            id: PostID(rawValue: message.pointee.id),
            feed: reader.text(message.pointee.feed, "feed"),
            title: reader.text(message.pointee.title, "title"),
            createTimeMilliseconds: message.pointee.create_time_ms,
            updateTimeMilliseconds: message.pointee.update_time_ms
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__PostTimes>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.id = id.rawValue
        unsafe message.pointee.feed = arena.text(feed)
        unsafe message.pointee.title = arena.text(title)
        unsafe message.pointee.create_time_ms = createTimeMilliseconds
        unsafe message.pointee.update_time_ms = updateTimeMilliseconds
    }
}

extension DeletePostsRequest: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__DeletePostsRequest>) {
        unsafe feed__v1__delete_posts_request__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__DeletePostsRequest>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            authorID: UserID(rawValue: message.pointee.author_id),
            clientID: reader.bytes(message.pointee.client_id),
            host: reader.text(message.pointee.host, "host"),
            sinceTimeMilliseconds: message.pointee.since_ms,
            deletesPosts: message.pointee.apply != 0,
            afterID: PostID(rawValue: message.pointee.after_id),
            limit: message.pointee.limit
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__DeletePostsRequest>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.author_id = authorID.rawValue
        unsafe message.pointee.client_id = arena.bytes(clientID)
        unsafe message.pointee.host = arena.text(host)
        unsafe message.pointee.since_ms = sinceTimeMilliseconds
        unsafe message.pointee.apply = deletesPosts ? 1 : 0
        unsafe message.pointee.after_id = afterID.rawValue
        unsafe message.pointee.limit = limit
    }
}

extension DeletePostsResponse: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__DeletePostsResponse>) {
        unsafe feed__v1__delete_posts_response__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__DeletePostsResponse>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            posts: reader.messages(message.pointee.posts, count: message.pointee.n_posts, "posts"),
            nextAfterID: PostID(rawValue: message.pointee.next_after_id),
            originsSinceTimeMilliseconds: message.pointee.origins_since_ms
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__DeletePostsResponse>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.n_posts = posts.count
        unsafe message.pointee.posts = arena.messages(posts)
        unsafe message.pointee.next_after_id = nextAfterID.rawValue
        unsafe message.pointee.origins_since_ms = originsSinceTimeMilliseconds
    }
}

extension PostOrigin: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__PostOrigin>) {
        unsafe feed__v1__post_origin__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__PostOrigin>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            id: PostID(rawValue: message.pointee.id),
            feed: reader.text(message.pointee.feed, "feed"),
            title: reader.text(message.pointee.title, "title"),
            createTimeMilliseconds: message.pointee.create_time_ms,
            authorID: UserID(rawValue: message.pointee.author_id),
            clientID: reader.bytes(message.pointee.client_id),
            host: reader.text(message.pointee.host, "host")
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__PostOrigin>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.id = id.rawValue
        unsafe message.pointee.feed = arena.text(feed)
        unsafe message.pointee.title = arena.text(title)
        unsafe message.pointee.create_time_ms = createTimeMilliseconds
        unsafe message.pointee.author_id = authorID.rawValue
        unsafe message.pointee.client_id = arena.bytes(clientID)
        unsafe message.pointee.host = arena.text(host)
    }
}

#endif
