/// What settling needs of a dirty post, read from its record once.
struct DirtyPost: BitwiseCopyable {
    /// The post within its stripe.
    var slot: UInt32
    /// Whose indexes it is in, or is to be in.
    var feed: FeedID
    /// What its keys are made of beside a score.
    var createTimeMilliseconds: Int64
    var titlePrefix: UInt64
    /// The score under which the indexes have it; has a meaning where `wasIndexed`.
    var oldScore: Int64
    /// The score under which they will have it.
    var newScore: Int64
    /// Whether the indexes have it.
    var wasIndexed: Bool

    /// The post of a record that is about to be marked clean.
    init(_ slot: UInt32, _ record: PostRecord) {
        self.slot = slot
        feed = record.feed
        createTimeMilliseconds = record.createTimeMilliseconds
        titlePrefix = record.titlePrefix
        oldScore = record.settledScore
        newScore = record.score
        wasIndexed = record.flags.contains(.isIndexed)
    }
}
