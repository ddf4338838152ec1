/// The limits of what a request may say, as Hello announces some of them.
package struct CallLimits: Sendable, Equatable {
    /// The page size that 0 stands for.
    package var defaultPageSize = 20
    /// The page size that larger ones are lowered to.
    package var maximumPageSize = 100
    package var maximumBatchGetCount = 100
    package var maximumBatchVoteCount = 256
    package var maximumImportPostCount = 256
    /// Each count of an imported post: 2^53, up to where a script's numbers are exact.
    package var maximumImportedCount: UInt64 = 1 << 53
    /// The most time by which an imported post may be ahead of the clock.
    package var maximumImportedTimeLead = Duration.seconds(300)
    package var maximumPingByteCount = 4096

    /// The first posts of a list in one watch.
    package var maximumWatchTopCount = 100
    /// The ids in one watch.
    package var maximumWatchPostCount = 200
    package var maximumWatchesPerConnection = 16

    /// The characters of a title where a feed names no limit.
    package var defaultTitleCharacterCount = 255
    /// The characters of a title that a feed may name as its limit.
    package var maximumTitleCharacterCount = 1_000
    package var titleByteCountPerCharacter = 32
    /// The bytes of a title that even a feed of short titles takes.
    package var leastTitleByteLimit = 1024
    package var maximumTextCharacterCount = 10_000
    package var maximumTextByteCount = 40_000
    package var maximumURLByteCount = 2048
    package var maximumNameCharacterCount = 50
    package var maximumNameByteCount = 200
    package var minimumPasswordCharacterCount = 6
    package var maximumPasswordByteCount = 128
    package var maximumFeedNameByteCount = 63

    /// The limits as the protocol states them.
    package init() {}

    /// The bytes of a title that may have so many characters.
    func titleByteLimit(characterCount: Int) -> Int {
        max(leastTitleByteLimit, titleByteCountPerCharacter * characterCount)
    }
}
