extension FeedStore {
    /// Asks for the memory of a post that is about to be voted on; O(1), without a lock.
    ///
    /// Who has several votes at hand asks for all before it casts the first: then they wait for
    /// memory once instead of one after another. Any id may be asked for.
    package func prefetch(_ id: PostID) {
        guard let slot = UInt32(exactly: id.rawValue >> stripeBits) else { return }
        stripes.prefetch(stripeNumber(id), slot)
    }

    /// Casts a vote: in a tally it counts, in a ballot feed it sets the voter's ballot; O(1).
    ///
    /// A ballot that stands already, or the clearing of none, changes nothing and takes no
    /// revision. A clear needs no known voter: a new one has no ballot to clear.
    package func castVote(
        _ id: PostID,
        _ direction: VoteDirection,
        voter: VoterID? = nil,
        sink: some ChangeSink = NoChanges()
    ) throws(RankingError) -> VoteOutcome {
        try stripes.withStripe(stripeNumber(id)) { (stripe) throws(RankingError) -> VoteOutcome in
            guard let slot = stripe.liveSlot(id) else { throw .postNotFound(id) }
            return try stripe.castVote(slot, direction, voter, revisions, sink)
        }
    }
}
