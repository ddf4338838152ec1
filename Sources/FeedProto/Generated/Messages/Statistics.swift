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
        backups: BackupStats? = nil
    ) {
        self.serverName = serverName
        self.startTimeMilliseconds = startTimeMilliseconds
        self.connectionCount = connectionCount
        self.postCount = postCount
        self.revision = revision
        self.methods = methods
        self.snapshotCount = snapshotCount
        self.snapshotByteCount = snapshotByteCount
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
    }
}

/// The state of a service's backups.
public struct BackupStats: Equatable, Sendable {
    /// Whether a backup is under way.
    public var isRunning: Bool
    /// The bytes that the backup under way has copied; 0 before the copy begins.
    public var copiedByteCount: UInt64
    /// All bytes of the backup under way; 0 before the copy begins.
    public var byteCount: UInt64
    /// The folder name of the newest complete backup; empty where there is none.
    public var lastName: String
    /// When the newest complete backup was complete, in milliseconds since the Unix epoch; when it
    /// began, if an earlier run of the service made it; 0 where there is none.
    public var lastTimeMilliseconds: Int64
    /// The bytes of the newest complete backup; 0 where an earlier run of the service made it.
    public var lastByteCount: UInt64
    /// How long the newest complete backup took; 0 where an earlier run of the service made it.
    public var lastDurationMilliseconds: UInt64
    /// Why the last backup since the service's start failed; empty where it is complete.
    public var lastError: String
    /// When that failure was known, in milliseconds since the Unix epoch; 0 where there is none.
    public var lastErrorTimeMilliseconds: Int64

    /// All fields; each has a default.
    public init(
        isRunning: Bool = false,
        copiedByteCount: UInt64 = 0,
        byteCount: UInt64 = 0,
        lastName: String = "",
        lastTimeMilliseconds: Int64 = 0,
        lastByteCount: UInt64 = 0,
        lastDurationMilliseconds: UInt64 = 0,
        lastError: String = "",
        lastErrorTimeMilliseconds: Int64 = 0
    ) {
        self.isRunning = isRunning
        self.copiedByteCount = copiedByteCount
        self.byteCount = byteCount
        self.lastName = lastName
        self.lastTimeMilliseconds = lastTimeMilliseconds
        self.lastByteCount = lastByteCount
        self.lastDurationMilliseconds = lastDurationMilliseconds
        self.lastError = lastError
        self.lastErrorTimeMilliseconds = lastErrorTimeMilliseconds
    }
}

/// The state of a service's journal.
///
/// A position is the number of a record: each holds the changes of one commit. Counters run from
/// the service's start.
public struct JournalStats: Equatable, Sendable {
    /// The record that holds the newest change, or will hold it.
    public var executedPosition: UInt64
    /// The newest record that is durable: answers up to it have been sent.
    public var durablePosition: UInt64
    /// The newest record whose changes are in the state database.
    public var checkpointedPosition: UInt64
    /// The commits, each with one write and one sync.
    public var commitCount: UInt64
    /// The changes in all commits.
    public var effectCount: UInt64
    /// The median time of a commit, from its write to the end of its sync.
    public var medianCommitMicroseconds: UInt64
    /// The 99th percentile of the time of a commit.
    public var p99CommitMicroseconds: UInt64
    /// How long the slowest commit took.
    public var maximumCommitMicroseconds: UInt64
    /// The bytes of the journal's files.
    public var byteCount: UInt64
    /// Groups of answers that wait until what they show is durable.
    ///
    /// A group is the answers of one connection in one loop iteration. The number is taken when a
    /// commit batch begins or becomes durable.
    public var heldAnswerCount: UInt64
    /// How long the oldest change that is not durable has waited; 0 where none waits.
    public var oldestHeldMicroseconds: UInt64
    /// The bytes that the disk has free.
    public var freeByteCount: UInt64
    /// Whether changes are refused because the disk has too little room (READ_ONLY).
    public var isReadOnly: Bool
    /// The state of the checkpoints, which write a journal's changes to the state database.
    public var checkpoints: CheckpointStats

    /// All fields; those with a default may be left out.
    public init(
        executedPosition: UInt64,
        durablePosition: UInt64,
        checkpointedPosition: UInt64,
        commitCount: UInt64,
        effectCount: UInt64,
        medianCommitMicroseconds: UInt64,
        p99CommitMicroseconds: UInt64,
        maximumCommitMicroseconds: UInt64,
        byteCount: UInt64,
        heldAnswerCount: UInt64,
        oldestHeldMicroseconds: UInt64,
        freeByteCount: UInt64,
        isReadOnly: Bool,
        checkpoints: CheckpointStats = CheckpointStats()
    ) {
        self.executedPosition = executedPosition
        self.durablePosition = durablePosition
        self.checkpointedPosition = checkpointedPosition
        self.commitCount = commitCount
        self.effectCount = effectCount
        self.medianCommitMicroseconds = medianCommitMicroseconds
        self.p99CommitMicroseconds = p99CommitMicroseconds
        self.maximumCommitMicroseconds = maximumCommitMicroseconds
        self.byteCount = byteCount
        self.heldAnswerCount = heldAnswerCount
        self.oldestHeldMicroseconds = oldestHeldMicroseconds
        self.freeByteCount = freeByteCount
        self.isReadOnly = isReadOnly
        self.checkpoints = checkpoints
    }
}

/// The state of the checkpoints, which write a journal's changes to the state database.
public struct CheckpointStats: Equatable, Sendable {
    /// The bytes of records that are durable and not yet in the state database.
    public var backlogByteCount: UInt64
    /// The number of those bytes at which changes are refused (OVERLOADED).
    ///
    /// From half of it on changes are slowed: some are refused, so that the backlog stays below
    /// this limit.
    public var backlogLimitByteCount: UInt64
    /// The changes that were refused for that reason.
    public var refusedCount: UInt64
    /// How long the checkpoint under way has taken so far; 0 where none is.
    public var underWayMicroseconds: UInt64
    /// The longest step of a checkpoint: one transaction of the database, with its sync.
    public var longestStepMicroseconds: UInt64
    /// Whether the disk has no room for the state database; the journal keeps what waits.
    public var isStalled: Bool

    /// All fields; each has a default.
    public init(
        backlogByteCount: UInt64 = 0,
        backlogLimitByteCount: UInt64 = 0,
        refusedCount: UInt64 = 0,
        underWayMicroseconds: UInt64 = 0,
        longestStepMicroseconds: UInt64 = 0,
        isStalled: Bool = false
    ) {
        self.backlogByteCount = backlogByteCount
        self.backlogLimitByteCount = backlogLimitByteCount
        self.refusedCount = refusedCount
        self.underWayMicroseconds = underWayMicroseconds
        self.longestStepMicroseconds = longestStepMicroseconds
        self.isStalled = isStalled
    }
}

/// The statistics of one method.
public struct MethodStats: Equatable, Sendable {
    /// The method's field name in ClientFrame, as `cast_vote`.
    public var method: String
    /// Calls answered.
    public var requestCount: UInt64
    /// Calls answered with a failure.
    public var errorCount: UInt64
    /// The reason of the last failure; empty is none.
    public var lastError: String

    /// All fields; those with a default may be left out.
    public init(method: String, requestCount: UInt64, errorCount: UInt64, lastError: String = "") {
        self.method = method
        self.requestCount = requestCount
        self.errorCount = errorCount
        self.lastError = lastError
    }
}
