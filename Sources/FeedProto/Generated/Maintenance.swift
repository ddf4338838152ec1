// Generated from proto/feed.proto by scripts/wire. Do not edit: run scripts/generate-proto.sh.

import CFeedProto

/// The backup that was made.
public struct BackupResponse: Equatable, Sendable {
    /// Its folder's name, as `20270115T080000123Z`, in `backups` of the service's data directory.
    ///
    /// The service keeps 7 backups of such calls (`--keep-backups` sets another number) and removes
    /// older ones.
    public var name: String
    /// The state it holds: every change up to this revision is in it.
    public var revision: UInt64

    /// All fields; each must be given.
    public init(name: String, revision: UInt64) {
        self.name = name
        self.revision = revision
    }
}

/// Sets the least level of the log's lines, until another call, SIGUSR1 or the end of the service;
/// for operators only, else PERMISSION_DENIED / ROLE_DENIED.
///
/// The answer: `Empty`.
public struct SetLogLevelRequest: Equatable, Sendable {
    /// trace, debug, info, notice, warning, error or critical, else BAD_FIELD.
    public var level: String

    /// All fields; each has a default.
    public init(level: String = "") {
        self.level = level
    }
}

/// Finds posts whose `createTimeMilliseconds` or `updateTimeMilliseconds` is more than five minutes
/// ahead of the service's clock, as a wrong clock stamps them, and corrects them on request.
///
/// A call looks at 16,384 ids at most: repeat it with `nextAfterID` until that is 0. Services only,
/// else SERVICE_ONLY; CLOCK_JUMPED while the service does not trust its clock. The call takes no
/// sequence: a repeat changes nothing more.
///
/// The answer: `CorrectTimesResponse`.
public struct CorrectTimesRequest: Equatable, Sendable {
    /// Whether the posts are corrected: each of their two times that is ahead becomes
    /// `timeMilliseconds`, which counts as an edit.
    ///
    /// false only lists them.
    public var appliesCorrection: Bool
    /// The time to set, 0 (the service's clock) to five minutes from now, else BAD_TIME.
    public var timeMilliseconds: Int64
    /// Only posts with greater ids.
    public var afterID: UInt64
    /// The most posts in the answer; 0 is 256, more is 256.
    public var limit: UInt32

    /// All fields; each has a default.
    public init(
        appliesCorrection: Bool = false,
        timeMilliseconds: Int64 = 0,
        afterID: UInt64 = 0,
        limit: UInt32 = 0
    ) {
        self.appliesCorrection = appliesCorrection
        self.timeMilliseconds = timeMilliseconds
        self.afterID = afterID
        self.limit = limit
    }
}

/// Posts that are ahead of the clock, in the order of their ids.
public struct CorrectTimesResponse: Equatable, Sendable {
    /// The posts as they were found, with the times before the correction.
    ///
    /// There may be none here and more to come.
    public var posts: [PostTimes]
    /// The `afterID` of the next call; 0 is the end.
    public var nextAfterID: UInt64
    /// The clock that the posts were compared with, in milliseconds since the Unix epoch.
    public var serverTimeMilliseconds: Int64

    /// All fields; each must be given.
    public init(posts: [PostTimes], nextAfterID: UInt64, serverTimeMilliseconds: Int64) {
        self.posts = posts
        self.nextAfterID = nextAfterID
        self.serverTimeMilliseconds = serverTimeMilliseconds
    }
}

/// A post and its times.
public struct PostTimes: Equatable, Sendable {
    /// The post.
    public var id: UInt64
    /// The feed it is in.
    public var feed: String
    /// The post's title.
    public var title: String
    /// When it was created, in milliseconds since the Unix epoch.
    public var createTimeMilliseconds: Int64
    /// When it was last edited, in milliseconds since the Unix epoch.
    public var updateTimeMilliseconds: Int64

    /// All fields; those with a default may be left out.
    public init(
        id: UInt64,
        feed: String = "",
        title: String = "",
        createTimeMilliseconds: Int64 = 0,
        updateTimeMilliseconds: Int64 = 0
    ) {
        self.id = id
        self.feed = feed
        self.title = title
        self.createTimeMilliseconds = createTimeMilliseconds
        self.updateTimeMilliseconds = updateTimeMilliseconds
    }
}

/// Finds the posts that one user, device or host has made since a time, and deletes them on
/// request.
///
/// For services and operators, else PERMISSION_DENIED / ROLE_DENIED. A call looks at 16,384 ids at
/// most: repeat it with `nextAfterID` until that is 0. It takes no sequence: a repeat deletes
/// nothing more.
///
/// The answer: `DeletePostsResponse`.
public struct DeletePostsRequest: Equatable, Sendable {
    /// Only posts whose author is this user; 0 is any author.
    public var authorID: UInt64
    /// Only posts that a device with this `clientID` has made; empty is any device.
    public var clientID: [UInt8]
    /// Only posts that came from this host, an IPv4 address or one of an IPv6 network of 64 bits,
    /// also as `2001:db8::/64`; empty is any host, else BAD_FIELD.
    public var host: String
    /// Only posts that were created at this time or later, in milliseconds since the Unix epoch.
    public var sinceTimeMilliseconds: Int64
    /// Whether the posts are deleted; false only lists them.
    ///
    /// BAD_FIELD where neither a user, nor a device, nor a host is named.
    public var deletesPosts: Bool
    /// Only posts with greater ids.
    public var afterID: UInt64
    /// The most posts in the answer; 0 is 256, more is 256.
    public var limit: UInt32

    /// All fields; each has a default.
    public init(
        authorID: UInt64 = 0,
        clientID: [UInt8] = [],
        host: String = "",
        sinceTimeMilliseconds: Int64 = 0,
        deletesPosts: Bool = false,
        afterID: UInt64 = 0,
        limit: UInt32 = 0
    ) {
        self.authorID = authorID
        self.clientID = clientID
        self.host = host
        self.sinceTimeMilliseconds = sinceTimeMilliseconds
        self.deletesPosts = deletesPosts
        self.afterID = afterID
        self.limit = limit
    }
}

/// Posts and who has made them, in the order of their ids.
public struct DeletePostsResponse: Equatable, Sendable {
    /// The posts that were found.
    ///
    /// There may be none here and more to come.
    public var posts: [PostOrigin]
    /// The `afterID` of the next call; 0 is the end.
    public var nextAfterID: UInt64
    /// The devices and hosts are known of posts since this time, in milliseconds since the Unix
    /// epoch: the service keeps those of the latest 131,072 posts, in memory only, so none of
    /// before its start.
    public var originsSinceTimeMilliseconds: Int64

    /// All fields; each must be given.
    public init(posts: [PostOrigin], nextAfterID: UInt64, originsSinceTimeMilliseconds: Int64) {
        self.posts = posts
        self.nextAfterID = nextAfterID
        self.originsSinceTimeMilliseconds = originsSinceTimeMilliseconds
    }
}

/// A post, and who has made it.
public struct PostOrigin: Equatable, Sendable {
    /// The post.
    public var id: UInt64
    /// The feed it is in.
    public var feed: String
    /// The post's title.
    public var title: String
    /// When it was created, in milliseconds since the Unix epoch.
    public var createTimeMilliseconds: Int64
    /// The user who is its author; 0 is none.
    public var authorID: UInt64
    /// The `clientID` of the device; empty where there was none, or it is not known.
    public var clientID: [UInt8]
    /// The host, for IPv6 the network, as `2001:db8::/64`; empty where it is not known.
    public var host: String

    /// All fields; those with a default may be left out.
    public init(
        id: UInt64,
        feed: String = "",
        title: String = "",
        createTimeMilliseconds: Int64 = 0,
        authorID: UInt64 = 0,
        clientID: [UInt8] = [],
        host: String = ""
    ) {
        self.id = id
        self.feed = feed
        self.title = title
        self.createTimeMilliseconds = createTimeMilliseconds
        self.authorID = authorID
        self.clientID = clientID
        self.host = host
    }
}

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
            afterID: message.pointee.after_id,
            limit: message.pointee.limit
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__CorrectTimesRequest>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.apply = appliesCorrection ? 1 : 0
        unsafe message.pointee.time_ms = timeMilliseconds
        unsafe message.pointee.after_id = afterID
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
            nextAfterID: message.pointee.next_after_id,
            serverTimeMilliseconds: message.pointee.server_time_ms
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__CorrectTimesResponse>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.n_posts = posts.count
        unsafe message.pointee.posts = arena.messages(posts)
        unsafe message.pointee.next_after_id = nextAfterID
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
            id: message.pointee.id,
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
        unsafe message.pointee.id = id
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
            authorID: message.pointee.author_id,
            clientID: reader.bytes(message.pointee.client_id),
            host: reader.text(message.pointee.host, "host"),
            sinceTimeMilliseconds: message.pointee.since_ms,
            deletesPosts: message.pointee.apply != 0,
            afterID: message.pointee.after_id,
            limit: message.pointee.limit
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__DeletePostsRequest>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.author_id = authorID
        unsafe message.pointee.client_id = arena.bytes(clientID)
        unsafe message.pointee.host = arena.text(host)
        unsafe message.pointee.since_ms = sinceTimeMilliseconds
        unsafe message.pointee.apply = deletesPosts ? 1 : 0
        unsafe message.pointee.after_id = afterID
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
            nextAfterID: message.pointee.next_after_id,
            originsSinceTimeMilliseconds: message.pointee.origins_since_ms
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__DeletePostsResponse>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.n_posts = posts.count
        unsafe message.pointee.posts = arena.messages(posts)
        unsafe message.pointee.next_after_id = nextAfterID
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
            id: message.pointee.id,
            feed: reader.text(message.pointee.feed, "feed"),
            title: reader.text(message.pointee.title, "title"),
            createTimeMilliseconds: message.pointee.create_time_ms,
            authorID: message.pointee.author_id,
            clientID: reader.bytes(message.pointee.client_id),
            host: reader.text(message.pointee.host, "host")
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__PostOrigin>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.id = id
        unsafe message.pointee.feed = arena.text(feed)
        unsafe message.pointee.title = arena.text(title)
        unsafe message.pointee.create_time_ms = createTimeMilliseconds
        unsafe message.pointee.author_id = authorID
        unsafe message.pointee.client_id = arena.bytes(clientID)
        unsafe message.pointee.host = arena.text(host)
    }
}
