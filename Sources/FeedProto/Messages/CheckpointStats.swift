/// The state of the checkpoints, which write a journal's changes to the state database.
public struct CheckpointStats: Equatable, Sendable {
    /// The bytes of records that are durable and not yet in the state database.
    public var unfoldedByteCount: UInt64
    /// The limit of those bytes, at which changes are refused; from half of it on they are slowed.
    public var unfoldedLimitByteCount: UInt64
    /// The changes that were refused for that reason since the start.
    public var refusedCount: UInt64
    /// How long the checkpoint under way has taken so far; 0 where none is.
    public var underWayMicroseconds: UInt64
    /// The longest slice of a checkpoint since the start, with its sync.
    public var longestSliceMicroseconds: UInt64
    /// Whether the disk has no room for the state database.
    public var isStalled: Bool

    /// All fields; by default nothing waits and nothing has happened.
    public init(
        unfoldedByteCount: UInt64 = 0,
        unfoldedLimitByteCount: UInt64 = 0,
        refusedCount: UInt64 = 0,
        underWayMicroseconds: UInt64 = 0,
        longestSliceMicroseconds: UInt64 = 0,
        isStalled: Bool = false
    ) {
        self.unfoldedByteCount = unfoldedByteCount
        self.unfoldedLimitByteCount = unfoldedLimitByteCount
        self.refusedCount = refusedCount
        self.underWayMicroseconds = underWayMicroseconds
        self.longestSliceMicroseconds = longestSliceMicroseconds
        self.isStalled = isStalled
    }
}
