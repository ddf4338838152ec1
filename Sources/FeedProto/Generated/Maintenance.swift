// Generated from proto/feed.proto by scripts/wire. Do not edit: run scripts/generate-proto.sh.

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
    public var afterID: PostID
    /// The most posts in the answer; 0 is 256, more is 256.
    public var limit: UInt32

    /// All fields; each has a default.
    public init(
        appliesCorrection: Bool = false,
        timeMilliseconds: Int64 = 0,
        afterID: PostID = 0,
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
    public var nextAfterID: PostID
    /// The clock that the posts were compared with, in milliseconds since the Unix epoch.
    public var serverTimeMilliseconds: Int64

    /// All fields; each must be given.
    public init(posts: [PostTimes], nextAfterID: PostID, serverTimeMilliseconds: Int64) {
        self.posts = posts
        self.nextAfterID = nextAfterID
        self.serverTimeMilliseconds = serverTimeMilliseconds
    }
}

/// A post and its times.
public struct PostTimes: Equatable, Sendable {
    /// The post.
    public var id: PostID
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
        id: PostID,
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
    public var authorID: UserID
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
    public var afterID: PostID
    /// The most posts in the answer; 0 is 256, more is 256.
    public var limit: UInt32

    /// All fields; each has a default.
    public init(
        authorID: UserID = 0,
        clientID: [UInt8] = [],
        host: String = "",
        sinceTimeMilliseconds: Int64 = 0,
        deletesPosts: Bool = false,
        afterID: PostID = 0,
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
    public var nextAfterID: PostID
    /// The devices and hosts are known of posts since this time, in milliseconds since the Unix
    /// epoch: the service keeps those of the latest 131,072 posts, in memory only, so none of
    /// before its start.
    public var originsSinceTimeMilliseconds: Int64

    /// All fields; each must be given.
    public init(posts: [PostOrigin], nextAfterID: PostID, originsSinceTimeMilliseconds: Int64) {
        self.posts = posts
        self.nextAfterID = nextAfterID
        self.originsSinceTimeMilliseconds = originsSinceTimeMilliseconds
    }
}

/// A post, and who has made it.
public struct PostOrigin: Equatable, Sendable {
    /// The post.
    public var id: PostID
    /// The feed it is in.
    public var feed: String
    /// The post's title.
    public var title: String
    /// When it was created, in milliseconds since the Unix epoch.
    public var createTimeMilliseconds: Int64
    /// The user who is its author; 0 is none.
    public var authorID: UserID
    /// The `clientID` of the device; empty where there was none, or it is not known.
    public var clientID: [UInt8]
    /// The host, for IPv6 the network, as `2001:db8::/64`; empty where it is not known.
    public var host: String

    /// All fields; those with a default may be left out.
    public init(
        id: PostID,
        feed: String = "",
        title: String = "",
        createTimeMilliseconds: Int64 = 0,
        authorID: UserID = 0,
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

extension BackupResponse: SwiftMessage {
    package static var fieldCount: Int { 2 }
    package static var structByteCount: Int { 48 }

    package static func field(_ index: Int) -> FieldShape {
        switch index {
        case 0: FieldShape(1, .bytes)
        default: FieldShape(2, .uint64)
        }
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) throws(MessageError) {
        try self.init(
            name: tree.text(node, 0, "name"),
            revision: tree.number(node, 1)
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.text(1, name)
        writer.number(2, revision)
    }
}

extension SetLogLevelRequest: SwiftMessage {
    package static var fieldCount: Int { 1 }
    package static var structByteCount: Int { 40 }

    package static func field(_ index: Int) -> FieldShape {
        FieldShape(1, .bytes)
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) throws(MessageError) {
        try self.init(
            level: tree.text(node, 0, "level")
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.text(1, level)
    }
}

extension CorrectTimesRequest: SwiftMessage {
    package static var fieldCount: Int { 4 }
    package static var structByteCount: Int { 56 }

    package static func field(_ index: Int) -> FieldShape {
        switch index {
        case 0: FieldShape(1, .bool)
        case 1: FieldShape(2, .uint64)
        case 2: FieldShape(3, .uint64)
        default: FieldShape(4, .uint32)
        }
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) {
        self.init(
            appliesCorrection: tree.flag(node, 0),
            timeMilliseconds: tree.number(node, 1),
            afterID: tree.number(node, 2),
            limit: tree.number(node, 3)
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.flag(1, appliesCorrection)
        writer.number(2, timeMilliseconds)
        writer.number(3, afterID)
        writer.number(4, limit)
    }
}

extension CorrectTimesResponse: SwiftMessage {
    package static var fieldCount: Int { 3 }
    package static var structByteCount: Int { 56 }

    package static func field(_ index: Int) -> FieldShape {
        switch index {
        case 0: FieldShape(1, .message(PostTimes.self), .repeated)
        case 1: FieldShape(2, .uint64)
        default: FieldShape(3, .uint64)
        }
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) throws(MessageError) {
        try self.init(
            posts: tree.messages(node, 0, "posts"),
            nextAfterID: tree.number(node, 1),
            serverTimeMilliseconds: tree.number(node, 2)
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.messages(1, posts)
        writer.number(2, nextAfterID)
        writer.number(3, serverTimeMilliseconds)
    }
}

extension PostTimes: SwiftMessage {
    package static var fieldCount: Int { 5 }
    package static var structByteCount: Int { 80 }

    package static func field(_ index: Int) -> FieldShape {
        switch index {
        case 0: FieldShape(1, .uint64)
        case 1: FieldShape(2, .bytes)
        case 2: FieldShape(3, .bytes)
        case 3: FieldShape(4, .uint64)
        default: FieldShape(5, .uint64)
        }
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) throws(MessageError) {
        try self.init(
            id: tree.number(node, 0),
            feed: tree.text(node, 1, "feed"),
            title: tree.text(node, 2, "title"),
            createTimeMilliseconds: tree.number(node, 3),
            updateTimeMilliseconds: tree.number(node, 4)
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.number(1, id)
        writer.text(2, feed)
        writer.text(3, title)
        writer.number(4, createTimeMilliseconds)
        writer.number(5, updateTimeMilliseconds)
    }
}

extension DeletePostsRequest: SwiftMessage {
    package static var fieldCount: Int { 7 }
    package static var structByteCount: Int { 96 }

    package static func field(_ index: Int) -> FieldShape {
        switch index {
        case 0: FieldShape(1, .uint64)
        case 1: FieldShape(2, .bytes)
        case 2: FieldShape(3, .bytes)
        case 3: FieldShape(4, .uint64)
        case 4: FieldShape(5, .bool)
        case 5: FieldShape(6, .uint64)
        default: FieldShape(7, .uint32)
        }
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) throws(MessageError) {
        try self.init(
            authorID: tree.number(node, 0),
            clientID: tree.bytes(node, 1),
            host: tree.text(node, 2, "host"),
            sinceTimeMilliseconds: tree.number(node, 3),
            deletesPosts: tree.flag(node, 4),
            afterID: tree.number(node, 5),
            limit: tree.number(node, 6)
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.number(1, authorID)
        writer.bytes(2, clientID)
        writer.text(3, host)
        writer.number(4, sinceTimeMilliseconds)
        writer.flag(5, deletesPosts)
        writer.number(6, afterID)
        writer.number(7, limit)
    }
}

extension DeletePostsResponse: SwiftMessage {
    package static var fieldCount: Int { 3 }
    package static var structByteCount: Int { 56 }

    package static func field(_ index: Int) -> FieldShape {
        switch index {
        case 0: FieldShape(1, .message(PostOrigin.self), .repeated)
        case 1: FieldShape(2, .uint64)
        default: FieldShape(3, .uint64)
        }
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) throws(MessageError) {
        try self.init(
            posts: tree.messages(node, 0, "posts"),
            nextAfterID: tree.number(node, 1),
            originsSinceTimeMilliseconds: tree.number(node, 2)
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.messages(1, posts)
        writer.number(2, nextAfterID)
        writer.number(3, originsSinceTimeMilliseconds)
    }
}

extension PostOrigin: SwiftMessage {
    package static var fieldCount: Int { 7 }
    package static var structByteCount: Int { 112 }

    package static func field(_ index: Int) -> FieldShape {
        switch index {
        case 0: FieldShape(1, .uint64)
        case 1: FieldShape(2, .bytes)
        case 2: FieldShape(3, .bytes)
        case 3: FieldShape(4, .uint64)
        case 4: FieldShape(5, .uint64)
        case 5: FieldShape(6, .bytes)
        default: FieldShape(7, .bytes)
        }
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) throws(MessageError) {
        try self.init(
            id: tree.number(node, 0),
            feed: tree.text(node, 1, "feed"),
            title: tree.text(node, 2, "title"),
            createTimeMilliseconds: tree.number(node, 3),
            authorID: tree.number(node, 4),
            clientID: tree.bytes(node, 5),
            host: tree.text(node, 6, "host")
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.number(1, id)
        writer.text(2, feed)
        writer.text(3, title)
        writer.number(4, createTimeMilliseconds)
        writer.number(5, authorID)
        writer.bytes(6, clientID)
        writer.text(7, host)
    }
}
