extension FeedStore {
    /// The rank of a post in its own feed; O(stripes * log n) plus the refresh.
    package func rank(
        of id: PostID,
        order: Order,
        budget: inout RefreshBudget
    ) throws(RankingError) -> RankOutcome {
        guard let place = place(of: id, IndexKind(order)) else { throw .postNotFound(id) }
        let counted = count(before: place.position, IndexKind(order), place.feed, &budget)
        guard let counted else { return .again }
        let total = UInt64(counted.postCount)
        let before = UInt64(counted.skippedCount)
        // The last key of the index ranks first in OLD. A post that is gone by now ranks 1.
        let rank = order == .old ? total - min(before, total) : before + 1
        return .done(rank: max(rank, 1), total: total)
    }

    /// The place of a post in an order, and its feed; nil where the post is not live.
    func place(of id: PostID, _ kind: IndexKind) -> (position: ListPosition, feed: FeedID)? {
        stripes.withStripe(stripeNumber(id)) { stripe in
            guard let slot = stripe.liveSlot(id) else { return nil }
            return (stripe.orders.position(of: slot, kind, stripe.posts), stripe.posts[slot].feed)
        }
    }

    /// The number of posts before a place of a list, and of all its posts; nil when the budget is
    /// used up.
    func count(
        before position: ListPosition,
        _ kind: IndexKind,
        _ feed: FeedID?,
        _ budget: inout RefreshBudget
    ) -> WalkSummary? {
        var sum = WalkSummary()
        for number in 0..<stripes.count {
            let counted = stripes.withStripe(number) { stripe in
                stripe.orders.countBefore(position, kind, feed, &budget, &stripe.posts)
            }
            guard let counted else { return nil }
            sum.postCount += counted.postCount
            sum.skippedCount += counted.skippedCount
        }
        return sum
    }
}
