/// The part of a stale post that a refresh needs, read from its record once.
struct StalePost: BitwiseCopyable {
    /// The slot of the post in its stripe.
    var slot: UInt32
    /// The feed whose indexes have the post, or are to have it.
    var feed: FeedID
    /// The parts of its keys other than the score.
    var createTimeMilliseconds: Int64
    var titlePrefix: UInt64
    /// The score under which the indexes have the post; valid where `wasIndexed`.
    var oldScore: Int64
    /// The score under which the indexes will have the post.
    var newScore: Int64
    /// Whether the indexes have the post.
    var wasIndexed: Bool

    /// Copies a post from a record that is about to be marked fresh.
    init(_ slot: UInt32, _ record: PostRecord) {
        self.slot = slot
        feed = record.feed
        createTimeMilliseconds = record.createTimeMilliseconds
        titlePrefix = record.titlePrefix
        oldScore = record.indexedScore
        newScore = record.score
        wasIndexed = record.flags.contains(.isIndexed)
    }
}
