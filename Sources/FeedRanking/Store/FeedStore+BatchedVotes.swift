extension FeedStore {
    /// Casts votes, each as `castVote` does, and notes what each left behind; O(votes + stripes).
    ///
    /// All posts are asked for before the first vote is cast, so the waits for memory overlap. A
    /// stripe's lock is taken once for all of its votes: the votes on a post are cast in their
    /// order, and those on posts of different stripes in the order of the stripes.
    package func castVotes(
        _ votes: inout BatchedVotes,
        voter: VoterID? = nil,
        log: EffectLog = .none
    ) {
        let count = votes.count
        votes.refusedCount = 0
        votes.settlingDue.removeAll(keepingCapacity: true)
        for item in 0..<count { prefetch(votes.entries[item].post) }
        votes.groupByStripe(stripeCount: stripes.count)
        var first = 0
        while first < count {
            let number = stripeNumber(votes.post(first))
            var end = first + 1
            while end < count, stripeNumber(votes.post(end)) == number { end += 1 }
            stripes.withStripe(number) { stripe in
                stripe.castVotes(&votes, first..<end, voter, revisions, log)
            }
            first = end
        }
    }
}
