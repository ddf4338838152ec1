/// Where a walk through an index begins.
enum WalkStart {
    /// At the end the walk comes from.
    case end
    /// At a place, with the post there or without it.
    case position(ListPosition, isIncluded: Bool)
    /// Behind a post that an earlier part of the walk collected.
    case entry(MergeEntry)
}

/// A part of a walk through one order of one list.
struct ListWalk {
    /// The list of a feed, or of all feeds for nil.
    var feed: FeedID?
    /// The index that is walked.
    var kind: IndexKind
    /// Against the order of the keys.
    var isDescending: Bool
    /// Where the walk begins.
    var start: WalkStart
    /// The entries it ends after.
    var limit: Int
}

/// What a walk saw in a stripe beside the entries it collected.
struct WalkSummary {
    /// The posts of the list.
    var postCount = 0
    /// The posts of the list that come before the place where the walk began.
    var skippedCount = 0
}

extension Stripe {
    /// Appends the next entries of a walk, exact as of now; nil when the budget is used up.
    ///
    /// O(log n + limit) beside settling, which leaves out what lies behind the index's floor as
    /// long as the walk stays before it.
    mutating func collect(
        _ walk: ListWalk,
        into entries: inout [MergeEntry],
        _ budget: inout SettlingBudget
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
            guard settleFar(&budget) else { return nil }
            entries.removeLast(entries.count - firstEntry)
        }
    }

    /// How many posts of a list come before a place, and how many there are; nil when the budget is
    /// used up.
    ///
    /// O(log n) beside settling.
    mutating func countBefore(
        _ position: ListPosition,
        _ kind: IndexKind,
        _ feed: FeedID?,
        _ budget: inout SettlingBudget
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
            guard settleFar(&budget) else { return nil }
        }
    }

    /// The place of the post at a rank of this stripe's share of a list; all must be settled.
    mutating func position(
        atRank rank: Int,
        _ kind: IndexKind,
        _ feed: FeedID?
    ) -> ListPosition? {
        // Another thread may have begun one since.
        _ = finishJob()
        let index = indexes(feed)[kind]
        guard rank <= index.count else { return nil }
        guard let key = index.key(at: index.position(atRank: rank, pool), pool) else { return nil }
        return position(of: key)
    }

    /// The place a post has in an order, or will have once it is settled.
    func position(of slot: UInt32, _ kind: IndexKind) -> ListPosition {
        position(of: key(kind, slot, posts[slot], posts[slot].score))
    }

    /// Builds the index where it is missing and settles what is near; false when the budget is
    /// used up.
    mutating func prepare(
        _ kind: IndexKind,
        _ feed: FeedID?,
        _ budget: inout SettlingBudget
    ) -> Bool {
        if !indexes(feed)[kind].isBuilt {
            guard indexes(feed).postCount > 0 else { return true }
            guard !budget.isUsedUp else { return false }
            budget.charge(build(kind, feed))
            return true
        }
        guard near.count > 0, kind.followsScore || unindexedCount > 0 else { return true }
        guard !budget.isUsedUp else { return false }
        budget.charge(settle(includingFar: false))
        return true
    }

    /// Settles what can be in an order; false when the budget is used up.
    mutating func settleAll(_ kind: IndexKind, _ budget: inout SettlingBudget) -> Bool {
        let isSettled = farCount == 0 || (!kind.followsScore && unindexedCount == 0)
        if isSettled && !job.isActive { return true }
        return settleFar(&budget)
    }

    /// Settles everything; false when the budget is used up.
    mutating func settleFar(_ budget: inout SettlingBudget) -> Bool {
        guard !budget.isUsedUp else { return false }
        budget.charge(settle(includingFar: true))
        return true
    }

    /// Whether no far post can belong before `key`; nil asks for the whole index.
    private func isExact(_ index: RankedIndex, _ kind: IndexKind, upTo key: RankKey?) -> Bool {
        if index.floor == .lowest { return true }
        let isSettled = farCount == 0 || (!kind.followsScore && unindexedCount == 0)
        if isSettled && !job.isActive { return true }
        guard let key else { return false }
        return index.floor.covers(key)
    }

    /// How many keys come before the place where a walk begins.
    private func rank(_ walk: ListWalk, _ probe: RankKey?, _ index: RankedIndex) -> Int {
        guard let probe else { return walk.isDescending ? index.count : 0 }
        return index.position(of: probe, pool, posts).rank
    }

    /// The key just before which a walk begins; nil for an end.
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
