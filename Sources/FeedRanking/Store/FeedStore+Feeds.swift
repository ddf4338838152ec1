extension FeedStore {
    /// Adds a feed, whose policy never changes again; O(1).
    package func createFeed(
        _ policy: FeedPolicy,
        sink: some ChangeSink = NoChanges()
    ) throws(RankingError) -> FeedID {
        try feedTable.create(policy, sink)
    }

    /// The feed of a name; O(1).
    package func feed(named name: String) -> FeedID? {
        feedTable.feed(named: name)
    }

    /// The rules of a feed; nil where there is no such feed.
    ///
    /// O(1).
    package func policy(of feed: FeedID) -> FeedPolicy? {
        feedTable.policy(of: feed)
    }

    /// All feeds in the order of their creation; O(feeds * stripes).
    package func feeds() -> [FeedSummary] {
        var summaries: [FeedSummary] = []
        for (number, policy) in feedTable.policies().enumerated() {
            let id = FeedID(rawValue: UInt32(number))
            summaries.append(FeedSummary(id: id, policy: policy, postCount: 0))
        }
        for stripe in 0..<stripes.count {
            stripes.withStripe(stripe) { stripe in
                for number in summaries.indices {
                    let count = stripe.orders.indexes(summaries[number].id).postCount
                    summaries[number].postCount += UInt64(count)
                }
            }
        }
        return summaries
    }
}
