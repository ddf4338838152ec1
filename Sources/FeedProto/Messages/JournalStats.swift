/// The state of a service's journal; counters run from the service's start.
///
/// A position is the number of a record, which holds the changes of one commit.
public struct JournalStats: Equatable, Sendable {
    /// The record that holds the newest change, or will hold it.
    public var executedPosition: UInt64
    /// The newest record that is durable.
    public var durablePosition: UInt64
    /// The newest record whose changes are in the state database.
    public var foldedPosition: UInt64
    /// The commits, each with one write and one sync.
    public var commitCount: UInt64
    /// The changes in all commits.
    public var effectCount: UInt64
    /// The time that half of the commits stayed within.
    public var medianCommitMicroseconds: UInt64
    /// The time that 99 of 100 commits stayed within.
    public var p99CommitMicroseconds: UInt64
    /// How long the slowest commit took.
    public var maximumCommitMicroseconds: UInt64
    /// The bytes of the journal's files.
    public var byteCount: UInt64
    /// Answers that wait for their changes to be durable.
    public var heldAnswerCount: UInt64
    /// How long the oldest of them has waited; 0 where none waits.
    public var oldestHeldMicroseconds: UInt64
    /// The bytes that the disk has free.
    public var freeByteCount: UInt64
    /// Whether changes are refused because the disk has too little room.
    public var isReadOnly: Bool
    /// How the state database keeps up; unknown from a service before version 0.2.
    public var checkpoints: CheckpointStats

    /// All fields; each must be given.
    public init(
        executedPosition: UInt64,
        durablePosition: UInt64,
        foldedPosition: UInt64,
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
        self.foldedPosition = foldedPosition
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
