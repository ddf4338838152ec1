import Synchronization

/// The posts of all feeds with their votes and their orders, for any number of threads.
///
/// The low bits of a post's id choose its stripe. Each stripe is behind its lock, and a thread
/// holds at most one stripe's lock. Pages and ranks are exact: they show every vote that was
/// applied before they were read.
///
/// Threads share the following. A vote takes its stripe's lock and the revision counter. A create,
/// an import, an update or a delete takes the same, and the id counter, the count of posts, the
/// clock's latest time or the feeds' lock, each for an instant. A read takes the stripes' locks one
/// after another, and the feeds' lock once. A first ballot and a lookup of a device take the voters'
/// lock.
///
/// The time of a created post is read under the lock of its stripe. While the clock does not go
/// back, the times of a stripe do not go back either. Over all stripes a later id may carry the
/// same time, but never a time before a create that had ended. An imported post brings its time, a
/// clock may be set back, and times are corrected. So no order relies on times that rise with ids.
package final class FeedStore: Sendable {
    let stripes: StripeSlab
    /// The clock that gives the times of creations and changes.
    let clock: CreationClock
    /// The clock that ends the windows of lists.
    let windowClock: WindowClock
    /// The clock that ends the time for which deletions are kept.
    let syncClock: CreationClock
    /// The revision of the latest write, and how often first pages may have changed.
    let changes = ChangeCounts()
    /// The revision up to which deletions are unknown, because an earlier run made them.
    let unknownDeletionsRevision = Atomic<UInt64>(0)
    /// The revision up to which marks that were taken back are unknown, because an earlier run did that.
    let unknownMarksRevision = Atomic<UInt64>(0)
    /// What a follower's readers have not been shown yet.
    let followed = FollowedLog()
    /// Whether recovery brings the deletions of earlier runs.
    let restoresDeletions = Atomic<Bool>(false)
    /// The latest id assigned; no id is assigned twice.
    let lastID = Atomic<UInt64>(0)
    /// The number of live posts, kept here so that a reader of it visits no stripe.
    let livePostCount = Atomic<UInt64>(0)
    let liveTextByteCount = Atomic<Int>(0)
    let feedTable = FeedTable()
    /// The devices and users that hold ballots.
    let voters = VoterTable()
    let marks = MarkTable()
    /// The lists at earlier moments, for stable pages.
    let snapshots = SnapshotTable()

    /// Makes a store with the feeds `posts` and `tweets`.
    ///
    /// There is a power of two of stripes; more let more threads vote at once. The clock gives Unix
    /// milliseconds. Where it goes back by up to `RankingLimits.maximumClockHold`, the time of new posts
    /// stands still until the clock has caught up. Where it goes back by more, the time of new posts goes
    /// back too.
    package init(
        stripeCount: Int,
        pace: RefreshPace = RefreshPace(),
        clock: @escaping @Sendable () -> Int64
    ) {
        stripes = StripeSlab(count: stripeCount, pace: pace)
        self.clock = CreationClock(clock)
        windowClock = WindowClock(clock)
        syncClock = CreationClock(clock)
        for policy in FeedTable.builtIn {
            do {
                _ = try feedTable.create(policy, NoChanges())
            } catch {
                preconditionFailure("A new store cannot have its first feeds: \(error)")
            }
        }
    }

    /// The latest revision that readers may be shown: what answers carry, and `min_revision` compares with.
    ///
    /// A follower's is as of the last whole record of the log (`showRecord(at:)`).
    package var revision: UInt64 { changes.revision }

    /// The highest id assigned; 0 before the first.
    package var highestID: UInt64 { lastID.load(ordering: .relaxed) }

    package var postCount: UInt64 { livePostCount.load(ordering: .relaxed) }

    /// The memory that the live posts take, about: their texts and so much for each beside them.
    package var postByteCount: Int {
        liveTextByteCount.load(ordering: .relaxed)
            + Int(postCount) * RankingLimits.postOverheadByteCount
    }

    /// How often a stripe's lock was found taken.
    package var contentionCount: UInt64 { stripes.contentionCount }

    /// The voter for a user or a device, a new one on first sight; O(1).
    package func voter(
        for key: VoterKey,
        sink: some ChangeSink = NoChanges()
    ) throws(RankingError) -> VoterID {
        try voters.voter(key, sink)
    }

    /// The voter for a user or a device that has been made a voter before; O(1), for users without a
    /// lock.
    package func voter(ifKnown key: VoterKey) -> VoterID? { voters.voter(ifKnown: key) }

    /// Refreshes stale posts of a post's stripe for a millisecond or so.
    ///
    /// A write asks for this call with `refreshIsDue`. While stale posts are left, further writes
    /// to the stripe ask again. The call does nothing where other calls have done the work since.
    package func refresh(stripeOf id: PostID) {
        stripes.withStripe(of: id) { stripe in stripe.standing.refreshStep(&stripe.pass) }
    }

    /// Traps if an invariant does not hold; O(n).
    ///
    /// The counts over all stripes follow the stripes by a moment, so they are compared only if no thread is
    /// changing posts.
    package func checkInvariants(isChanging: Bool = false) {
        var textByteCount = 0
        for number in 0..<stripes.count {
            textByteCount += stripes.withStripe(number) { stripe in
                stripe.standing.checkInvariants(stripe.pass)
                stripe.sides.checkInvariants(stripe.pass)
                stripe.sync.checkInvariants(stripe.posts)
                var byteCount = 0
                stripe.posts.forEachSlot { byteCount += stripe.textByteCount($0) }
                return byteCount
            }
        }
        precondition(
            isChanging || textByteCount == liveTextByteCount.load(ordering: .relaxed),
            "The bytes of texts are those of the live posts."
        )
    }

    /// Whether two posts are in one stripe, which is refreshed as a whole; O(1).
    package func shareStripe(_ left: PostID, _ right: PostID) -> Bool {
        stripes.number(of: left) == stripes.number(of: right)
    }

    private func countPost(textByteCount: Int) {
        livePostCount.wrappingAdd(1, ordering: .relaxed)
        liveTextByteCount.wrappingAdd(textByteCount, ordering: .relaxed)
    }

    func uncountPost(textByteCount: Int) {
        livePostCount.wrappingSubtract(1, ordering: .relaxed)
        liveTextByteCount.wrappingSubtract(textByteCount, ordering: .relaxed)
    }

    @inline(__always)
    func takeRevision() -> UInt64 { changes.take() }

    // Feeds.

    /// Adds a feed, whose policy never changes again; O(1).
    package func createFeed(
        _ policy: FeedPolicy,
        sink: some ChangeSink = NoChanges()
    ) throws(RankingError) -> FeedID {
        try feedTable.create(policy, sink)
    }

    package func feed(named name: String) -> FeedID? { feedTable.feed(named: name) }

    /// The rules of a feed; nil where there is no such feed; O(1).
    package func policy(of feed: FeedID) -> FeedPolicy? { feedTable.policy(of: feed) }

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
                    let count = stripe.standing.indexes(summaries[number].id).postCount
                    summaries[number].postCount += UInt64(count)
                }
            }
        }
        return summaries
    }

    // Votes.

    /// Prefetches the record of a post that is about to be voted on; O(1), without a lock.
    ///
    /// A caller with several votes prefetches all of their posts before it casts the first. Then
    /// the waits for memory overlap. Any id is allowed.
    package func prefetch(_ id: PostID) { stripes.prefetch(id) }

    /// The weight of a vote that is cast now; O(1).
    package func voteWeight() -> VoteWeight { VoteWeight(milliseconds: clock.peek()) }

    /// Prefetches the number of a voter that is looked up soon by its user; O(1), without a lock.
    package func prefetchVoter(user: UInt64) { voters.prefetch(user: user) }

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

    // Posts.

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

    /// Changes a post and appends it to a page, with the voter's ballot; O(log n) an index for a title, else
    /// O(1).
    ///
    /// Even without a change the post takes a new revision. Its own fields must not have changed since the
    /// expected revision, of the post or of the store; votes do not count, and 0 is any.
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
            content.apply(changes)
            let revision = replaceContent(slot, of: &stripe, content, at: clock.now(), sink)
            page.append(slot, of: &stripe, voter)
            return WriteOutcome(revision: revision, refreshIsDue: stripe.refreshIsDue)
        }
    }

    /// Takes its author off a post, name and number, as an edit that changes nothing else; O(its texts).
    ///
    /// - Returns: The bytes of its texts, which are logged; nil if the post is gone or another's.
    package func removeAuthor(
        _ userID: UInt64,
        of id: PostID,
        sink: some ChangeSink = NoChanges()
    ) -> Int? {
        stripes.withStripe(of: id) { stripe in
            guard let slot = stripe.liveSlot(id), stripe.posts[slot].content.authorID == userID
            else { return nil }
            let old = stripe.posts[slot].content
            var content = old.content
            (content.authorID, content.authorName) = (0, "")
            _ = replaceContent(slot, of: &stripe, content, at: old.updateTimeMilliseconds, sink)
            return content.textByteCount
        }
    }

    /// Gives a post other content; returns the revision of the edit.
    private func replaceContent(
        _ slot: UInt32,
        of stripe: inout Stripe,
        _ content: PostContent,
        at time: Int64,
        _ sink: some ChangeSink
    ) -> UInt64 {
        let addedByteCount = content.textByteCount - stripe.textByteCount(slot)
        liveTextByteCount.wrappingAdd(addedByteCount, ordering: .relaxed)
        let revision = changes.take(showing: stripe.posts[slot].feed)
        stripe.posts[slot].revision = revision
        stripe.replaceContent(
            slot,
            ContentBlob(content, updateTimeMilliseconds: time, editRevision: revision)
        )
        if !sink.isNone { sink.append(stripe.state(slot, content)) }
        return revision
    }

    /// Removes a post for good; a repeated removal is no error and takes no revision; O(log n) an index.
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
                limit: tombstoneLimit
            )
            sink.append(deletionOf: id, revision: revision)
            return WriteOutcome(revision: revision, refreshIsDue: stripe.refreshIsDue)
        }
    }

    /// The deletions that a stripe keeps.
    var tombstoneLimit: Int { max(1, RankingLimits.maximumTombstoneCount / stripes.count) }

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

    // What viewers have read and dismissed.

    /// A copy of a viewer's marks, which does not change; nil where there are none.
    package func marks(of viewer: VoterID) -> ViewerMarks? { marks.marks(of: viewer) }

    /// Marks posts one by one; posts that are gone are left out.
    ///
    /// Room is needed for marks on posts that have none yet, so marks can be taken back at the limit.
    /// A call that is refused marks no post. O(posts).
    package func mark(
        _ ids: [PostID],
        as mark: Mark,
        by viewer: VoterID,
        sink: some ChangeSink = NoChanges()
    ) throws(RankingError) {
        let posts = ids.compactMap { stripes.origin(of: $0) }
        try withRoom(of: viewer, sink) { () throws(RankingError) in
            try marks.change(viewer) { (own) throws(RankingError) in
                let added = own.addedCount(posts, as: mark)
                try marks.checkRoom(forPosts: added, of: viewer, beside: own)
                for post in posts {
                    let change = own.mark(post, as: mark, by: viewer, takeRevision: takeRevision)
                    if let change { sink.append(change) }
                }
            }
        }
    }

    /// Marks every post of a feed, or of all feeds for nil, that was created up to a post.
    ///
    /// The limit of a viewer's marks on single posts does not count. O(1): marks on single posts that
    /// the new mark ends are swept later.
    package func mark(
        through id: PostID,
        in feed: FeedID?,
        as mark: Mark,
        by viewer: VoterID,
        sink: some ChangeSink = NoChanges()
    ) throws(RankingError) {
        guard let post = stripes.origin(of: id), feed == nil || feed == post.feed else {
            throw .postNotInList(id)
        }
        try withRoom(of: viewer, sink) { () throws(RankingError) in
            try marks.change(viewer) { (own) throws(RankingError) in
                let added = own.addedCount(through: post, in: feed, as: mark)
                try marks.checkRoom(forUnits: added, of: viewer)
                let outcome = own.mark(
                    through: post,
                    in: feed,
                    as: mark,
                    by: viewer,
                    takeRevision: takeRevision
                )
                switch outcome {
                case .unchanged: break
                case .changed(let step): sink.append(step)
                case .tooMany: throw .tooManyMarks(limit: RankingLimits.maximumMarkStepCount)
                }
            }
        }
    }

    /// Forgets marks that say nothing any more: of posts that are gone, and those that newer marks have
    /// ended; `sweep` says where the step begins, and is moved behind it.
    package func sweepMarks(_ sweep: inout MarkSweep, sink: some ChangeSink = NoChanges()) {
        let viewers = marks.viewers(
            ofShard: sweep.shard,
            from: sweep.place,
            markCount: MarkSweep.stepMarkCount
        )
        sweep.place += viewers.count
        if viewers.isEmpty {
            sweep.shard = (sweep.shard + 1) % MarkTable.shardCount
            sweep.place = 0
        }
        for viewer in viewers { sweepMarks(of: viewer, sink) }
    }

    /// The units that all marks take, of `RankingLimits.maximumMarkUnitCount`.
    package var markUnitCount: Int { marks.unitCount }

    /// Runs a body that may find no room for marks of a viewer, and once more after a sweep of its
    /// marks.
    ///
    /// The sweep looks at all of the viewer's marks, so there is none where nothing has ended marks
    /// since the last one.
    private func withRoom(
        of viewer: VoterID,
        _ sink: some ChangeSink,
        _ body: () throws(RankingError) -> Void
    ) throws(RankingError) {
        do throws(RankingError) {
            try body()
        } catch {
            var isDue = false
            marks.change(viewer) { isDue = $0.beginSweep(deletedCount: highestID &- postCount) }
            guard isDue else { throw error }
            sweepMarks(of: viewer, sink)
            try body()
        }
    }

    private func sweepMarks(of viewer: VoterID, _ sink: some ChangeSink) {
        let spent = spentMarks(of: viewer)
        guard !spent.isEmpty else { return }
        marks.change(viewer) { marks in
            for (id, isGone, revision) in spent where marks.posts[id]?.revision == revision {
                let revision = takeRevision()
                marks.forget(id, isGone: isGone, at: revision)
                sink.append(PostMarks(viewer: viewer, post: id, marks: [], revision: revision))
            }
        }
    }

    /// The marks on single posts that say nothing any more, with their revisions, and whether the posts are
    /// gone.
    ///
    /// The copy of the marks ends with the call: a change beside it would copy them all.
    private func spentMarks(of viewer: VoterID) -> [(PostID, isGone: Bool, UInt64)] {
        guard let copy = marks.marks(of: viewer) else { return [] }
        return copy.posts.compactMap { id, onPost in
            let post = stripes.origin(of: id)
            if let post, !copy.isSpent(post) { return nil }
            return (id, post == nil, onPost.revision)
        }
    }
}

/// The clock that times the creations and edits of posts, over a clock that may go back.
///
/// Times are Unix milliseconds.
///
/// The clock stands still while the time that it gave last is ahead, by at most
/// `RankingLimits.maximumClockHold`. Where the time given last is further ahead, the clock goes
/// back. Times of imported and restored posts do not move it.
///
/// The clock of a cluster's leader never goes back, as the times of its records do not.
struct CreationClock: ~Copyable, Sendable {
    private let latest = Atomic<Int64>(.min)
    private let mostHeld = Atomic<Int64>(RankingLimits.maximumClockHold)
    private let clock: @Sendable () -> Int64

    init(_ clock: @escaping @Sendable () -> Int64) { self.clock = clock }

    /// The time of the clock within the bounds of a post's time; it is not held.
    func peek() -> Int64 { min(max(clock(), 0), RankingLimits.maximumTimeMilliseconds) }

    /// Holds the clock at a time that another machine's clock gave, until this one has reached it; it never
    /// goes back from now on.
    func hold(at time: Int64) {
        mostHeld.store(.max, ordering: .relaxed)
        latest.store(time, ordering: .relaxed)
    }

    /// The time now, or the time given last where it is ahead by the limit at most.
    ///
    /// Always within the bounds of a post's time. O(1).
    func now() -> Int64 {
        let time = peek()
        var last = latest.load(ordering: .relaxed)
        while true {
            if last > time, last - time <= mostHeld.load(ordering: .relaxed) { return last }
            let (isDone, found) = latest.weakCompareExchange(
                expected: last,
                desired: time,
                ordering: .relaxed
            )
            if isDone { return time }
            last = found
        }
    }
}

/// The clock that ends windows, over a clock that may go back.
///
/// It stands still and goes back as `CreationClock` does, but it has its own latest time, so that
/// reads do not hold still the times of new posts. Each time that it goes back begins an era: posts
/// that have left a window may be within it again.
struct WindowClock: ~Copyable, Sendable {
    private let clock: CreationClock
    private let newest = Atomic<Int64>(0)
    private let eras = Atomic<UInt64>(0)

    init(_ clock: @escaping @Sendable () -> Int64) { self.clock = CreationClock(clock) }

    /// The time now, and the number of its era; O(1).
    func now() -> (milliseconds: Int64, era: UInt64) {
        let time = clock.now()
        let last = newest.exchange(time, ordering: .relaxed)
        if time < last - RankingLimits.maximumClockHold { eras.wrappingAdd(1, ordering: .relaxed) }
        return (time, eras.load(ordering: .relaxed))
    }
}
