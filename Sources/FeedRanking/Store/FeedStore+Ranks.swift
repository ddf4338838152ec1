extension FeedStore {
    /// The rank of a post in its own feed; O(stripes * log n) beside settling.
    package func rank(
        of id: PostID,
        order: Order,
        budget: inout SettlingBudget
    ) throws(RankingError) -> RankOutcome {
        guard let place = place(of: id, IndexKind(order)) else { throw .postNotFound(id) }
        let counted = count(before: place.position, IndexKind(order), place.feed, &budget)
        guard let counted else { return .again }
        let total = UInt64(counted.postCount)
        let before = UInt64(counted.skippedCount)
        // What a walk backwards meets first ranks first. The post may have gone since: rank it 1.
        let rank = order == .old ? total - min(before, total) : before + 1
        return .done(rank: max(rank, 1), total: total)
    }

    /// Where a post stands in an order, and in which feed; nil where it does not live.
    func place(of id: PostID, _ kind: IndexKind) -> (position: ListPosition, feed: FeedID)? {
        stripes.withStripe(stripeNumber(id)) { stripe in
            guard let slot = stripe.liveSlot(id) else { return nil }
            return (stripe.position(of: slot, kind), stripe.posts[slot].feed)
        }
    }

    /// The posts of a list before a place, and all of them; nil when the budget is used up.
    func count(
        before position: ListPosition,
        _ kind: IndexKind,
        _ feed: FeedID?,
        _ budget: inout SettlingBudget
    ) -> WalkSummary? {
        var sum = WalkSummary()
        for number in 0..<stripes.count {
            let counted = stripes.withStripe(number) { stripe in
                stripe.countBefore(position, kind, feed, &budget)
            }
            guard let counted else { return nil }
            sum.postCount += counted.postCount
            sum.skippedCount += counted.skippedCount
        }
        return sum
    }
}
