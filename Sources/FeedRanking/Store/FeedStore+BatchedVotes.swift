extension FeedStore {
    /// Casts each vote as `castVote` does, and notes its result; O(votes + stripes).
    ///
    /// The records of all posts are prefetched before the first vote is cast, so the waits for
    /// memory overlap. A stripe's lock is taken once for all of its votes. The votes on a post are
    /// cast in their order. The votes on posts of different stripes are cast in the order of the
    /// stripes.
    package func castVotes(
        _ votes: inout BatchedVotes,
        voter: VoterID? = nil,
        sink: some ChangeSink = NoChanges()
    ) {
        let count = votes.count
        votes.refusedCount = 0
        votes.refreshDue.removeAll(keepingCapacity: true)
        for item in 0..<count { prefetch(votes.entries[item].post) }
        votes.groupByStripe(stripeCount: stripes.count)
        var first = 0
        while first < count {
            let number = stripeNumber(votes.post(first))
            var end = first + 1
            while end < count, stripeNumber(votes.post(end)) == number { end += 1 }
            stripes.withStripe(number) { stripe in
                stripe.castVotes(&votes, first..<end, voter, revisions, sink)
            }
            first = end
        }
    }
}
