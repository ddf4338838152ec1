// Generated from proto/feed.proto by scripts/wire. Do not edit: run scripts/generate-proto.sh.

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

extension BackupStats: SwiftMessage {
    package static var fieldCount: Int { 12 }
    package static var structByteCount: Int { 136 }

    package static func field(_ index: Int) -> FieldShape {
        switch index {
        case 0: FieldShape(1, .bool)
        case 1: FieldShape(2, .uint64)
        case 2: FieldShape(3, .uint64)
        case 3: FieldShape(4, .bytes)
        case 4: FieldShape(5, .uint64)
        case 5: FieldShape(6, .uint64)
        case 6: FieldShape(7, .uint64)
        case 7: FieldShape(8, .bytes)
        case 8: FieldShape(9, .uint64)
        case 9: FieldShape(10, .uint64)
        case 10: FieldShape(11, .uint64)
        default: FieldShape(12, .uint64)
        }
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) throws(MessageError) {
        try self.init(
            isRunning: tree.flag(node, 0),
            copiedByteCount: tree.number(node, 1),
            byteCount: tree.number(node, 2),
            lastName: tree.text(node, 3, "last_name"),
            lastTimeMilliseconds: tree.number(node, 4),
            lastByteCount: tree.number(node, 5),
            lastDurationMilliseconds: tree.number(node, 6),
            lastError: tree.text(node, 7, "last_error"),
            lastErrorTimeMilliseconds: tree.number(node, 8),
            failureCount: tree.number(node, 9),
            scheduleIntervalMilliseconds: tree.number(node, 10),
            nextTimeMilliseconds: tree.number(node, 11)
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.flag(1, isRunning)
        writer.number(2, copiedByteCount)
        writer.number(3, byteCount)
        writer.text(4, lastName)
        writer.number(5, lastTimeMilliseconds)
        writer.number(6, lastByteCount)
        writer.number(7, lastDurationMilliseconds)
        writer.text(8, lastError)
        writer.number(9, lastErrorTimeMilliseconds)
        writer.number(10, failureCount)
        writer.number(11, scheduleIntervalMilliseconds)
        writer.number(12, nextTimeMilliseconds)
    }
}

extension JournalStats: SwiftMessage {
    package static var fieldCount: Int { 19 }
    package static var structByteCount: Int { 176 }

    package static func field(_ index: Int) -> FieldShape {
        switch index {
        case 0: FieldShape(1, .uint64)
        case 1: FieldShape(2, .uint64)
        case 2: FieldShape(3, .uint64)
        case 3: FieldShape(4, .uint64)
        case 4: FieldShape(5, .uint64)
        case 5: FieldShape(6, .uint64)
        case 6: FieldShape(7, .uint64)
        case 7: FieldShape(8, .uint64)
        case 8: FieldShape(9, .uint64)
        case 9: FieldShape(10, .uint64)
        case 10: FieldShape(11, .uint64)
        case 11: FieldShape(12, .uint64)
        case 12: FieldShape(13, .bool)
        case 13: FieldShape(14, .uint64)
        case 14: FieldShape(15, .uint64)
        case 15: FieldShape(16, .uint64)
        case 16: FieldShape(17, .uint64)
        case 17: FieldShape(18, .uint64)
        default: FieldShape(19, .bool)
        }
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) {
        self.init(
            executedPosition: tree.number(node, 0),
            durablePosition: tree.number(node, 1),
            checkpointedPosition: tree.number(node, 2),
            commitCount: tree.number(node, 3),
            effectCount: tree.number(node, 4),
            medianCommitMicroseconds: tree.number(node, 5),
            p99CommitMicroseconds: tree.number(node, 6),
            maximumCommitMicroseconds: tree.number(node, 7),
            byteCount: tree.number(node, 8),
            heldAnswerCount: tree.number(node, 9),
            oldestHeldMicroseconds: tree.number(node, 10),
            freeByteCount: tree.number(node, 11),
            isReadOnly: tree.flag(node, 12),
            checkpoints: CheckpointStats(
                backlogByteCount: tree.number(node, 13),
                backlogLimitByteCount: tree.number(node, 14),
                refusedCount: tree.number(node, 15),
                underWayMicroseconds: tree.number(node, 16),
                longestStepMicroseconds: tree.number(node, 17),
                isStalled: tree.flag(node, 18)
            )
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.number(1, executedPosition)
        writer.number(2, durablePosition)
        writer.number(3, checkpointedPosition)
        writer.number(4, commitCount)
        writer.number(5, effectCount)
        writer.number(6, medianCommitMicroseconds)
        writer.number(7, p99CommitMicroseconds)
        writer.number(8, maximumCommitMicroseconds)
        writer.number(9, byteCount)
        writer.number(10, heldAnswerCount)
        writer.number(11, oldestHeldMicroseconds)
        writer.number(12, freeByteCount)
        writer.flag(13, isReadOnly)
        writer.number(14, checkpoints.backlogByteCount)
        writer.number(15, checkpoints.backlogLimitByteCount)
        writer.number(16, checkpoints.refusedCount)
        writer.number(17, checkpoints.underWayMicroseconds)
        writer.number(18, checkpoints.longestStepMicroseconds)
        writer.flag(19, checkpoints.isStalled)
    }
}

extension MethodStats: SwiftMessage {
    package static var fieldCount: Int { 4 }
    package static var structByteCount: Int { 72 }

    package static func field(_ index: Int) -> FieldShape {
        switch index {
        case 0: FieldShape(1, .bytes)
        case 1: FieldShape(2, .uint64)
        case 2: FieldShape(3, .uint64)
        default: FieldShape(9, .bytes)
        }
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) throws(MessageError) {
        try self.init(
            method: tree.text(node, 0, "method"),
            requestCount: tree.number(node, 1),
            errorCount: tree.number(node, 2),
            lastError: tree.text(node, 3, "last_error")
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.text(1, method)
        writer.number(2, requestCount)
        writer.number(3, errorCount)
        writer.text(9, lastError)
    }
}
