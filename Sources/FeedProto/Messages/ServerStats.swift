/// The service's statistics; counters run from its start.
public struct ServerStats: Equatable, Sendable {
    /// The service's name and version.
    public var serverName: String
    /// When it started, since the Unix epoch.
    public var startTimeMilliseconds: Int64
    /// Open connections.
    public var connectionCount: UInt64
    /// Posts in all feeds.
    public var postCount: UInt64
    /// The revision of its state.
    public var revision: UInt64
    /// Each method that was called.
    public var methods: [MethodStats]
    /// How often a stripe's lock was already held when it was requested.
    public var stripeContentionCount: UInt64
    /// Connections accepted.
    public var acceptedConnectionCount: UInt64
    /// Connections turned away because there were too many.
    public var refusedConnectionCount: UInt64
    /// Connections closed because a frame took too long to arrive.
    public var slowFrameCount: UInt64
    /// Connections closed because of a malformed frame.
    public var badFrameCount: UInt64
    /// Bytes waiting in the buffers of all connections.
    public var bufferedByteCount: UInt64
    /// How often accepting paused because the process had no file descriptor left.
    public var acceptPauseCount: UInt64
    /// What an acknowledged change survives: `none`, `os` or `fsync`.
    public var durability: String
    /// The journal and its commits; nil where nothing is journaled.
    public var journal: JournalStats?
    /// Channels whose sequences are remembered.
    public var channelCount: UInt64
    /// Channels that were forgotten, a while after their connection closed.
    public var evictedChannelCount: UInt64
    /// Calls that had been executed before and got their earlier outcome.
    public var repeatedCallCount: UInt64
    /// Connections closed because too much was held for clients that did not take their answers.
    public var overBudgetCloseCount: UInt64
    /// The approximate bytes of memory that the channels take.
    public var channelByteCount: UInt64
    /// How often a Hello or a numbered call got no channel.
    public var refusedChannelCount: UInt64
    /// How often a new device was refused.
    public var refusedDeviceCount: UInt64
    /// The backups; nil where nothing survives the process.
    public var backups: BackupStats?

    /// All fields; each must be given, except those that only some services have.
    public init(
        serverName: String,
        startTimeMilliseconds: Int64,
        connectionCount: UInt64,
        postCount: UInt64,
        revision: UInt64,
        methods: [MethodStats],
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
        backups: BackupStats? = nil
    ) {
        self.serverName = serverName
        self.startTimeMilliseconds = startTimeMilliseconds
        self.connectionCount = connectionCount
        self.postCount = postCount
        self.revision = revision
        self.methods = methods
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
        self.backups = backups
    }
}

/// The statistics of one method.
public struct MethodStats: Equatable, Sendable {
    /// The method's field name in the contract, as `cast_vote`.
    public var method: String
    /// Calls answered.
    public var requestCount: UInt64
    /// Calls answered with a failure.
    public var errorCount: UInt64
    /// The reason of the last failure; empty is none.
    public var lastError: String

    /// By default without a failure.
    public init(method: String, requestCount: UInt64, errorCount: UInt64, lastError: String = "") {
        self.method = method
        self.requestCount = requestCount
        self.errorCount = errorCount
        self.lastError = lastError
    }
}
