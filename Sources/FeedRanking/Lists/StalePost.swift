/// The part of a stale post that a refresh needs, read from its record once.
package struct StalePost: BitwiseCopyable {
    /// The slot of the post in its stripe.
    package var slot: UInt32
    /// The feed whose indexes have the post, or will have it.
    package var feed: FeedID
    /// The time of its creation, by which NEW, OLD and HOT place it.
    package var createTimeMilliseconds: Int64
    /// The first eight bytes of its title, by which TOP places it.
    package var titlePrefix: UInt64
    /// The score under which the indexes have the post; valid where `wasIndexed`.
    package var oldScore: Int64
    /// The score under which the indexes will have the post.
    package var newScore: Int64
    /// Whether the indexes have the post.
    package var wasIndexed: Bool

    /// Copies a post from its record, before the record counts as refreshed.
    @inline(__always)
    package init(_ slot: UInt32, _ record: PostRecord) {
        self.slot = slot
        feed = record.feed
        createTimeMilliseconds = record.createTimeMilliseconds
        titlePrefix = record.titlePrefix
        oldScore = record.indexedScore
        newScore = record.score
        wasIndexed = record.flags.contains(.isIndexed)
    }
}
