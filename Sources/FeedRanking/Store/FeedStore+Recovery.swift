import Synchronization

/// A start puts back the state of earlier runs, change by change. One thread does this before any
/// other uses the store.
///
/// A change that is not newer than the store's state changes nothing. A deleted post is never
/// restored. The times of posts do not move the store's clock. New posts get the current time, even
/// where posts that are put back lie ahead of it.
extension FeedStore {
    /// Throws what `restore` would throw of a post's counts; any thread may call it.
    package func check(_ counts: PostCounts) throws(RecoveryError) {
        _ = try checkedSlot(counts)
    }

    /// Puts the votes of a post back; O(1).
    package func restore(_ counts: PostCounts) throws(RecoveryError) {
        let slot = try checkedSlot(counts)
        try raise(revision: counts.revision)
        stripes.withStripe(of: counts.id) { stripe in
            stripe.restore(counts, at: slot)
        }
    }

    /// Puts a ballot back, nil where it was taken back, and the votes with it; O(1).
    ///
    /// A post that is loaded has the votes of its ballots. The ballots are loaded at the post's own
    /// revision. A ballot of an older revision is ignored. So a caller that stores posts and ballots
    /// writes a post's ballots before its counts, or together with them.
    package func restore(
        _ counts: PostCounts,
        _ voter: VoterID,
        _ direction: VoteDirection?
    ) throws(RecoveryError) {
        let slot = try checkedSlot(counts)
        guard voter.isAssignable else { throw .badVoter(voter) }
        guard direction != .clear else { throw .badBallot(counts.id) }
        try stripes.withStripe(of: counts.id) { (stripe) throws(RecoveryError) -> Void in
            guard stripe.restore(counts, voter, direction, at: slot) else {
                throw .badBallot(counts.id)
            }
        }
        try raise(revision: counts.revision)
    }

    /// Puts a post back; O(its texts), save for the order of a new title or time.
    package func restore(_ post: PostState) throws(RecoveryError) {
        let slot = try check(post)
        let id = post.counts.id
        let mode = try voteMode(of: post)
        let (isNew, growth) = try stripes.withStripe(of: id) { (stripe) throws(RecoveryError) in
            let byteCount = stripe.liveTextByteCount(slot) ?? 0
            guard let isNew = stripe.restore(post, mode, at: slot) else {
                throw .badFeed(id, post.feed)
            }
            return (isNew, (stripe.liveTextByteCount(slot) ?? 0) - byteCount)
        }
        try raise(revision: post.counts.revision)
        raise(lastID: id.rawValue)
        if isNew { livePostCount.wrappingAdd(1, ordering: .relaxed) }
        liveTextByteCount.wrappingAdd(growth, ordering: .relaxed)
    }

    /// Deletes a post again, also a post that is yet to come; O(log n) an index.
    package func restore(deletionOf id: PostID, revision: UInt64) throws(RecoveryError) {
        let slot = try slot(id)
        try raise(revision: revision)
        raise(lastID: id.rawValue)
        let byteCount = stripes.withStripe(of: id) { stripe in
            let byteCount = stripe.liveTextByteCount(slot)
            stripe.restoreDeletion(at: slot, revision: revision, syncClock.now())
            return byteCount
        }
        if let byteCount { uncountPost(textByteCount: byteCount) }
    }

    /// Notes that every deletion above a revision is put back: those that have been, and those that
    /// follow; O(1).
    package func restore(deletionsKnownSince revision: UInt64) {
        restoresDeletions.store(true, ordering: .relaxed)
        unknownDeletionsRevision.store(revision, ordering: .relaxed)
    }

    /// Puts a feed back, also in the place of a built-in one; O(1).
    package func restore(_ feed: FeedID, _ policy: FeedPolicy) throws(RecoveryError) {
        try feedTable.restore(feed, policy)
    }

    /// Puts a device back that votes; O(1).
    package func restore(_ voter: VoterID, _ device: Device16) throws(RecoveryError) {
        try voters.restore(voter, device)
    }

    /// Puts a user back that votes; O(1).
    package func restore(_ voter: VoterID, user: UInt64) throws(RecoveryError) {
        try voters.restore(voter, user: user)
    }

    /// Puts a viewer's marks on a post back, which may be empty; O(1).
    ///
    /// The post may be missing: a sweep forgets the marks of posts that are gone.
    package func restore(_ change: PostMarks) throws(RecoveryError) {
        guard change.marks.isPossible else { throw .badMark(change.viewer) }
        try raise(revision: change.revision)
        marks.change(change.viewer) { $0.restore(change) }
    }

    /// Puts a viewer's mark through a post back; O(1).
    package func restore(_ step: MarkThrough) throws(RecoveryError) {
        guard Int(step.place) < RankingLimits.maximumMarkStepCount else {
            throw .badMark(step.viewer)
        }
        try raise(revision: step.revision)
        marks.change(step.viewer) { $0.restore(step) }
    }

    /// Makes the latest id and the latest revision at least these; O(1).
    package func restore(lastID id: UInt64, revision: UInt64) throws(RecoveryError) {
        if id > 0 { _ = try slot(PostID(rawValue: id)) }
        try raise(revision: revision)
        raise(lastID: id)
    }

    /// A hash of all state that `restore` puts back; stores that answer alike have equal hashes.
    ///
    /// No thread may write meanwhile. The hash covers the feeds and their rules, each post with
    /// every field, the ballots and the marks by voter, and the devices and users that vote. It does not
    /// cover the counters, the numbers of voters, the indexed scores, or marks that newer ones through
    /// posts of their list have ended. The hashes of posts, ballots, marks and voters are added up, so
    /// neither their order nor the count of stripes matters. O(feeds + posts + ballots + marks + voters).
    package func stateHash() -> UInt64 { StateHash(of: self).value }

    /// Calls the body with each live post, in no order; O(posts), while a stripe is locked.
    ///
    /// The body must not call the store.
    package func forEachPost(_ body: (PostState) -> Void) {
        for number in 0..<stripes.count {
            stripes.withStripe(number) { stripe in
                stripe.posts.forEachSlot { slot in body(stripe.state(slot)) }
            }
        }
    }

    /// Checks for values that would trap, or that no store can have.
    private func check(_ post: PostState) throws(RecoveryError) -> UInt32 {
        let counts = post.counts
        let slot = try checkedSlot(counts)
        guard post.editRevision <= counts.revision else { throw .badEditRevision(counts.id) }
        try check(post.createTimeMilliseconds, of: counts.id)
        try check(post.updateTimeMilliseconds, of: counts.id)
        let content = post.content
        guard let byteCount = content.excessiveByteCount else { return slot }
        throw .textTooLong(counts.id, byteCount: byteCount)
    }

    /// The vote mode of a post, which the post's own fields tell in part.
    ///
    /// A built-in feed may be replaced after its posts came, so the post decides between a tally and
    /// ballots.
    private func voteMode(of post: PostState) throws(RecoveryError) -> VoteMode {
        guard let policy = feedTable.policy(of: post.feed) else {
            throw .badFeed(post.counts.id, post.feed)
        }
        guard post.keepsBallots else { return .tally }
        return policy.voteMode == .userBallot ? .userBallot : .ballot
    }

    private func check(_ time: Int64, of id: PostID) throws(RecoveryError) {
        guard (0...RankingLimits.maximumTimeMilliseconds).contains(time) else {
            throw .badTime(id, milliseconds: time)
        }
    }

    private func checkedSlot(_ counts: PostCounts) throws(RecoveryError) -> UInt32 {
        // Nobody can cast as many votes as an import may bring.
        let limit = 2 * RankingLimits.maximumImportedCount
        let count = max(counts.upvoteCount, counts.downvoteCount)
        guard count <= limit else { throw .badCount(counts.id, count) }
        guard counts.revision <= RankingLimits.maximumRevision else {
            throw .badRevision(counts.revision)
        }
        return try slot(counts.id)
    }

    private func slot(_ id: PostID) throws(RecoveryError) -> UInt32 {
        guard id.rawValue > 0, let slot = UInt32(exactly: id.rawValue >> stripes.stripeBits) else {
            throw .badPostID(id.rawValue)
        }
        return slot
    }

    /// No other thread writes meanwhile, so a load and a store suffice.
    private func raise(revision: UInt64) throws(RecoveryError) {
        guard revision <= RankingLimits.maximumRevision else { throw .badRevision(revision) }
        if revision > changes.revision {
            changes.restore(revision)
            if !restoresDeletions.load(ordering: .relaxed) {
                unknownDeletionsRevision.store(revision, ordering: .relaxed)
            }
        }
    }

    private func raise(lastID id: UInt64) {
        if id > lastID.load(ordering: .relaxed) { lastID.store(id, ordering: .relaxed) }
    }
}

extension PostContent {
    /// The bytes of a text that no post can have; nil where all fit.
    fileprivate var excessiveByteCount: Int? {
        let textCount = text.utf8.count
        if textCount > RankingLimits.maximumTextByteCount { return textCount }
        let longest = max(
            max(authorName.utf8.count, title.utf8.count),
            max(linkURL.utf8.count, max(thumbnailURL.utf8.count, imageURL.utf8.count))
        )
        return longest > RankingLimits.maximumFieldByteCount ? longest : nil
    }
}
