/// Reads of a stripe's lists.
extension Stripe {
    /// A list that is being read: all posts that a first page needs are in place.
    private struct ListRead {
        var list: ListID
        /// The number of posts in the list.
        var postCount: Int
        /// The side list; nil for a standing one.
        var side: SideRead?
    }

    /// Appends the next entries of a walk, exact as of now; nil when the allowance is used up.
    ///
    /// O(log n + limit) plus the refresh. The refresh leaves out the stale tail as long as the walk
    /// stays before the list's head boundary.
    mutating func collect(
        _ walk: ListWalk,
        into entries: inout [MergeEntry],
        _ allowance: inout RefreshAllowance
    ) -> WalkSummary? {
        guard standing.indexes(walk.list.feed).postCount > 0 else { return WalkSummary() }
        guard let read = prepare(walk.list, &allowance) else { return nil }
        let firstEntry = entries.count
        let probe = pass.slots.probe(walk, &pass.posts)
        while true {
            let index = index(read)
            let reach = index.collect(walk, from: probe, into: &entries, &pass)
            if isExact(read, index, upTo: reach.last) {
                let (count, rank) = (read.postCount, reach.startRank)
                return WalkSummary(
                    postCount: count,
                    skippedCount: walk.isDescending ? count - rank : rank,
                    isShown: read.side == nil && isCovered(reach.last, walk, index),
                    endTime: read.side?.list.queue?.posts.endTime ?? .max
                )
            }
            entries.removeLast(entries.count - firstEntry)
            guard refreshTail(read, &allowance) else { return nil }
        }
    }

    /// The number of posts before a place of a list, and of all its posts; nil when the allowance is
    /// used up.
    ///
    /// O(log n) plus the refresh.
    mutating func countBefore(
        _ position: ListPosition,
        _ list: ListID,
        _ allowance: inout RefreshAllowance
    ) -> WalkSummary? {
        guard standing.indexes(list.feed).postCount > 0 else { return WalkSummary() }
        guard let read = prepare(list, &allowance) else { return nil }
        let probe = pass.slots.probe(position, isBehind: false, &pass.posts)
        if !isExact(read, index(read), upTo: probe) {
            guard refreshTail(read, &allowance) else { return nil }
        }
        let rank = index(read).position(of: probe, pass.pool, pass.posts).rank
        return WalkSummary(postCount: read.postCount, skippedCount: rank)
    }

    /// Refreshes all posts of a list; returns their number, and nil when the allowance is used up.
    mutating func refreshAll(_ list: ListID, _ allowance: inout RefreshAllowance) -> Int? {
        guard standing.indexes(list.feed).postCount > 0 else { return 0 }
        guard let read = prepare(list, &allowance) else { return nil }
        if !isExact(read, index(read), upTo: nil) {
            guard refreshTail(read, &allowance) else { return nil }
        }
        return read.postCount
    }

    /// The place of the post at a rank of the stripe's share of a list; all must be refreshed.
    mutating func position(atRank rank: Int, _ list: ListID) -> ListPosition? {
        // Another thread may have begun a job since.
        if list.isStanding { _ = standing.finishJob(&pass) }
        let index =
            list.isStanding
            ? standing.index(list.kind, list.feed) : sides.existingList(list)?.keys.index
        guard let index, rank <= index.count,
            let key = index.key(at: index.position(atRank: rank, pass.pool), pass.pool)
        else { return nil }
        return pass.slots.position(of: key, pass.posts)
    }

    /// Brings a list up to date but for its tail, and makes it where it is asked for first; nil when
    /// the allowance is used up.
    @inline(__always)
    private mutating func prepare(
        _ list: ListID,
        _ allowance: inout RefreshAllowance
    ) -> ListRead? {
        let count = standing.indexes(list.feed).postCount
        if list.isStanding {
            let isReady = standing.prepare(list, &allowance, &pass)
            return isReady ? ListRead(list: list, postCount: count, side: nil) : nil
        }
        guard let side = sides.prepare(list, &allowance, &pass) else { return nil }
        let postCount = side.list.queue?.posts.count ?? count
        return ListRead(list: list, postCount: postCount, side: side)
    }

    /// Brings the tail of a list up to date too; false when the allowance is used up.
    @inline(__always)
    private mutating func refreshTail(
        _ read: ListRead,
        _ allowance: inout RefreshAllowance
    ) -> Bool {
        guard !allowance.isUsedUp else { return false }
        guard let side = read.side else { return standing.refreshTail(&allowance, &pass) }
        return sides.refresh(side, includingTail: true, &allowance, &pass)
    }

    /// The index of a list that is being read.
    @inline(__always)
    private func index(_ read: ListRead) -> RankedIndex {
        read.side?.list.keys.index ?? standing.index(read.list.kind, read.list.feed)
    }

    /// Whether no stale post can belong before a key of a list; nil asks for the whole list.
    @inline(__always)
    private func isExact(_ read: ListRead, _ index: RankedIndex, upTo key: RankKey?) -> Bool {
        read.side?.list.keys.isExact(upTo: key)
            ?? standing.isExact(index, read.list.kind, upTo: key)
    }

    /// Whether a walk ends in the head of an index, so that each change of its entries counts as shown.
    ///
    /// It stays so until one does: the rank of the heads never falls.
    @inline(__always)
    private func isCovered(_ last: RankKey?, _ walk: ListWalk, _ index: RankedIndex) -> Bool {
        if index.headBoundary == .lowest { return true }
        guard let last, !walk.isDescending else { return false }
        return index.headBoundary.covers(last)
    }
}
