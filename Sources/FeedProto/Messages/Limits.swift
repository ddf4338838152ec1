/// What a service accepts.
public struct Limits: Equatable, Sendable {
    /// The longest frame, without its length prefix, both ways.
    public var maximumFrameByteCount: UInt32
    /// The most calls in flight on a connection; beyond it the service stops reading from it.
    public var maximumInFlightCount: UInt32
    /// The page size that stands for a page size of 0.
    public var defaultPageSize: UInt32
    /// The greatest page size; a greater one is reduced to it.
    public var maximumPageSize: UInt32
    /// The most ids in one `BatchGetPostsRequest`.
    public var maximumBatchGetCount: UInt32
    /// The most votes in one `BatchCastVotesRequest`.
    public var maximumBatchVoteCount: UInt32
    /// The greatest timeout of a frame.
    public var maximumTimeoutMilliseconds: UInt32
    /// Silence after which the service closes a connection.
    public var idleTimeoutMilliseconds: UInt32
    /// How many sequences a channel remembers.
    public var sequenceWindow: UInt32
    /// The most posts in one `ImportPostsRequest`.
    public var maximumImportPostCount: UInt32

    /// All limits; each must be given.
    public init(
        maximumFrameByteCount: UInt32,
        maximumInFlightCount: UInt32,
        defaultPageSize: UInt32,
        maximumPageSize: UInt32,
        maximumBatchGetCount: UInt32,
        maximumBatchVoteCount: UInt32,
        maximumTimeoutMilliseconds: UInt32,
        idleTimeoutMilliseconds: UInt32,
        sequenceWindow: UInt32,
        maximumImportPostCount: UInt32
    ) {
        self.maximumFrameByteCount = maximumFrameByteCount
        self.maximumInFlightCount = maximumInFlightCount
        self.defaultPageSize = defaultPageSize
        self.maximumPageSize = maximumPageSize
        self.maximumBatchGetCount = maximumBatchGetCount
        self.maximumBatchVoteCount = maximumBatchVoteCount
        self.maximumTimeoutMilliseconds = maximumTimeoutMilliseconds
        self.idleTimeoutMilliseconds = idleTimeoutMilliseconds
        self.sequenceWindow = sequenceWindow
        self.maximumImportPostCount = maximumImportPostCount
    }
}
