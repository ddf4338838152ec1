/// Reads of a stripe's lists: of the indexes of its orders, or of its side lists.
extension Stripe {
    /// Appends the next entries of a walk, exact as of now; nil when the allowance is used up.
    ///
    /// O(log n + limit) plus the refresh.
    mutating func collect(
        _ walk: ListWalk,
        into entries: inout [MergeEntry],
        _ allowance: inout RefreshAllowance
    ) -> WalkSummary? {
        if let index = walk.list.index {
            return orders.collect(walk, index, into: &entries, &allowance, &posts)
        }
        let count = orders.indexes(walk.list.feed).postCount
        return sides.collect(walk, of: count, orders, into: &entries, &allowance, &posts)
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
        if let index = list.index {
            return orders.countBefore(position, index, list.feed, &allowance, &posts)
        }
        let count = orders.indexes(list.feed).postCount
        return sides.countBefore(position, list, of: count, orders, &allowance, &posts)
    }

    /// Refreshes all posts of a list; returns their number, and nil when the allowance is used up.
    mutating func refreshAll(_ list: ListID, _ allowance: inout RefreshAllowance) -> Int? {
        let count = orders.indexes(list.feed).postCount
        guard let index = list.index else {
            return sides.refreshAll(list, of: count, orders, &allowance, &posts)
        }
        guard orders.prepare(index, list.feed, &allowance, &posts),
            orders.refreshAll(index, &allowance, &posts)
        else { return nil }
        return count
    }

    /// The place of the post at a rank of the stripe's share of a list; all must be refreshed.
    mutating func position(atRank rank: Int, _ list: ListID) -> ListPosition? {
        guard let index = list.index else {
            return sides.position(atRank: rank, list, slots, posts)
        }
        return orders.position(atRank: rank, index, list.feed, posts)
    }
}
