import Synchronization

extension FeedStore {
    /// Makes posts from another system, with consecutive ids in their order; O(1) a post.
    ///
    /// The posts bring their own times. The store's clock does not bound these times, and they do
    /// not move it. Each post is in every order as soon as it can be found at all. The posts of one
    /// import join one by one.
    @discardableResult
    package func importPosts(
        _ posts: [ImportedPost],
        in feed: FeedID,
        sink: some ChangeSink = NoChanges()
    ) throws(RankingError) -> ImportOutcome {
        guard let policy = feedTable.policy(of: feed) else { throw .feedNotFound(feed) }
        let count = UInt64(posts.count)
        let firstID = lastID.wrappingAdd(count, ordering: .relaxed).oldValue + 1
        livePostCount.wrappingAdd(count, ordering: .relaxed)
        var outcome = ImportOutcome(
            firstID: PostID(rawValue: firstID),
            revision: revision,
            refreshDue: []
        )
        for (index, post) in posts.enumerated() {
            let id = PostID(rawValue: firstID + UInt64(index))
            let written = insert(post, id, feed, policy.voteMode, sink)
            outcome.revision = written.revision
            if written.refreshIsDue, !outcome.refreshDue.contains(where: { shareStripe($0, id) }) {
                outcome.refreshDue.append(id)
            }
        }
        return outcome
    }

    private func insert(
        _ post: ImportedPost,
        _ id: PostID,
        _ feed: FeedID,
        _ voteMode: VoteMode,
        _ sink: some ChangeSink
    ) -> WriteOutcome {
        precondition(
            (0...RankingLimits.maximumTimeMilliseconds).contains(post.createTimeMilliseconds)
                && max(post.upvoteCount, post.downvoteCount) <= RankingLimits.maximumImportedCount,
            "An imported post's numbers are checked before."
        )
        return stripes.withStripe(stripeNumber(id)) { stripe in
            guard let slot = stripe.slots.slot(id) else {
                preconditionFailure("Ids beyond \(id.rawValue) need more stripes.")
            }
            let revision = takeRevision()
            var record = PostRecord(
                content: ContentBlob(
                    post.content,
                    updateTimeMilliseconds: post.createTimeMilliseconds,
                    editRevision: revision
                ),
                feed: feed,
                voteMode: voteMode,
                createTimeMilliseconds: post.createTimeMilliseconds,
                revision: revision
            )
            record.upvoteCount = post.upvoteCount
            record.downvoteCount = post.downvoteCount
            stripe.insert(record, at: slot)
            if !sink.isNone { sink.append(stripe.state(slot, post.content)) }
            return WriteOutcome(revision: revision, refreshIsDue: stripe.refreshIsDue)
        }
    }
}
