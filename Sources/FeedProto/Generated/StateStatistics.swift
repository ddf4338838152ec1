// Generated from proto/feed.proto by scripts/wire. Do not edit: run scripts/generate-proto.sh.

import CFeedProto

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
    /// The backups since the service's start that failed, were cancelled or did not pass their
    /// check.
    public var failureCount: UInt64
    /// The time between two scheduled backups; 0 without a schedule.
    public var scheduleIntervalMilliseconds: UInt64
    /// When the next scheduled backup is due, in milliseconds since the Unix epoch; 0 without a
    /// schedule.
    public var nextTimeMilliseconds: Int64

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
        lastErrorTimeMilliseconds: Int64 = 0,
        failureCount: UInt64 = 0,
        scheduleIntervalMilliseconds: UInt64 = 0,
        nextTimeMilliseconds: Int64 = 0
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
        self.failureCount = failureCount
        self.scheduleIntervalMilliseconds = scheduleIntervalMilliseconds
        self.nextTimeMilliseconds = nextTimeMilliseconds
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

extension BackupStats: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__BackupStats>) {
        unsafe feed__v1__backup_stats__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__BackupStats>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            isRunning: message.pointee.running != 0,
            copiedByteCount: message.pointee.copied_bytes,
            byteCount: message.pointee.total_bytes,
            lastName: reader.text(message.pointee.last_name, "last_name"),
            lastTimeMilliseconds: message.pointee.last_time_ms,
            lastByteCount: message.pointee.last_bytes,
            lastDurationMilliseconds: message.pointee.last_duration_ms,
            lastError: reader.text(message.pointee.last_error, "last_error"),
            lastErrorTimeMilliseconds: message.pointee.last_error_time_ms,
            failureCount: message.pointee.failures,
            scheduleIntervalMilliseconds: message.pointee.schedule_interval_ms,
            nextTimeMilliseconds: message.pointee.next_time_ms
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__BackupStats>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.running = isRunning ? 1 : 0
        unsafe message.pointee.copied_bytes = copiedByteCount
        unsafe message.pointee.total_bytes = byteCount
        unsafe message.pointee.last_name = arena.text(lastName)
        unsafe message.pointee.last_time_ms = lastTimeMilliseconds
        unsafe message.pointee.last_bytes = lastByteCount
        unsafe message.pointee.last_duration_ms = lastDurationMilliseconds
        unsafe message.pointee.last_error = arena.text(lastError)
        unsafe message.pointee.last_error_time_ms = lastErrorTimeMilliseconds
        unsafe message.pointee.failures = failureCount
        unsafe message.pointee.schedule_interval_ms = scheduleIntervalMilliseconds
        unsafe message.pointee.next_time_ms = nextTimeMilliseconds
    }
}

extension JournalStats: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__JournalStats>) {
        unsafe feed__v1__journal_stats__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__JournalStats>,
        _ reader: WireReader
    ) {
        unsafe self.init(
            executedPosition: message.pointee.executed_position,
            durablePosition: message.pointee.durable_position,
            checkpointedPosition: message.pointee.folded_position,
            commitCount: message.pointee.commits,
            effectCount: message.pointee.commit_effects,
            medianCommitMicroseconds: message.pointee.commit_p50_us,
            p99CommitMicroseconds: message.pointee.commit_p99_us,
            maximumCommitMicroseconds: message.pointee.commit_max_us,
            byteCount: message.pointee.journal_bytes,
            heldAnswerCount: message.pointee.held_answers,
            oldestHeldMicroseconds: message.pointee.oldest_held_us,
            freeByteCount: message.pointee.free_bytes,
            isReadOnly: message.pointee.read_only != 0,
            checkpoints: CheckpointStats(message)
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__JournalStats>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.executed_position = executedPosition
        unsafe message.pointee.durable_position = durablePosition
        unsafe message.pointee.folded_position = checkpointedPosition
        unsafe message.pointee.commits = commitCount
        unsafe message.pointee.commit_effects = effectCount
        unsafe message.pointee.commit_p50_us = medianCommitMicroseconds
        unsafe message.pointee.commit_p99_us = p99CommitMicroseconds
        unsafe message.pointee.commit_max_us = maximumCommitMicroseconds
        unsafe message.pointee.journal_bytes = byteCount
        unsafe message.pointee.held_answers = heldAnswerCount
        unsafe message.pointee.oldest_held_us = oldestHeldMicroseconds
        unsafe message.pointee.free_bytes = freeByteCount
        unsafe message.pointee.read_only = isReadOnly ? 1 : 0
        unsafe checkpoints.write(to: message)
    }
}

extension CheckpointStats {
    fileprivate init(_ message: UnsafeMutablePointer<Feed__V1__JournalStats>) {
        unsafe self.init(
            backlogByteCount: message.pointee.unfolded_bytes,
            backlogLimitByteCount: message.pointee.unfolded_limit_bytes,
            refusedCount: message.pointee.unfolded_refusals,
            underWayMicroseconds: message.pointee.checkpoint_us,
            longestStepMicroseconds: message.pointee.checkpoint_slice_max_us,
            isStalled: message.pointee.checkpoint_stalled != 0
        )
    }

    fileprivate func write(to message: UnsafeMutablePointer<Feed__V1__JournalStats>) {
        unsafe message.pointee.unfolded_bytes = backlogByteCount
        unsafe message.pointee.unfolded_limit_bytes = backlogLimitByteCount
        unsafe message.pointee.unfolded_refusals = refusedCount
        unsafe message.pointee.checkpoint_us = underWayMicroseconds
        unsafe message.pointee.checkpoint_slice_max_us = longestStepMicroseconds
        unsafe message.pointee.checkpoint_stalled = isStalled ? 1 : 0
    }
}

extension MethodStats: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__MethodStats>) {
        unsafe feed__v1__method_stats__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__MethodStats>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            method: reader.text(message.pointee.method, "method"),
            requestCount: message.pointee.num_requests,
            errorCount: message.pointee.num_errors,
            lastError: reader.text(message.pointee.last_error, "last_error")
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__MethodStats>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.method = arena.text(method)
        unsafe message.pointee.num_requests = requestCount
        unsafe message.pointee.num_errors = errorCount
        unsafe message.pointee.last_error = arena.text(lastError)
    }
}
