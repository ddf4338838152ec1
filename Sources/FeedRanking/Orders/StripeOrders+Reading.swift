extension StripeOrders {
    /// Appends the next entries of a walk, exact as of now; nil when the allowance is used up.
    ///
    /// O(log n + limit) plus the refresh. The refresh leaves out the stale tail as long as the walk
    /// stays before the index's head boundary.
    mutating func collect(
        _ walk: ListWalk,
        _ kind: IndexKind,
        into entries: inout [MergeEntry],
        _ allowance: inout RefreshAllowance,
        _ posts: inout PostTable
    ) -> WalkSummary? {
        guard prepare(kind, walk.list.feed, &allowance, &posts) else { return nil }
        let firstEntry = entries.count
        while true {
            let indexes = indexes(walk.list.feed)
            let index = indexes[kind]
            let probe = slots.probe(walk, &posts)
            let reach = index.collect(walk, probe, slots, into: &entries, pool, posts)
            if isExact(index, kind, upTo: reach.last) {
                let count = indexes.postCount
                return WalkSummary(
                    postCount: count,
                    skippedCount: walk.isDescending ? count - reach.startRank : reach.startRank,
                    isShown: probe == nil && isCovered(reach.last, walk, index)
                )
            }
            guard refreshTail(&allowance, &posts) else { return nil }
            entries.removeLast(entries.count - firstEntry)
        }
    }

    /// Whether a walk from the front of an index passes only what its head boundary covers for good.
    private func isCovered(_ last: RankKey?, _ walk: ListWalk, _ index: RankedIndex) -> Bool {
        let reachedCount = walk.isDescending ? index.count : min(walk.limit, index.count)
        guard reachedCount <= coveredCount else { return false }
        if index.headBoundary == .lowest { return true }
        guard let last, !walk.isDescending else { return false }
        return index.headBoundary.covers(last)
    }

    /// The number of posts before a place of a list, and of all its posts; nil when the allowance is
    /// used up.
    ///
    /// O(log n) plus the refresh.
    mutating func countBefore(
        _ position: ListPosition,
        _ kind: IndexKind,
        _ feed: FeedID?,
        _ allowance: inout RefreshAllowance,
        _ posts: inout PostTable
    ) -> WalkSummary? {
        guard prepare(kind, feed, &allowance, &posts) else { return nil }
        let probe = slots.probe(position, isBehind: false, &posts)
        while true {
            let indexes = indexes(feed)
            let index = indexes[kind]
            if isExact(index, kind, upTo: probe) {
                let rank = index.position(of: probe, pool, posts).rank
                return WalkSummary(postCount: indexes.postCount, skippedCount: rank)
            }
            guard refreshTail(&allowance, &posts) else { return nil }
        }
    }

    /// The place of the post at a rank of this stripe's share of a list; all must be refreshed.
    mutating func position(
        atRank rank: Int,
        _ kind: IndexKind,
        _ feed: FeedID?,
        _ posts: borrowing PostTable
    ) -> ListPosition? {
        // Another thread may have begun a job since.
        _ = finishJob(posts)
        let index = listIndex(kind, feed)
        guard rank <= index.count else { return nil }
        guard let key = index.key(at: index.position(atRank: rank, pool), pool) else { return nil }
        return slots.position(of: key, posts)
    }

    /// Builds a missing index and refreshes the stale head; false when the allowance is used up.
    mutating func prepare(
        _ kind: IndexKind,
        _ feed: FeedID?,
        _ allowance: inout RefreshAllowance,
        _ posts: inout PostTable
    ) -> Bool {
        if !listIndex(kind, feed).isBuilt {
            guard indexes(feed).postCount > 0 else { return true }
            guard !allowance.isUsedUp else { return false }
            allowance.charge(build(kind, feed, &posts))
            return true
        }
        guard stale.head.count > 0, kind.followsScore || unindexedCount > 0 else { return true }
        guard !allowance.isUsedUp else { return false }
        allowance.charge(refresh(includingTail: false, &posts))
        return true
    }

    /// Refreshes all posts that can be in an order; false when the allowance is used up.
    mutating func refreshAll(
        _ kind: IndexKind,
        _ allowance: inout RefreshAllowance,
        _ posts: inout PostTable
    ) -> Bool {
        let isFresh = stale.tailCount == 0 || (!kind.followsScore && unindexedCount == 0)
        if isFresh && job.isIdle { return true }
        return refreshTail(&allowance, &posts)
    }

    /// Refreshes the stale head and the stale tail; false when the allowance is used up.
    private mutating func refreshTail(
        _ allowance: inout RefreshAllowance,
        _ posts: inout PostTable
    ) -> Bool {
        guard !allowance.isUsedUp else { return false }
        allowance.charge(refresh(includingTail: true, &posts))
        return true
    }

    /// Whether no post of the stale tail can belong before `key`; nil asks for the whole index.
    private func isExact(_ index: RankedIndex, _ kind: IndexKind, upTo key: RankKey?) -> Bool {
        if index.headBoundary == .lowest { return true }
        let isFresh = stale.tailCount == 0 || (!kind.followsScore && unindexedCount == 0)
        if isFresh && job.isIdle { return true }
        guard let key else { return false }
        return index.headBoundary.covers(key)
    }
}
