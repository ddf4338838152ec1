/// The limits of what a request may say, as Hello announces some of them.
package struct CallLimits: Sendable, Equatable {
    /// The page size that 0 stands for.
    package var defaultPageSize = 20
    /// The page size that larger ones are lowered to: bounds how long one call occupies a loop.
    package var maximumPageSize = 100
    /// The ids in one BatchGetPosts.
    package var maximumBatchGetCount = 100
    /// The votes in one BatchCastVotes: well under a millisecond of work.
    package var maximumBatchVoteCount = 256
    /// The posts in one ImportPosts: about half a millisecond of work for common ones.
    package var maximumImportPostCount = 256
    /// The posts in one answer to SyncPosts: well under a millisecond of work for common ones.
    package var maximumSyncPostCount = 500
    /// Each count of an imported post: 2^53, up to where a script's numbers are exact.
    package var maximumImportedCount: UInt64 = 1 << 53
    /// The most time by which an imported post may be ahead of the clock, as clocks differ; a later
    /// time is corrected.
    package var maximumImportedTimeLead = Duration.seconds(300)
    /// The bytes that Ping echoes.
    package var maximumPingByteCount = 4096

    /// The first posts of a list in one watch.
    package var maximumWatchTopCount = 100
    /// The ids in one watch.
    package var maximumWatchPostCount = 200
    /// The watches of one connection.
    package var maximumWatchesPerConnection = 16

    /// The characters of a title where a feed names no limit; what the first client apps accept.
    package var defaultTitleCharacterCount = 255
    /// The characters of a title that a feed may name as its limit.
    package var maximumTitleCharacterCount = 1_000
    /// The bytes of a title for each character that it may have: letters of every script fit, such as the 18
    /// bytes of "स्त्री", and each emoji, with at most 35; combining bombs do not.
    package var titleByteCountPerCharacter = 40
    /// The bytes of a title that even a feed of short titles takes.
    package var leastTitleByteLimit = 1024
    /// The bytes of any title: so a post with its longest texts is a short transaction of the log.
    package var maximumTitleByteCount = 18 << 10
    package var maximumTextCharacterCount = 10_000
    /// The bytes of a post's text: four a character.
    package var maximumTextByteCount = 40_000
    /// The bytes of each address of a post.
    package var maximumURLByteCount = 2048
    package var maximumNameCharacterCount = 50
    /// The bytes of an author's name: four a character.
    package var maximumNameByteCount = 200
    package var minimumPasswordCharacterCount = 6
    /// The bytes of a password: more add nothing to its hash of 32 bytes.
    package var maximumPasswordByteCount = 128
    package var maximumFeedNameByteCount = 63

    /// The limits as the protocol states them.
    package init() {}

    /// The bytes of a title where a feed names no limit of characters.
    package var defaultTitleByteLimit: Int {
        titleByteLimit(characterCount: defaultTitleCharacterCount)
    }

    /// The bytes of a title that may have so many characters.
    func titleByteLimit(characterCount: Int) -> Int {
        let bytes = max(leastTitleByteLimit, titleByteCountPerCharacter * characterCount)
        return min(bytes, maximumTitleByteCount)
    }
}
