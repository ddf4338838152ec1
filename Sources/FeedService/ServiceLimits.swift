/// Every limit of the service in one place, each with its reason; Hello tells clients of them.
package struct ServiceLimits: Sendable, Equatable {
    /// The largest frame either way: a page of 100 posts of common size fits many times over.
    package var maximumFrameByteCount = 1 << 20
    /// The requests of one connection that a loop executes before the others get their turn.
    package var requestsPerTurn = 64
    /// The requests in flight on a connection that clients are told to keep to; a service that
    /// executes on arrival holds at most one read of 64 KiB more, and then stops reading.
    package var maximumInFlightCount = 256
    /// Unsent answers of a connection: beyond them nothing more is read from it or executed for it.
    package var maximumUnsentByteCount = 1 << 20
    /// The connections over all loops; lowered to what the open-files limit allows.
    package var maximumConnectionCount = 10_000
    /// The page size that 0 stands for.
    package var defaultPageSize = 20
    /// The page size that larger ones are lowered to: bounds how long one call holds a loop.
    package var maximumPageSize = 100
    /// The ids in one BatchGetPosts.
    package var maximumBatchGetCount = 100
    /// The votes in one BatchCastVotes: well under a millisecond of work.
    package var maximumBatchVoteCount = 256
    /// The posts in one ImportPosts: about half a millisecond of work for common ones.
    package var maximumImportPostCount = 256
    /// Each count of an imported post: 2^53, up to where a script's numbers are exact.
    package var maximumImportedCount: UInt64 = 1 << 53
    /// How far in the future an imported post may have been created: clocks differ.
    package var maximumImportedTimeLead = Duration.seconds(300)
    /// The deadline that 0 stands for, in milliseconds.
    package var defaultTimeoutMilliseconds: UInt32 = 5000
    /// The longest deadline, in milliseconds; longer ones are lowered to it.
    package var maximumTimeoutMilliseconds: UInt32 = 60_000
    /// The channels that are remembered: 4 KiB each with 256 calls, 8 KiB more where batches are
    /// among them, and some 200 bytes for one that numbers none.
    package var maximumChannelCount = 262_144
    /// How long a channel is remembered once its connection has closed.
    package var channelRetention = Duration.seconds(600)
    /// How long a connection may be silent before it is closed.
    package var idleTimeout = Duration.seconds(90)
    /// How long the rest of a frame may take after its first byte.
    package var frameTimeout = Duration.seconds(5)
    /// How long answers may wait without the peer taking a byte.
    package var writeProgressTimeout = Duration.seconds(10)
    /// How long a drain waits for clients to take their answers.
    package var drainTimeout = Duration.seconds(10)
    /// The bytes buffered over all connections before the service sheds load.
    package var maximumBufferedByteCount = 256 << 20

    /// The characters of a title; what the first client apps accept.
    package var maximumTitleCharacterCount = 255
    /// The bytes of a title: 255 characters of common scripts fit; combining bombs do not.
    package var maximumTitleByteCount = 1024
    /// The characters of a post's text.
    package var maximumTextCharacterCount = 10_000
    /// The bytes of a post's text: four a character.
    package var maximumTextByteCount = 40_000
    /// The bytes of each address of a post.
    package var maximumURLByteCount = 2048
    /// The characters of an author's name.
    package var maximumNameCharacterCount = 50
    /// The bytes of an author's name: four a character.
    package var maximumNameByteCount = 200
    /// The bytes of a feed's name.
    package var maximumFeedNameByteCount = 63
    /// The bytes that Ping echoes.
    package var maximumPingByteCount = 4096
    /// The new devices one peer address may bring in a minute.
    package var newDevicesPerPeerMinute = 10_000

    /// The limits as the protocol states them.
    package init() {}
}
