// Generated from proto/feed.proto by scripts/wire. Do not edit: run scripts/generate-proto.sh.

/// The service's statistics.
///
/// Counters run from its start.
public struct ServerStats: Equatable, Sendable {
    /// The service's name and version.
    public var serverName: String
    /// When it started, in milliseconds since the Unix epoch.
    public var startTimeMilliseconds: Int64
    /// Open connections.
    public var connectionCount: UInt64
    /// Posts in all feeds.
    public var postCount: UInt64
    /// The revision of its state.
    public var revision: UInt64
    /// Each method that was called.
    public var methods: [MethodStats]
    /// The snapshots of STABLE lists.
    public var snapshotCount: UInt64
    /// The approximate bytes of memory that the snapshots take.
    public var snapshotByteCount: UInt64
    /// The watches of all connections.
    public var watchCount: UInt64
    /// How often a stripe's lock was held by another thread when it was wanted.
    public var stripeContentionCount: UInt64
    /// Connections accepted.
    public var acceptedConnectionCount: UInt64
    /// Connections turned away because there were too many.
    public var refusedConnectionCount: UInt64
    /// Connections closed because a frame took too long to arrive.
    public var slowFrameCount: UInt64
    /// Connections closed because of a malformed frame.
    public var badFrameCount: UInt64
    /// Bytes held for all connections: read and not yet used, answers that are being built, that
    /// wait to be durable or to be taken, and full send buffers of the kernel.
    public var bufferedByteCount: UInt64
    /// How often accepting paused because the process had no file descriptor left.
    public var acceptPauseCount: UInt64
    /// What an acknowledged change outlives: `none` is nothing beyond the process, `os` a crash of
    /// the process, `fsync` a power cut too.
    public var durability: String
    /// The journal and its commits; nil where the durability is `none`.
    public var journal: JournalStats?
    /// Channels whose sequences are remembered.
    public var channelCount: UInt64
    /// Channels that were forgotten after their connection closed.
    public var evictedChannelCount: UInt64
    /// Calls that had been executed before and got their earlier outcome.
    public var repeatedCallCount: UInt64
    /// Connections closed because the service held too much for clients.
    ///
    /// It closes connections of the hosts that it holds most for, and connections whose unfinished
    /// request finds no room.
    public var overBudgetCloseCount: UInt64
    /// The approximate bytes of memory that the channels take.
    public var channelByteCount: UInt64
    /// How often a Hello or a call with a sequence got no channel (TOO_MANY_CHANNELS, or changes
    /// were refused).
    public var refusedChannelCount: UInt64
    /// How often a ballot of a new device was refused (RATE_LIMITED).
    public var refusedDeviceCount: UInt64
    /// The accounts, deleted ones too.
    public var accountCount: UInt64
    /// The sessions that have not ended.
    public var sessionCount: UInt64
    /// Passwords that wait to be hashed.
    public var queuedHashCount: UInt64
    /// How often a SignUp or a SignIn was refused without a look at its password (RATE_LIMITED,
    /// OVERLOADED).
    public var refusedSignInCount: UInt64
    /// The backups; nil where the durability is `none`.
    public var backups: BackupStats?
    /// How long the answers of each method that was called have taken: from the arrival of the
    /// frame to its answer handed to the kernel.
    ///
    /// The time is included that the answer was held until what it shows was durable.
    public var latencies: [LatencyStats]
    /// How long the answers were held until what they show was durable, those that were not held
    /// left out; `method` is empty.
    ///
    /// Absent where the durability is `none`.
    public var heldTime: LatencyStats?
    /// Who has the most watches: eight at most, the first one most.
    ///
    /// Only callers with a key of a role that may do more than users, or from the service's own
    /// machine, are told.
    public var watchingPeers: [WatchingPeer]
    /// The bytes of memory that the posts take, about: their texts and 200 bytes each.
    public var postByteCount: UInt64
    /// The number of those bytes at which new posts are refused (NO_ROOM_FOR_POSTS); 0 is none.
    public var postLimitByteCount: UInt64
    /// New posts and edits that were refused for a limit of posts (RATE_LIMITED,
    /// NO_ROOM_FOR_POSTS).
    public var refusedPostCount: UInt64

    /// All fields; those with a default may be left out.
    public init(
        serverName: String,
        startTimeMilliseconds: Int64,
        connectionCount: UInt64,
        postCount: UInt64,
        revision: UInt64,
        methods: [MethodStats],
        snapshotCount: UInt64 = 0,
        snapshotByteCount: UInt64 = 0,
        watchCount: UInt64 = 0,
        stripeContentionCount: UInt64,
        acceptedConnectionCount: UInt64,
        refusedConnectionCount: UInt64,
        slowFrameCount: UInt64,
        badFrameCount: UInt64,
        bufferedByteCount: UInt64,
        acceptPauseCount: UInt64,
        durability: String,
        journal: JournalStats? = nil,
        channelCount: UInt64 = 0,
        evictedChannelCount: UInt64 = 0,
        repeatedCallCount: UInt64 = 0,
        overBudgetCloseCount: UInt64 = 0,
        channelByteCount: UInt64 = 0,
        refusedChannelCount: UInt64 = 0,
        refusedDeviceCount: UInt64 = 0,
        accountCount: UInt64 = 0,
        sessionCount: UInt64 = 0,
        queuedHashCount: UInt64 = 0,
        refusedSignInCount: UInt64 = 0,
        backups: BackupStats? = nil,
        latencies: [LatencyStats] = [],
        heldTime: LatencyStats? = nil,
        watchingPeers: [WatchingPeer] = [],
        postByteCount: UInt64 = 0,
        postLimitByteCount: UInt64 = 0,
        refusedPostCount: UInt64 = 0
    ) {
        self.serverName = serverName
        self.startTimeMilliseconds = startTimeMilliseconds
        self.connectionCount = connectionCount
        self.postCount = postCount
        self.revision = revision
        self.methods = methods
        self.snapshotCount = snapshotCount
        self.snapshotByteCount = snapshotByteCount
        self.watchCount = watchCount
        self.stripeContentionCount = stripeContentionCount
        self.acceptedConnectionCount = acceptedConnectionCount
        self.refusedConnectionCount = refusedConnectionCount
        self.slowFrameCount = slowFrameCount
        self.badFrameCount = badFrameCount
        self.bufferedByteCount = bufferedByteCount
        self.acceptPauseCount = acceptPauseCount
        self.durability = durability
        self.journal = journal
        self.channelCount = channelCount
        self.evictedChannelCount = evictedChannelCount
        self.repeatedCallCount = repeatedCallCount
        self.overBudgetCloseCount = overBudgetCloseCount
        self.channelByteCount = channelByteCount
        self.refusedChannelCount = refusedChannelCount
        self.refusedDeviceCount = refusedDeviceCount
        self.accountCount = accountCount
        self.sessionCount = sessionCount
        self.queuedHashCount = queuedHashCount
        self.refusedSignInCount = refusedSignInCount
        self.backups = backups
        self.latencies = latencies
        self.heldTime = heldTime
        self.watchingPeers = watchingPeers
        self.postByteCount = postByteCount
        self.postLimitByteCount = postLimitByteCount
        self.refusedPostCount = refusedPostCount
    }
}

/// The watches of a host or of a service.
public struct WatchingPeer: Equatable, Sendable {
    /// An IPv4 address, an IPv6 network as `2001:db8::/64`, or the name of a service's key.
    public var peer: String
    /// Its watches.
    public var watchCount: UInt64

    /// All fields; each must be given.
    public init(peer: String, watchCount: UInt64) {
        self.peer = peer
        self.watchCount = watchCount
    }
}

/// How long something took.
///
/// A percentile is above the exact one by at most a sixteenth or 64 ns, and never above the longest
/// time.
public struct LatencyStats: Equatable, Sendable {
    /// The method's field name in ClientFrame, as `cast_vote`.
    public var method: String
    /// The answers that were timed.
    ///
    /// A call whose answer comes as events is not.
    public var answerCount: UInt64
    /// The median, in nanoseconds.
    public var medianNanoseconds: UInt64
    /// The 90th percentile, in nanoseconds.
    public var p90Nanoseconds: UInt64
    /// The 99th percentile, in nanoseconds.
    public var p99Nanoseconds: UInt64
    /// The 99.9th percentile, in nanoseconds.
    public var p999Nanoseconds: UInt64
    /// The longest time, in nanoseconds.
    public var maximumNanoseconds: UInt64

    /// All fields; each must be given.
    public init(
        method: String,
        answerCount: UInt64,
        medianNanoseconds: UInt64,
        p90Nanoseconds: UInt64,
        p99Nanoseconds: UInt64,
        p999Nanoseconds: UInt64,
        maximumNanoseconds: UInt64
    ) {
        self.method = method
        self.answerCount = answerCount
        self.medianNanoseconds = medianNanoseconds
        self.p90Nanoseconds = p90Nanoseconds
        self.p99Nanoseconds = p99Nanoseconds
        self.p999Nanoseconds = p999Nanoseconds
        self.maximumNanoseconds = maximumNanoseconds
    }
}

extension ServerStats: SwiftMessage {
    package static var fieldCount: Int { 36 }
    package static var structByteCount: Int { 352 }

    package static func field(_ index: Int) -> FieldShape {
        switch index {
        case 0: FieldShape(1, .bytes)
        case 1: FieldShape(2, .uint64)
        case 2: FieldShape(3, .uint64)
        case 3: FieldShape(4, .uint64)
        case 4: FieldShape(5, .uint64)
        case 5: FieldShape(6, .message(MethodStats.self), .repeated)
        case 6: FieldShape(7, .uint64)
        case 7: FieldShape(8, .uint64)
        case 8: FieldShape(9, .uint64)
        case 9: FieldShape(10, .uint64)
        case 10: FieldShape(11, .uint64)
        case 11: FieldShape(12, .uint64)
        case 12: FieldShape(13, .uint64)
        case 13: FieldShape(14, .uint64)
        case 14: FieldShape(15, .uint64)
        case 15: FieldShape(16, .bytes)
        case 16: FieldShape(17, .uint64)
        case 17: FieldShape(18, .message(JournalStats.self))
        case 18: FieldShape(19, .uint64)
        case 19: FieldShape(20, .uint64)
        case 20: FieldShape(21, .uint64)
        case 21: FieldShape(22, .uint64)
        case 22: FieldShape(30, .uint64)
        case 23: FieldShape(31, .uint64)
        case 24: FieldShape(32, .uint64)
        case 25: FieldShape(33, .uint64)
        case 26: FieldShape(34, .uint64)
        case 27: FieldShape(35, .uint64)
        case 28: FieldShape(36, .uint64)
        case 29: FieldShape(38, .message(BackupStats.self))
        case 30: FieldShape(39, .message(LatencyStats.self), .repeated)
        case 31: FieldShape(40, .message(LatencyStats.self))
        case 32: FieldShape(50, .message(WatchingPeer.self), .repeated)
        case 33: FieldShape(60, .uint64)
        case 34: FieldShape(61, .uint64)
        default: FieldShape(62, .uint64)
        }
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) throws(MessageError) {
        try self.init(
            serverName: tree.text(node, 0, "server_name"),
            startTimeMilliseconds: tree.number(node, 1),
            connectionCount: tree.number(node, 2),
            postCount: tree.number(node, 3),
            revision: tree.number(node, 4),
            methods: tree.messages(node, 5, "methods"),
            snapshotCount: tree.number(node, 6),
            snapshotByteCount: tree.number(node, 7),
            watchCount: tree.number(node, 8),
            stripeContentionCount: tree.number(node, 9),
            acceptedConnectionCount: tree.number(node, 10),
            refusedConnectionCount: tree.number(node, 11),
            slowFrameCount: tree.number(node, 12),
            badFrameCount: tree.number(node, 13),
            bufferedByteCount: tree.number(node, 14),
            acceptPauseCount: tree.number(node, 16),
            durability: tree.text(node, 15, "durability"),
            journal: tree.message(node, 17, "journal"),
            channelCount: tree.number(node, 18),
            evictedChannelCount: tree.number(node, 19),
            repeatedCallCount: tree.number(node, 20),
            overBudgetCloseCount: tree.number(node, 21),
            channelByteCount: tree.number(node, 22),
            refusedChannelCount: tree.number(node, 23),
            refusedDeviceCount: tree.number(node, 24),
            accountCount: tree.number(node, 25),
            sessionCount: tree.number(node, 26),
            queuedHashCount: tree.number(node, 27),
            refusedSignInCount: tree.number(node, 28),
            backups: tree.message(node, 29, "backups"),
            latencies: tree.messages(node, 30, "latencies"),
            heldTime: tree.message(node, 31, "held_time"),
            watchingPeers: tree.messages(node, 32, "watching_peers"),
            postByteCount: tree.number(node, 33),
            postLimitByteCount: tree.number(node, 34),
            refusedPostCount: tree.number(node, 35)
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.text(1, serverName)
        writer.number(2, startTimeMilliseconds)
        writer.number(3, connectionCount)
        writer.number(4, postCount)
        writer.number(5, revision)
        writer.messages(6, methods)
        writer.number(7, snapshotCount)
        writer.number(8, snapshotByteCount)
        writer.number(9, watchCount)
        writer.number(10, stripeContentionCount)
        writer.number(11, acceptedConnectionCount)
        writer.number(12, refusedConnectionCount)
        writer.number(13, slowFrameCount)
        writer.number(14, badFrameCount)
        writer.number(15, bufferedByteCount)
        writer.text(16, durability)
        writer.number(17, acceptPauseCount)
        writer.message(18, journal)
        writer.number(19, channelCount)
        writer.number(20, evictedChannelCount)
        writer.number(21, repeatedCallCount)
        writer.number(22, overBudgetCloseCount)
        writer.number(30, channelByteCount)
        writer.number(31, refusedChannelCount)
        writer.number(32, refusedDeviceCount)
        writer.number(33, accountCount)
        writer.number(34, sessionCount)
        writer.number(35, queuedHashCount)
        writer.number(36, refusedSignInCount)
        writer.message(38, backups)
        writer.messages(39, latencies)
        writer.message(40, heldTime)
        writer.messages(50, watchingPeers)
        writer.number(60, postByteCount)
        writer.number(61, postLimitByteCount)
        writer.number(62, refusedPostCount)
    }
}

extension WatchingPeer: SwiftMessage {
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
            peer: tree.text(node, 0, "peer"),
            watchCount: tree.number(node, 1)
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.text(1, peer)
        writer.number(2, watchCount)
    }
}

extension LatencyStats: SwiftMessage {
    package static var fieldCount: Int { 7 }
    package static var structByteCount: Int { 88 }

    package static func field(_ index: Int) -> FieldShape {
        switch index {
        case 0: FieldShape(1, .bytes)
        case 1: FieldShape(2, .uint64)
        case 2: FieldShape(3, .uint64)
        case 3: FieldShape(4, .uint64)
        case 4: FieldShape(5, .uint64)
        case 5: FieldShape(6, .uint64)
        default: FieldShape(7, .uint64)
        }
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) throws(MessageError) {
        try self.init(
            method: tree.text(node, 0, "method"),
            answerCount: tree.number(node, 1),
            medianNanoseconds: tree.number(node, 2),
            p90Nanoseconds: tree.number(node, 3),
            p99Nanoseconds: tree.number(node, 4),
            p999Nanoseconds: tree.number(node, 5),
            maximumNanoseconds: tree.number(node, 6)
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.text(1, method)
        writer.number(2, answerCount)
        writer.number(3, medianNanoseconds)
        writer.number(4, p90Nanoseconds)
        writer.number(5, p99Nanoseconds)
        writer.number(6, p999Nanoseconds)
        writer.number(7, maximumNanoseconds)
    }
}
