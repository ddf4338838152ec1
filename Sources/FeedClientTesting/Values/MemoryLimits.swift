internal import FeedProto

/// The limits of the real service, as its Hello announces them and its rules of texts have them.
enum MemoryLimits {
    static let frameByteCount = 1 << 20
    static let pageSize = 20
    static let maximumPageSize = 100
    static let batchGetCount = 100
    static let batchVoteCount = 256
    static let importCount = 256
    static let importedTimeLead: Int64 = 300_000
    static let importedCount: UInt64 = 1 << 53
    static let watchTopCount = 100
    static let watchIDCount = 200
    static let watchCount = 16
    static let pingByteCount = 4_096
    static let titleCharacterCount = 1_000
    static let unnamedTitleCharacterCount = 255
    static let titleByteCountPerCharacter = 32
    static let leastTitleByteLimit = 1_024
    static let textCharacterCount = 10_000
    static let textByteCount = 40_000
    static let urlByteCount = 2_048
    static let nameCharacterCount = 50
    static let nameByteCount = 200
    static let feedNameByteCount = 63
    static let emailByteCount = 254
    static let passwordCharacterCount = 6
    static let passwordByteCount = 128
    static let sessionMilliseconds: Int64 = 30 * 86_400_000

    /// What Hello announces.
    static var announced: Limits {
        Limits(
            maximumFrameByteCount: UInt32(frameByteCount),
            maximumInFlightCount: 256,
            defaultPageSize: UInt32(pageSize),
            maximumPageSize: UInt32(maximumPageSize),
            maximumBatchGetCount: UInt32(batchGetCount),
            maximumBatchVoteCount: UInt32(batchVoteCount),
            maximumWatchTopCount: UInt32(watchTopCount),
            maximumTimeoutMilliseconds: 60_000,
            idleTimeoutMilliseconds: 90_000,
            sequenceWindow: 256,
            maximumImportPostCount: UInt32(importCount),
            maximumWatchPostCount: UInt32(watchIDCount),
            maximumWatchCount: UInt32(watchCount)
        )
    }
}
