/// The start of a walk through an index.
enum WalkStart {
    /// The end from which the walk comes.
    case end
    /// A place, with the post there or without it.
    case position(ListPosition, isIncluded: Bool)
    /// The place behind a post that an earlier part of the walk collected.
    case entry(MergeEntry)
}

/// A part of a walk through one order of one list.
struct ListWalk {
    /// The list of a feed, or of all feeds for nil.
    var feed: FeedID?
    /// The index of the walk.
    var kind: IndexKind
    /// Whether the walk runs against the order of the keys.
    var isDescending: Bool
    /// The start of the walk.
    var start: WalkStart
    /// The number of entries after which the walk ends.
    var limit: Int
}

/// The counts of a walk in a stripe, beside the entries that it collected.
struct WalkSummary {
    /// The number of posts in the list.
    var postCount = 0
    /// The number of posts in the list before the start of the walk.
    var skippedCount = 0
}

extension Stripe {
    /// Appends the next entries of a walk, exact as of now; nil when the budget is used up.
    ///
    /// O(log n + limit) plus the refresh. The refresh leaves out the stale tail as long as the walk
    /// stays before the index's head boundary.
    mutating func collect(
        _ walk: ListWalk,
        into entries: inout [MergeEntry],
        _ budget: inout RefreshBudget
    ) -> WalkSummary? {
        guard prepare(walk.kind, walk.feed, &budget) else { return nil }
        let firstEntry = entries.count
        while true {
            let indexes = indexes(walk.feed)
            let index = indexes[walk.kind]
            let probe = probe(walk)
            let startRank = rank(walk, probe, index)
            var position = index.position(atRank: startRank, pool)
            var last = probe
            var found = 0
            if walk.isDescending {
                index.retreat(&position, pool)
            }
            while found < walk.limit, let key = index.key(at: position, pool) {
                entries.append(MergeEntry(key, id(key.slot)))
                last = walk.isDescending ? last : key
                found += 1
                if walk.isDescending {
                    index.retreat(&position, pool)
                } else {
                    index.advance(&position, pool)
                }
            }
            let stays = walk.isDescending || found == walk.limit ? last : nil
            if isExact(index, walk.kind, upTo: stays) {
                return WalkSummary(
                    postCount: indexes.postCount,
                    skippedCount: walk.isDescending ? indexes.postCount - startRank : startRank
                )
            }
            guard refreshTail(&budget) else { return nil }
            entries.removeLast(entries.count - firstEntry)
        }
    }

    /// The number of posts before a place of a list, and of all its posts; nil when the budget is
    /// used up.
    ///
    /// O(log n) plus the refresh.
    mutating func countBefore(
        _ position: ListPosition,
        _ kind: IndexKind,
        _ feed: FeedID?,
        _ budget: inout RefreshBudget
    ) -> WalkSummary? {
        guard prepare(kind, feed, &budget) else { return nil }
        let probe = probe(position, isBehind: false)
        while true {
            let indexes = indexes(feed)
            let index = indexes[kind]
            if isExact(index, kind, upTo: probe) {
                let rank = index.position(of: probe, pool, posts).rank
                return WalkSummary(postCount: indexes.postCount, skippedCount: rank)
            }
            guard refreshTail(&budget) else { return nil }
        }
    }

    /// The place of the post at a rank of this stripe's share of a list; all must be refreshed.
    mutating func position(
        atRank rank: Int,
        _ kind: IndexKind,
        _ feed: FeedID?
    ) -> ListPosition? {
        // Another thread may have begun a job since.
        _ = finishJob()
        let index = indexes(feed)[kind]
        guard rank <= index.count else { return nil }
        guard let key = index.key(at: index.position(atRank: rank, pool), pool) else { return nil }
        return position(of: key)
    }

    /// The place that a post has in an order, or will have after a refresh.
    func position(of slot: UInt32, _ kind: IndexKind) -> ListPosition {
        position(of: key(kind, slot, posts[slot], posts[slot].score))
    }

    /// Builds a missing index and refreshes the stale head; false when the budget is used up.
    mutating func prepare(
        _ kind: IndexKind,
        _ feed: FeedID?,
        _ budget: inout RefreshBudget
    ) -> Bool {
        if !indexes(feed)[kind].isBuilt {
            guard indexes(feed).postCount > 0 else { return true }
            guard !budget.isUsedUp else { return false }
            budget.charge(build(kind, feed))
            return true
        }
        guard staleHead.count > 0, kind.followsScore || unindexedCount > 0 else { return true }
        guard !budget.isUsedUp else { return false }
        budget.charge(refresh(includingTail: false))
        return true
    }

    /// Refreshes all posts that can be in an order; false when the budget is used up.
    mutating func refreshAll(_ kind: IndexKind, _ budget: inout RefreshBudget) -> Bool {
        let isFresh = staleTailCount == 0 || (!kind.followsScore && unindexedCount == 0)
        if isFresh && !job.isActive { return true }
        return refreshTail(&budget)
    }

    /// Refreshes the stale head and the stale tail; false when the budget is used up.
    mutating func refreshTail(_ budget: inout RefreshBudget) -> Bool {
        guard !budget.isUsedUp else { return false }
        budget.charge(refresh(includingTail: true))
        return true
    }

    /// Whether no post of the stale tail can belong before `key`; nil asks for the whole index.
    private func isExact(_ index: RankedIndex, _ kind: IndexKind, upTo key: RankKey?) -> Bool {
        if index.headBoundary == .lowest { return true }
        let isFresh = staleTailCount == 0 || (!kind.followsScore && unindexedCount == 0)
        if isFresh && !job.isActive { return true }
        guard let key else { return false }
        return index.headBoundary.covers(key)
    }

    /// The number of keys before the start of a walk.
    private func rank(_ walk: ListWalk, _ probe: RankKey?, _ index: RankedIndex) -> Int {
        guard let probe else { return walk.isDescending ? index.count : 0 }
        return index.position(of: probe, pool, posts).rank
    }

    /// The key just before which a walk begins; nil for an end of the list.
    private mutating func probe(_ walk: ListWalk) -> RankKey? {
        switch walk.start {
        case .end:
            return nil
        case .position(let position, let isIncluded):
            return probe(position, isBehind: walk.isDescending == isIncluded)
        case .entry(let entry):
            var title: [UInt8] = []
            if RankKey.titleDecides(entry.secondary) {
                appendTitle(of: entry, to: &title)
            }
            let position = ListPosition(
                primary: entry.primary,
                secondary: entry.secondary,
                id: entry.id,
                title: title
            )
            return probe(position, isBehind: !walk.isDescending)
        }
    }

    /// A key that lies just before a place of the list, or just behind it.
    private mutating func probe(_ position: ListPosition, isBehind: Bool) -> RankKey {
        posts.setProbeTitle(position.title.span)
        let bound = position.id.rawValue &+ (isBehind ? 1 : 0)
        var slot: UInt64 = 0
        if bound > number {
            slot = (bound - number - 1) >> stripeBits + 1
        }
        return RankKey(
            primary: position.primary,
            secondary: position.secondary,
            slot: UInt32(clamping: slot),
            isProbe: true
        )
    }

    private func position(of key: RankKey) -> ListPosition {
        let title = RankKey.titleDecides(key.secondary) ? posts[key.slot].content.titleBytes : []
        return ListPosition(
            primary: key.primary,
            secondary: key.secondary,
            id: id(key.slot),
            title: title
        )
    }
}
