/// A stripe's changes, for readers that keep a copy.
extension Stripe {
    /// The changes of a stripe up to a revision.
    struct SyncPart {
        /// The revision up to which no change is left out.
        var end: UInt64
        /// Every later deletion is known.
        var deletionsKnownSince: UInt64
    }

    /// Appends the changes of a range, and the deletions of another that begins later.
    ///
    /// O(log n + changes looked at) plus what has changed since the last read.
    ///
    /// - Returns: Nil when the allowance is used up.
    mutating func collectChanges(
        _ range: SyncRange,
        deletionsSince: UInt64,
        at time: Int64,
        into changes: inout [SyncChange],
        _ allowance: inout RefreshAllowance
    ) -> SyncPart? {
        guard sync.update(at: time, &allowance, &pass.posts) else { return nil }
        tombstones.expire(at: time)
        var deletions = range
        deletions.start = deletionsSince
        let postsEnd = sync.collect(range, slots, pass.posts, into: &changes)
        let deletionsEnd = tombstones.collect(deletions, slots, into: &changes)
        return SyncPart(
            end: min(postsEnd, deletionsEnd),
            deletionsKnownSince: tombstones.knownSince
        )
    }
}
