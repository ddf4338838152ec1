// Generated from proto/feed.proto by scripts/wire. Do not edit: run scripts/generate-proto.sh.

import CFeedProto

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
    /// The accounts.
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

extension ServerStats: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__ServerStats>) {
        unsafe feed__v1__server_stats__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__ServerStats>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            serverName: reader.text(message.pointee.server_name, "server_name"),
            startTimeMilliseconds: message.pointee.start_time_ms,
            connectionCount: message.pointee.connections,
            postCount: message.pointee.posts,
            revision: message.pointee.revision,
            methods: reader.messages(
                message.pointee.methods,
                count: message.pointee.n_methods,
                "methods"
            ),
            snapshotCount: message.pointee.snapshots,
            snapshotByteCount: message.pointee.snapshot_bytes,
            watchCount: message.pointee.watches,
            stripeContentionCount: message.pointee.stripe_contentions,
            acceptedConnectionCount: message.pointee.accepted_connections,
            refusedConnectionCount: message.pointee.refused_connections,
            slowFrameCount: message.pointee.slow_frames,
            badFrameCount: message.pointee.bad_frames,
            bufferedByteCount: message.pointee.buffered_bytes,
            acceptPauseCount: message.pointee.accept_pauses,
            durability: reader.text(message.pointee.durability, "durability"),
            journal: reader.message(message.pointee.journal, "journal"),
            channelCount: message.pointee.channels,
            evictedChannelCount: message.pointee.evicted_channels,
            repeatedCallCount: message.pointee.repeated_calls,
            overBudgetCloseCount: message.pointee.over_budget_closes,
            channelByteCount: message.pointee.channel_bytes,
            refusedChannelCount: message.pointee.refused_channels,
            refusedDeviceCount: message.pointee.refused_devices,
            accountCount: message.pointee.accounts,
            sessionCount: message.pointee.sessions,
            queuedHashCount: message.pointee.queued_hashes,
            refusedSignInCount: message.pointee.refused_sign_ins,
            backups: reader.message(message.pointee.backups, "backups"),
            latencies: reader.messages(
                message.pointee.latencies,
                count: message.pointee.n_latencies,
                "latencies"
            ),
            heldTime: reader.message(message.pointee.held_time, "held_time"),
            watchingPeers: reader.messages(
                message.pointee.watching_peers,
                count: message.pointee.n_watching_peers,
                "watching_peers"
            ),
            postByteCount: message.pointee.post_bytes,
            postLimitByteCount: message.pointee.post_limit_bytes,
            refusedPostCount: message.pointee.refused_posts
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__ServerStats>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.server_name = arena.text(serverName)
        unsafe message.pointee.start_time_ms = startTimeMilliseconds
        unsafe message.pointee.connections = connectionCount
        unsafe message.pointee.posts = postCount
        unsafe message.pointee.revision = revision
        unsafe message.pointee.n_methods = methods.count
        unsafe message.pointee.methods = arena.messages(methods)
        unsafe message.pointee.snapshots = snapshotCount
        unsafe message.pointee.snapshot_bytes = snapshotByteCount
        unsafe message.pointee.watches = watchCount
        unsafe message.pointee.stripe_contentions = stripeContentionCount
        unsafe message.pointee.accepted_connections = acceptedConnectionCount
        unsafe message.pointee.refused_connections = refusedConnectionCount
        unsafe message.pointee.slow_frames = slowFrameCount
        unsafe message.pointee.bad_frames = badFrameCount
        unsafe message.pointee.buffered_bytes = bufferedByteCount
        unsafe message.pointee.accept_pauses = acceptPauseCount
        unsafe message.pointee.durability = arena.text(durability)
        unsafe message.pointee.journal = arena.message(journal)
        unsafe message.pointee.channels = channelCount
        unsafe message.pointee.evicted_channels = evictedChannelCount
        unsafe message.pointee.repeated_calls = repeatedCallCount
        unsafe message.pointee.over_budget_closes = overBudgetCloseCount
        unsafe message.pointee.channel_bytes = channelByteCount
        unsafe message.pointee.refused_channels = refusedChannelCount
        unsafe message.pointee.refused_devices = refusedDeviceCount
        unsafe message.pointee.accounts = accountCount
        unsafe message.pointee.sessions = sessionCount
        unsafe message.pointee.queued_hashes = queuedHashCount
        unsafe message.pointee.refused_sign_ins = refusedSignInCount
        unsafe message.pointee.backups = arena.message(backups)
        unsafe message.pointee.n_latencies = latencies.count
        unsafe message.pointee.latencies = arena.messages(latencies)
        unsafe message.pointee.held_time = arena.message(heldTime)
        unsafe message.pointee.n_watching_peers = watchingPeers.count
        unsafe message.pointee.watching_peers = arena.messages(watchingPeers)
        unsafe message.pointee.post_bytes = postByteCount
        unsafe message.pointee.post_limit_bytes = postLimitByteCount
        unsafe message.pointee.refused_posts = refusedPostCount
    }
}

extension WatchingPeer: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__WatchingPeer>) {
        unsafe feed__v1__watching_peer__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__WatchingPeer>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            peer: reader.text(message.pointee.peer, "peer"),
            watchCount: message.pointee.watches
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__WatchingPeer>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.peer = arena.text(peer)
        unsafe message.pointee.watches = watchCount
    }
}

extension LatencyStats: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__LatencyStats>) {
        unsafe feed__v1__latency_stats__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__LatencyStats>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            method: reader.text(message.pointee.method, "method"),
            answerCount: message.pointee.num_answers,
            medianNanoseconds: message.pointee.p50_ns,
            p90Nanoseconds: message.pointee.p90_ns,
            p99Nanoseconds: message.pointee.p99_ns,
            p999Nanoseconds: message.pointee.p999_ns,
            maximumNanoseconds: message.pointee.max_ns
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__LatencyStats>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.method = arena.text(method)
        unsafe message.pointee.num_answers = answerCount
        unsafe message.pointee.p50_ns = medianNanoseconds
        unsafe message.pointee.p90_ns = p90Nanoseconds
        unsafe message.pointee.p99_ns = p99Nanoseconds
        unsafe message.pointee.p999_ns = p999Nanoseconds
        unsafe message.pointee.max_ns = maximumNanoseconds
    }
}
