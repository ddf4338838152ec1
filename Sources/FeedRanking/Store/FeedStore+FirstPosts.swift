/// Reads for those who watch posts: numbers only, so that many may look often.
extension FeedStore {
    /// Reads the first posts of a list; false when the allowance is used up.
    ///
    /// Each stripe's share is as of one moment, so no post comes twice and none is missed. O(stripes *
    /// log n + count * log stripes) plus the refresh.
    package func readFirstPosts(
        of feed: FeedID?,
        _ order: Order,
        _ window: Window?,
        count: Int,
        into first: inout FirstPosts,
        allowance: inout RefreshAllowance
    ) -> Bool {
        precondition(
            (1...RankingLimits.maximumPageSize).contains(count),
            "One to \(RankingLimits.maximumPageSize) posts are read, not \(count)."
        )
        // Before the first stripe: the stripes have every change of this revision.
        let revision = self.revision
        let walk = ListWalk(
            list: list(feed, order, window),
            isDescending: order == .old,
            start: .end,
            limit: count
        )
        guard first.merge.runAtOnce(walk, stripes, &allowance) else { return false }
        for entry in first.merge.chosen { prefetch(entry.id) }
        first.posts.removeAll(keepingCapacity: true)
        for entry in first.merge.chosen {
            // A post that was deleted since the merge is left out.
            if let numbers = numbers(of: entry.id) { first.posts.append(numbers) }
        }
        first.createdCount = createdCount(in: feed)
        first.revision = revision
        return true
    }

    /// The numbers of posts, nil for those that are gone; O(posts).
    package func readNumbers(of ids: [PostID], into numbers: inout [PostNumbers?]) {
        numbers.removeAll(keepingCapacity: true)
        for id in ids { prefetch(id) }
        for id in ids { numbers.append(self.numbers(of: id)) }
    }

    private func numbers(of id: PostID) -> PostNumbers? {
        stripes.withStripe(of: id) { stripe in
            stripe.liveSlot(id).map { PostNumbers(id, stripe.posts[$0]) }
        }
    }

    /// The posts that were created in a feed, or in all feeds for nil, since the start of the process.
    private func createdCount(in feed: FeedID?) -> UInt64 {
        var count: UInt64 = 0
        for number in 0..<stripes.count {
            count += stripes.withStripe(number) { $0.standing.indexes(feed).createdCount }
        }
        return count
    }
}
