import Synchronization

/// Votes.
extension FeedStore {
    /// Prefetches the record of a post that is about to be voted on; O(1), without a lock.
    ///
    /// A caller with several votes prefetches all of their posts before it casts the first. Then
    /// the waits for memory overlap. Any id is allowed.
    package func prefetch(_ id: PostID) {
        stripes.prefetch(id)
    }

    /// The weight of a vote that is cast now; O(1).
    package func voteWeight() -> VoteWeight { VoteWeight(milliseconds: clock.peek()) }

    /// Prefetches the number of a voter that is looked up soon by its user; O(1), without a lock.
    package func prefetchVoter(user: UInt64) {
        voters.prefetch(user: user)
    }

    /// Prefetches the place of a ballot that is about to be set; O(1), without a lock.
    ///
    /// Any id is allowed, also that of a post without ballots.
    package func prefetchBallot(of voter: VoterID, on id: PostID) {
        stripes.prefetchBallot(of: voter, on: id)
    }

    /// Casts a vote: in a tally it counts, in a ballot feed it sets the voter's ballot; O(1).
    ///
    /// A vote that equals the voter's ballot changes nothing and takes no revision; nor does a clear
    /// without a ballot. A clear needs no known voter, because a new voter has no ballot to clear.
    ///
    /// The weight is that of the moment; nil reads the store's clock.
    package func castVote(
        _ id: PostID,
        _ direction: VoteDirection,
        voter: VoterID? = nil,
        at weight: VoteWeight? = nil,
        sink: some ChangeSink = NoChanges()
    ) throws(RankingError) -> VoteOutcome {
        let caster = VoteCaster(voter: voter, weight: weight ?? voteWeight())
        return try stripes.withStripe(of: id) { (stripe) throws(RankingError) -> VoteOutcome in
            guard let slot = stripe.liveSlot(id) else { throw .postNotFound(id) }
            return try stripe.castVote(slot, direction, by: caster, counting: changes, to: sink)
        }
    }

    /// Casts each vote as `castVote` does, and notes its result; O(votes + stripes).
    ///
    /// The records of all posts, and a voter's ballots on them, are prefetched before the first vote is
    /// cast, so the waits for memory overlap. A stripe's lock is taken once for all of its votes. The
    /// votes on a post are cast in their order. The votes on posts of different stripes are cast in the
    /// order of the stripes.
    package func castVotes(
        _ votes: inout BatchedVotes,
        voter: VoterID? = nil,
        at weight: VoteWeight? = nil,
        sink: some ChangeSink = NoChanges()
    ) {
        let count = votes.count
        let caster = VoteCaster(voter: voter, weight: weight ?? voteWeight())
        votes.refusedCount = 0
        votes.refreshDue.removeAll(keepingCapacity: true)
        for item in 0..<count { prefetch(votes.entries[item].post) }
        if let voter {
            for item in 0..<count { prefetchBallot(of: voter, on: votes.entries[item].post) }
        }
        votes.groupByStripe(stripeCount: stripes.count)
        var first = 0
        while first < count {
            let number = stripes.number(of: votes.post(first))
            var end = first + 1
            while end < count, stripes.number(of: votes.post(end)) == number { end += 1 }
            stripes.withStripe(number) { stripe in
                let positions = first..<end
                stripe.castVotes(&votes, positions, by: caster, counting: changes, to: sink)
            }
            first = end
        }
    }
}

/// Posts.
extension FeedStore {
    /// Makes a post and appends it to a page; O(1).
    @discardableResult
    package func createPost(
        _ content: PostContent,
        in feed: FeedID,
        sink: some ChangeSink = NoChanges(),
        into page: inout PostPage
    ) throws(RankingError) -> WriteOutcome {
        guard let policy = feedTable.policy(of: feed) else { throw .feedNotFound(feed) }
        let id = PostID(rawValue: lastID.wrappingAdd(1, ordering: .relaxed).newValue)
        return insert(content, as: id, in: feed, policy.voteMode, to: sink) {
            record,
            stripe,
            slot in
            stripe.insert(record, at: slot)
            page.append(slot, of: &stripe, nil)
        }
    }

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
        var outcome = ImportOutcome(
            firstID: PostID(rawValue: firstID),
            revision: revision,
            refreshDue: []
        )
        for (index, post) in posts.enumerated() {
            let id = PostID(rawValue: firstID + UInt64(index))
            precondition(post.isPossible, "An imported post's numbers are checked before.")
            let time = post.createTimeMilliseconds
            let written = insert(
                post.content,
                as: id,
                in: feed,
                at: time,
                policy.voteMode,
                to: sink
            ) {
                record,
                stripe,
                slot in
                var record = record
                record.upvoteCount = post.upvoteCount
                record.downvoteCount = post.downvoteCount
                stripe.insert(record, at: slot)
            }
            outcome.revision = written.revision
            if written.refreshIsDue, !outcome.refreshDue.contains(where: { shareStripe($0, id) }) {
                outcome.refreshDue.append(id)
            }
        }
        return outcome
    }

    /// Makes the record of a new post, with the time of the clock unless it brings one; the body puts it
    /// into its slot.
    private func insert(
        _ content: PostContent,
        as id: PostID,
        in feed: FeedID,
        at time: Int64? = nil,
        _ voteMode: VoteMode,
        to sink: some ChangeSink,
        _ body: (PostRecord, inout Stripe, UInt32) -> Void
    ) -> WriteOutcome {
        countPost(textByteCount: content.textByteCount)
        return stripes.withStripe(of: id) { stripe in
            guard let slot = stripe.slots.slot(id) else {
                preconditionFailure("Ids beyond \(id.rawValue) need more stripes.")
            }
            let time = time ?? clock.now()
            let revision = changes.take(showing: feed)
            let record = PostRecord(
                content: ContentBlob(content, updateTimeMilliseconds: time, editRevision: revision),
                feed: feed,
                voteMode: voteMode,
                createTimeMilliseconds: time,
                revision: revision
            )
            body(record, &stripe, slot)
            if !sink.isNone { sink.append(stripe.state(slot, content)) }
            return WriteOutcome(revision: revision, refreshIsDue: stripe.refreshIsDue)
        }
    }

    /// Changes a post and appends it to a page; O(log n) an index for a title, else O(1).
    ///
    /// - Parameters:
    ///   - id: The post to change.
    ///   - changes: The fields to replace; even without a change the post takes a new revision.
    ///   - expectedRevision: A revision of the post or of the store, or 0 for any. The post's own
    ///     fields must not have changed since that revision; votes do not count.
    ///   - voter: The voter whose ballot the appended row shows.
    ///   - sink: The sink that takes the change.
    ///   - page: The page that the post is appended to.
    /// - Returns: The new revision.
    /// - Throws: If the post is not there, or not at the revision.
    @discardableResult
    package func updatePost(
        _ id: PostID,
        _ changes: PostChanges,
        expectedRevision: UInt64 = 0,
        voter: VoterID? = nil,
        sink: some ChangeSink = NoChanges(),
        into page: inout PostPage
    ) throws(RankingError) -> WriteOutcome {
        try stripes.withStripe(of: id) { (stripe) throws(RankingError) -> WriteOutcome in
            guard let slot = stripe.liveSlot(id) else { throw .postNotFound(id) }
            try check(expectedRevision, stripe.posts[slot])
            var content = stripe.posts[slot].content.content
            let byteCount = content.textByteCount
            content.apply(changes)
            liveTextByteCount.wrappingAdd(content.textByteCount - byteCount, ordering: .relaxed)
            let revision = self.changes.take(showing: stripe.posts[slot].feed)
            stripe.posts[slot].revision = revision
            stripe.replaceContent(
                slot,
                ContentBlob(content, updateTimeMilliseconds: clock.now(), editRevision: revision)
            )
            if !sink.isNone { sink.append(stripe.state(slot, content)) }
            page.append(slot, of: &stripe, voter)
            return WriteOutcome(revision: revision, refreshIsDue: stripe.refreshIsDue)
        }
    }

    /// Removes a post for good; a repeated removal is no error and takes no revision.
    ///
    /// O(log n) an index.
    @discardableResult
    package func deletePost(
        _ id: PostID,
        expectedRevision: UInt64 = 0,
        sink: some ChangeSink = NoChanges()
    ) throws(RankingError) -> WriteOutcome {
        let wasGiven = id.rawValue > 0 && id.rawValue <= lastID.load(ordering: .relaxed)
        guard wasGiven else { throw .postNotFound(id) }
        return try stripes.withStripe(of: id) {
            (stripe) throws(RankingError) -> WriteOutcome in
            guard let slot = stripe.liveSlot(id) else {
                return WriteOutcome(revision: revision, refreshIsDue: false)
            }
            try check(expectedRevision, stripe.posts[slot])
            let feed = stripe.posts[slot].feed
            uncountPost(textByteCount: stripe.textByteCount(slot))
            stripe.remove(slot)
            let revision = changes.take(showing: feed)
            stripe.tombstones.append(
                Tombstones.Tombstone(
                    revision: revision,
                    slot: slot,
                    feed: feed,
                    time: syncClock.now()
                ),
                limit: max(1, RankingLimits.maximumTombstoneCount / stripes.count)
            )
            sink.append(deletionOf: id, revision: revision)
            return WriteOutcome(revision: revision, refreshIsDue: stripe.refreshIsDue)
        }
    }

    /// Refuses a revision that is before the post's last edit, or that the store has not assigned.
    ///
    /// The revision may be the post's own or the state's. A caller that has read any state since
    /// the last edit knows the post's fields. The post's stripe is locked, so no edit comes
    /// between.
    private func check(_ expected: UInt64, _ record: PostRecord) throws(RankingError) {
        let edited = record.content.editRevision
        guard expected == 0 || (expected >= edited && expected <= revision) else {
            throw .revisionMismatch(expected: expected, actual: edited)
        }
    }
}

extension PostContent {
    /// Sets the new values and keeps the other fields.
    mutating func apply(_ changes: PostChanges) {
        title = changes.title ?? title
        text = changes.text ?? text
        linkURL = changes.linkURL ?? linkURL
        thumbnailURL = changes.thumbnailURL ?? thumbnailURL
        imageURL = changes.imageURL ?? imageURL
        commentCount = changes.commentCount ?? commentCount
    }
}

extension ImportedPost {
    /// Whether the numbers are within the limits.
    fileprivate var isPossible: Bool {
        (0...RankingLimits.maximumTimeMilliseconds).contains(createTimeMilliseconds)
            && max(upvoteCount, downvoteCount) <= RankingLimits.maximumImportedCount
    }
}
