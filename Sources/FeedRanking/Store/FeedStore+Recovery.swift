import Synchronization

/// A start puts back the state of earlier runs, change by change. One thread does this before any
/// other uses the store; a follower's goes on while others read (`FollowedLog`).
///
/// A change that is not newer than the store's state changes nothing. A deleted post is never
/// restored. The times of posts do not move the store's clock. New posts get the current time, even
/// where posts that are put back lie ahead of it.
extension FeedStore {
    /// Throws what `restore` would throw of a post's counts; any thread may call it.
    package func check(_ counts: PostCounts) throws(RecoveryError) { _ = try checkedSlot(counts) }

    /// Puts the votes of a post back; O(1).
    package func restore(_ counts: PostCounts) throws(RecoveryError) {
        let slot = try checkedSlot(counts)
        try raise(revision: counts.revision)
        stripes.withStripe(of: counts.id) { stripe in
            stripe.restore(counts, at: slot)
            show(slot, &stripe)
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
            show(slot, &stripe)
        }
        try raise(revision: counts.revision)
    }

    /// Puts a post back; O(its texts), save for the order of a new title or time.
    package func restore(_ post: PostState) throws(RecoveryError) {
        let slot = try check(post)
        let id = post.counts.id
        let mode = try voteMode(of: post)
        try stripes.withStripe(of: id) { (stripe) throws(RecoveryError) -> Void in
            let byteCount = stripe.liveTextByteCount(slot) ?? 0
            guard let isNew = stripe.restore(post, mode, at: slot) else {
                throw .badFeed(id, post.feed)
            }
            if followed.isFollowing { changes.show(post.feed) }
            // Who finds the post finds it counted.
            if isNew { livePostCount.wrappingAdd(1, ordering: .relaxed) }
            let growth = (stripe.liveTextByteCount(slot) ?? 0) - byteCount
            liveTextByteCount.wrappingAdd(growth, ordering: .relaxed)
        }
        try raise(revision: post.counts.revision)
        raise(lastID: id.rawValue)
    }

    /// Deletes a post again, also a post that is yet to come; O(log n) an index.
    package func restore(deletionOf id: PostID, revision: UInt64) throws(RecoveryError) {
        let slot = try slot(id)
        try raise(revision: revision)
        raise(lastID: id.rawValue)
        stripes.withStripe(of: id) { stripe in
            if let byteCount = stripe.liveTextByteCount(slot) {
                uncountPost(textByteCount: byteCount)
            }
            let feed = stripe.posts.contains(slot) ? stripe.posts[slot].feed : nil
            stripe.restoreDeletion(
                at: slot,
                revision: revision,
                syncClock.now(),
                keeping: followed.isFollowing ? tombstoneLimit : nil
            )
            if followed.isFollowing, let feed { changes.show(feed) }
        }
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
        let keepsEmpty = !followed.isFollowing
        let isGone = change.marks.isEmpty && stripes.origin(of: change.post) == nil
        marks.change(change.viewer) { $0.restore(change, isGone: isGone, keepsEmpty: keepsEmpty) }
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

    /// Counts a change that may show on a first page, as a vote does; its stripe is locked.
    @inline(__always)
    private func show(_ slot: UInt32, _ stripe: inout Stripe) {
        guard followed.isFollowing, stripe.posts.contains(slot),
            stripe.standing.mayShow(stripe.posts[slot])
        else { return }
        changes.show(stripe.posts[slot].feed)
    }

    /// No other thread writes meanwhile, so a load and a store suffice.
    private func raise(revision: UInt64) throws(RecoveryError) {
        guard revision <= RankingLimits.maximumRevision else { throw .badRevision(revision) }
        guard !followed.isFollowing else { return followed.raise(revision) }
        if revision > changes.revision {
            changes.restore(revision)
            unknownMarksRevision.store(revision, ordering: .relaxed)
            if !restoresDeletions.load(ordering: .relaxed) {
                unknownDeletionsRevision.store(revision, ordering: .relaxed)
            }
        }
    }

    private func raise(lastID id: UInt64) {
        if id > lastID.load(ordering: .relaxed) { lastID.store(id, ordering: .relaxed) }
    }

    // Posts whose times lie ahead of the clock, because a wrong clock has stamped them.

    /// The number of posts that were created or last edited after a time.
    ///
    /// O(posts), while a stripe is locked. The call is for a start, before other threads use the
    /// store.
    package func countPosts(after time: Int64) -> Int {
        var count = 0
        for number in 0..<stripes.count {
            count += stripes.withStripe(number) { $0.posts.count(after: time) }
        }
        return count
    }

    /// Finds posts that were created or last edited after a time, and corrects them if asked to.
    ///
    /// A correction replaces each of the two times that is after `bound`, and counts as an edit of
    /// the post. A repeated correction changes nothing more. O(`idCount`) plus the corrections,
    /// each O(its texts + log n an index).
    ///
    /// - Parameters:
    ///   - bound: The latest Unix time, in milliseconds, that is right.
    ///   - start: The id behind which the search begins.
    ///   - idCount: The most ids that are examined; above 0.
    ///   - postCount: The most posts that are found; above 0.
    ///   - textByteCount: The bytes of texts after which the search ends.
    ///   - correction: The time to set, at most `bound`; nil only finds the posts.
    ///   - sink: The sink that takes the change of corrections.
    /// - Returns: The posts found, and the id behind which the next search begins.
    package func postsAhead(
        of bound: Int64,
        behind start: PostID,
        idCount: UInt64,
        postCount: Int,
        textByteCount: Int = .max,
        correctingTo correction: Int64? = nil,
        sink: some ChangeSink = NoChanges()
    ) -> PostsAhead {
        precondition(
            correction.map { (0...bound).contains($0) } ?? true,
            "A corrected time is right itself, as its caller checks."
        )
        var found = PostsAhead()
        let last = lastID.load(ordering: .relaxed)
        var id = start.rawValue
        let end = last - min(id, last) > idCount ? id + idCount : last
        while id < end, found.posts.count < postCount, found.textByteCount < textByteCount {
            id += 1
            visit(PostID(rawValue: id), bound, correctingTo: correction, sink, into: &found)
        }
        if id < last { found.next = PostID(rawValue: id) }
        return found
    }

    /// A post that was found, the bytes of its texts, and the result of its correction.
    private typealias Seen = (PostAhead, Int, WriteOutcome?)

    /// Adds a post that lies ahead to the posts found, and corrects it where a time is given; O(1)
    /// plus the correction.
    private func visit(
        _ id: PostID,
        _ bound: Int64,
        correctingTo correction: Int64?,
        _ sink: some ChangeSink,
        into found: inout PostsAhead
    ) {
        // Few of the ids have such a post and a correction: most ids are only examined.
        let seen = stripes.withStripe(of: id) { stripe -> Seen? in
            guard let slot = stripe.liveSlot(id), stripe.posts.isAhead(slot, of: bound) else {
                return nil
            }
            let content = stripe.posts[slot].content.content
            let byteCount = stripe.textByteCount(slot)
            let post = PostAhead(
                id: id,
                feed: stripe.posts[slot].feed,
                title: content.title,
                createTimeMilliseconds: stripe.posts[slot].createTimeMilliseconds,
                updateTimeMilliseconds: stripe.posts[slot].content.updateTimeMilliseconds
            )
            guard let correction else { return (post, byteCount, nil) }
            let revision = changes.take(showing: post.feed)
            stripe.setTimes(
                slot,
                content,
                createTimeMilliseconds: post.createTimeMilliseconds > bound
                    ? correction : post.createTimeMilliseconds,
                updateTimeMilliseconds: post.updateTimeMilliseconds > bound
                    ? correction : post.updateTimeMilliseconds,
                revision: revision
            )
            if !sink.isNone { sink.append(stripe.state(slot, content)) }
            let written = WriteOutcome(revision: revision, refreshIsDue: stripe.refreshIsDue)
            return (post, byteCount, written)
        }
        guard let (post, byteCount, written) = seen else { return }
        found.posts.append(post)
        found.textByteCount += byteCount
        guard let written else { return }
        found.revision = max(found.revision, written.revision)
        if written.refreshIsDue, !found.refreshDue.contains(where: { shareStripe($0, id) }) {
            found.refreshDue.append(id)
        }
    }
}

extension StateHash {
    init(of store: FeedStore) {
        var hash = StateHash(seed: 1)
        for policy in store.feedTable.policies() { hash.add(policy) }
        let keys = store.voters.keys()
        hash.add(keys.values.reduce(0) { $0 &+ StateHash($1).value })
        var postSum: UInt64 = 0
        var ballotSum: UInt64 = 0
        for number in 0..<store.stripes.count {
            store.stripes.withStripe(number) { stripe in
                stripe.posts.forEachSlot { slot in
                    postSum &+= stripe.posts[slot].stateHash(stripe.slots.id(slot))
                }
                stripe.ballots.forEach(stripe.posts) { slot, voter, direction in
                    var hash = StateHash(keys, voter)
                    hash.add(stripe.slots.id(slot).rawValue)
                    hash.add(UInt64(direction.rawValue))
                    ballotSum &+= hash.value
                }
            }
        }
        hash.add(postSum)
        hash.add(ballotSum)
        var markSum: UInt64 = 0
        store.marks.forEachViewer { viewer, marks in
            markSum &+= marks.stateHash(StateHash(keys, viewer))
        }
        // A state without marks has the hash of versions without them.
        if markSum != 0 { hash.add(markSum) }
        self = hash
    }

    /// A voter, who is identified by the number where nobody has it.
    private init(_ keys: [VoterID: VoterKey], _ voter: VoterID) {
        let number = Device16(high: .max, low: UInt64(voter.rawValue))
        self.init(keys[voter] ?? .device(number))
    }

    private init(_ key: VoterKey) {
        switch key {
        case .device(let device):
            self.init(seed: 2)
            add(device.high)
            add(device.low)
        case .user(let user):
            self.init(seed: 4)
            add(user)
        }
    }

    private mutating func add(_ policy: FeedPolicy) {
        add(policy.name)
        add(UInt64(policy.defaultOrder.rawValue))
        add(UInt64(policy.voteMode.rawValue))
        add(UInt64(bitPattern: Int64(policy.maximumTitleCharacterCount)))
        add(UInt64(bitPattern: Int64(policy.minimumTextCharacterCount)))
        add(UInt64(bitPattern: Int64(policy.maximumTextCharacterCount)))
    }
}

extension PostRecord {
    /// The hash of a post with every field.
    fileprivate func stateHash(_ id: PostID) -> UInt64 {
        var hash = StateHash(seed: 3)
        hash.add(id.rawValue)
        hash.add(upvoteCount)
        hash.add(downvoteCount)
        hash.add(revision)
        hash.add(UInt64(feed.rawValue))
        hash.add(flags.contains(.keepsBallots) ? 1 : 0)
        hash.add(UInt64(bitPattern: createTimeMilliseconds))
        // Posts without a vote that is up have the hash of versions without the sum.
        if !risingSum.isInitial { hash.add(risingSum.rawValue) }
        content.add(to: &hash)
        return hash.value
    }
}

extension ViewerMarks {
    /// The sum of the hashes of all marks that say something, each begun with the viewer's.
    fileprivate func stateHash(_ viewer: StateHash) -> UInt64 {
        var sum: UInt64 = 0
        for (id, onPost) in posts where !onPost.marks.isEmpty {
            var hash = viewer
            hash.add(id.rawValue)
            hash.add(UInt64(onPost.marks.rawValue))
            hash.add(onPost.revision)
            sum &+= hash.value
        }
        for steps in steps.values {
            for step in steps.reading.standing + steps.dismissal.standing {
                var hash = viewer
                hash.add(step.feed.map { UInt64($0.rawValue) + 1 } ?? 0)
                hash.add(UInt64(step.mark.rawValue))
                hash.add(UInt64(bitPattern: step.createTimeMilliseconds))
                hash.add(step.post.rawValue)
                hash.add(step.revision)
                sum &+= hash.value
            }
        }
        return sum
    }
}

extension PostTable {
    /// The number of posts that were created or last edited after a time; O(posts).
    fileprivate func count(after time: Int64) -> Int {
        var count = 0
        forEachSlot { slot in
            if isAhead(slot, of: time) { count += 1 }
        }
        return count
    }

    /// Whether a post was created or last edited after a time; O(1).
    fileprivate func isAhead(_ slot: UInt32, of time: Int64) -> Bool {
        self[slot].createTimeMilliseconds > time
            || self[slot].content.updateTimeMilliseconds > time
    }
}
