internal import FeedSpans

/// A share of the posts, with their orders and ballots; the holder of its lock owns it.
///
/// A vote changes the record of its post and makes the post stale in the orders, once.
///
/// Functions that do not change the stripe are always inlined. A call would copy the whole stripe
/// first: Swift 6.3 does so where the caller holds it `inout`, as each holder of its lock does.
package struct Stripe: ~Copyable {
    var pass: ListPass
    /// TOP, NEW and HOT of all time, which are never dropped.
    var standing = StandingLists()
    /// The lists of further orders and of windows.
    var sides = SideLists()
    /// The ballots on posts of feeds that keep them.
    var ballots = BallotTable()
    /// The posts that recovery has deleted; no older change may bring them back.
    private var deleted = SlotSet()
    /// The posts in the order of their last changes, where somebody reads it.
    var sync = SyncOrder()
    /// The posts that were deleted not long ago.
    var tombstones = Tombstones()

    /// An empty stripe of a store with 2 to the power of `stripeBits` stripes.
    package init(number: Int, stripeBits: Int, pace: RefreshPace = RefreshPace()) {
        let slots = SlotKeys(stripeNumber: UInt64(number), stripeBits: UInt64(stripeBits))
        pass = ListPass(slots, pace)
    }

    var slots: SlotKeys { @inline(__always) get { pass.slots } }

    var posts: PostTable {
        @inline(__always) _read { yield pass.posts }
        @inline(__always) _modify { yield &pass.posts }
    }

    /// The slot of a live post; nil where the id has none.
    @inline(__always)
    func liveSlot(_ id: PostID) -> UInt32? {
        guard let slot = slots.slot(id), posts.contains(slot) else { return nil }
        return slot
    }

    /// Whether so many posts are stale that a read should not have to refresh them.
    var refreshIsDue: Bool {
        @inline(__always) get { standing.refreshIsDue(pass.pace, postCount: pass.posts.count) }
    }

    /// A post's votes as a change; O(1).
    @inline(__always)
    private func counts(_ slot: UInt32, _ record: PostRecord) -> PostCounts {
        PostCounts(
            id: slots.id(slot),
            upvoteCount: record.upvoteCount,
            downvoteCount: record.downvoteCount,
            revision: record.revision,
            risingSum: record.risingSum
        )
    }

    /// A whole post as a change, with its content if the caller has it at hand; O(its texts).
    @inline(__always)
    func state(_ slot: UInt32, _ content: PostContent? = nil) -> PostState {
        let record = posts[slot]
        return PostState(counts(slot, record), record, content)
    }

    /// The bytes of a post's texts, which decide whether a page still takes it.
    @inline(__always)
    func textByteCount(_ slot: UInt32) -> Int { posts[slot].content.textByteCount }

    /// The bytes of the texts of a slot's post; nil where the slot has none.
    func liveTextByteCount(_ slot: UInt32) -> Int? {
        posts.contains(slot) ? textByteCount(slot) : nil
    }

    /// Puts a new post into its slot and makes it stale; O(1).
    mutating func insert(_ newRecord: PostRecord, at slot: UInt32) {
        var record = newRecord
        pass.posts.insert(record, at: slot)
        standing.add(slot, &record, &pass)
        sync.note(slot, &record)
        pass.posts[slot] = record
        sides.add(slot, record)
    }

    /// Counts a vote and makes the post stale where its score changed; O(1).
    ///
    /// A clear without a voter has no ballot to clear. It is no error and changes nothing, unless only
    /// users vote: then every vote needs a user.
    @inline(__always)
    mutating func castVote(
        _ slot: UInt32,
        _ direction: VoteDirection,
        by caster: VoteCaster,
        counting changes: borrowing ChangeCounts,
        to sink: some ChangeSink
    ) throws(RankingError) -> VoteOutcome {
        var record = pass.posts[slot]
        if record.scoreChangeIsLarge { takeOutOfStanding(slot, &record) }
        let score = record.score
        var ballot: VoteDirection?
        if record.flags.contains(.keepsBallots) {
            ballot = direction == .clear ? nil : direction
            var old: VoteDirection?
            if record.flags.contains(.onlyUsersVote), caster.voter?.isUser != true {
                throw .userRequired
            }
            if let voter = caster.voter {
                old = ballots.set(ballot, slot, voter, pass.posts)
            } else if ballot != nil {
                throw .voterRequired
            }
            guard old != ballot else { return outcome(record, ballot) }
            switch old {
            case .up: record.removeUpvote()
            case .down: record.removeDownvote()
            case .clear, nil: break
            }
        } else if direction == .clear {
            throw .clearOnTally
        }
        switch direction {
        case .up: record.addUpvote(caster.weight)
        case .down: record.addDownvote()
        case .clear: break
        }
        if standing.mayShow(record) { changes.show(record.feed) }
        record.revision = changes.take()
        if record.score != score { standing.makeStale(slot, &record, pass.slots) }
        sides.touch(slot, &record)
        sync.note(slot, &record)
        pass.posts[slot] = record
        appendVote(counts(slot, record), of: record, caster.voter, ballot, to: sink)
        return outcome(record, ballot)
    }

    /// Hands a vote's change to the sink; O(1).
    @inline(__always)
    private func appendVote(
        _ counts: PostCounts,
        of record: PostRecord,
        _ voter: VoterID?,
        _ ballot: VoteDirection?,
        to sink: some ChangeSink
    ) {
        if let voter, record.flags.contains(.keepsBallots) {
            sink.append(counts, voter, ballot)
        } else {
            sink.append(counts)
        }
    }

    /// Removes a post for good; O(log n) an index.
    mutating func remove(_ slot: UInt32) {
        standing.remove(slot, &pass)
        sides.takeOut(slot, &pass)
        pass.posts.remove(slot)
    }

    /// Replaces a post's content, and its creation time where one is given.
    ///
    /// A post with a new title or time leaves the indexes first. O(log n) an index.
    mutating func replaceContent(
        _ slot: UInt32,
        _ content: ContentBlob,
        createTimeMilliseconds: Int64? = nil
    ) {
        var record = pass.posts[slot]
        let createTime = createTimeMilliseconds ?? record.createTimeMilliseconds
        let movesPost =
            createTime != record.createTimeMilliseconds
            || ContentBlob.titlesDiffer(record.content, content)
        let commentCount = record.content.commentCount
        if movesPost {
            record = standing.takeOut(slot, &pass)
            sides.takeOut(slot, &pass)
        }
        record.content.free()
        record.content = content
        record.createTimeMilliseconds = createTime
        record.titlePrefix = content.titlePrefix
        if movesPost {
            standing.makeStale(slot, &record, pass.slots)
            sides.putBack(slot, record)
        } else if content.commentCount != commentCount {
            sides.noteComments(slot, record.feed)
        }
        sync.note(slot, &record)
        pass.posts[slot] = record
    }

    /// Sets a post's times, as an edit that changes nothing else; O(its texts + log n an index).
    mutating func setTimes(
        _ slot: UInt32,
        _ content: PostContent,
        createTimeMilliseconds: Int64,
        updateTimeMilliseconds: Int64,
        revision: UInt64
    ) {
        pass.posts[slot].revision = revision
        replaceContent(
            slot,
            ContentBlob(
                content,
                updateTimeMilliseconds: updateTimeMilliseconds,
                editRevision: revision
            ),
            createTimeMilliseconds: createTimeMilliseconds
        )
    }

    /// Takes a post out of the indexes, before its score has changed too much since it was indexed.
    @inline(never)
    private mutating func takeOutOfStanding(_ slot: UInt32, _ record: inout PostRecord) {
        record = standing.takeOut(slot, &pass)
        record.scoreChange = 0
    }

    @inline(__always)
    private func outcome(_ record: PostRecord, _ ballot: VoteDirection?) -> VoteOutcome {
        VoteOutcome(
            score: record.score,
            upvoteCount: record.upvoteCount,
            downvoteCount: record.downvoteCount,
            revision: record.revision,
            standingVote: ballot,
            refreshIsDue: refreshIsDue
        )
    }

    // Votes of one batch on posts of one stripe, under the stripe's lock.

    /// Casts the votes at some positions of a batch's order, in that order; O(votes).
    mutating func castVotes(
        _ votes: inout BatchedVotes,
        _ positions: Range<Int>,
        by caster: VoteCaster,
        counting changes: borrowing ChangeCounts,
        to sink: some ChangeSink
    ) {
        if areTallied(votes, positions) {
            castTallied(&votes, positions, by: caster, counting: changes, to: sink)
        } else {
            castEach(&votes, positions, by: caster, counting: changes, to: sink)
        }
        if refreshIsDue { votes.refreshDue.append(votes.post(positions.lowerBound)) }
    }

    /// Whether each vote counts for sure: up or down, on a live post of a tally.
    @inline(__always)
    private func areTallied(_ votes: borrowing BatchedVotes, _ positions: Range<Int>) -> Bool {
        for position in positions {
            let vote = votes.entries[Int(votes.order[position])]
            guard vote.direction != .clear, let slot = slots.slot(vote.post),
                pass.posts.isLive(slot, without: .keepsBallots)
            else { return false }
        }
        return true
    }

    /// Counts votes that `areTallied`, with consecutive revisions that are taken at once.
    ///
    /// No revision is left out: a restart would forget a revision that the sink was not given.
    @inline(__always)
    private mutating func castTallied(
        _ votes: inout BatchedVotes,
        _ positions: Range<Int>,
        by caster: VoteCaster,
        counting changes: borrowing ChangeCounts,
        to sink: some ChangeSink
    ) {
        let count = UInt64(positions.count)
        let hasSink = !sink.isNone
        let order = votes.order
        var entries = votes.entries.mutableSpan
        for position in positions {
            let post = entries[Int(order[position])].post
            let record = pass.posts[UInt32(truncatingIfNeeded: post.rawValue >> slots.stripeBits)]
            // All of them may be for this post.
            if standing.mayShow(record, gain: Int64(count)) { changes.show(record.feed) }
        }
        var revision = changes.take(count) - count
        for position in positions {
            let item = Int(order[position])
            // A post's slot is its id without the bits of its stripe.
            let slot = UInt32(truncatingIfNeeded: entries[item].post.rawValue >> slots.stripeBits)
            revision += 1
            var record = pass.posts[slot]
            if record.scoreChangeIsLarge { takeOutOfStanding(slot, &record) }
            if entries[item].direction == .up {
                record.addUpvote(caster.weight)
            } else {
                record.addDownvote()
            }
            record.revision = revision
            standing.makeStale(slot, &record, pass.slots)
            sides.touch(slot, &record)
            sync.note(slot, &record)
            pass.posts[slot] = record
            entries[item].upvoteCount = record.upvoteCount
            entries[item].downvoteCount = record.downvoteCount
            entries[item].standingVote = nil
            entries[item].refusal = nil
            if hasSink { sink.append(counts(slot, record)) }
        }
    }

    /// Casts votes that may be refused, or set ballots.
    private mutating func castEach(
        _ votes: inout BatchedVotes,
        _ positions: Range<Int>,
        by caster: VoteCaster,
        counting changes: borrowing ChangeCounts,
        to sink: some ChangeSink
    ) {
        for position in positions {
            let item = Int(votes.order[position])
            var vote = votes.entries[item]
            cast(&vote, by: caster, counting: changes, to: sink)
            votes.entries[item] = vote
            if vote.refusal != nil { votes.refusedCount += 1 }
        }
    }

    private mutating func cast(
        _ vote: inout BatchedVotes.Entry,
        by caster: VoteCaster,
        counting changes: borrowing ChangeCounts,
        to sink: some ChangeSink
    ) {
        guard let slot = liveSlot(vote.post) else {
            vote.refusal = .postNotFound
            return
        }
        do throws(RankingError) {
            let way = vote.direction
            let outcome = try castVote(slot, way, by: caster, counting: changes, to: sink)
            vote.upvoteCount = outcome.upvoteCount
            vote.downvoteCount = outcome.downvoteCount
            vote.standingVote = outcome.standingVote
            vote.refusal = nil
        } catch {
            vote.refusal =
                switch error {
                case .clearOnTally: .clearOnTally
                case .userRequired: .userRequired
                default: .voterRequired
                }
        }
    }

    // Reads of a stripe's lists.

    /// A list that is being read: all posts that a first page needs are in place.
    private struct ListRead {
        var list: ListID
        var postCount: Int
        /// The side list; nil for a standing one.
        var side: SideRead?
    }

    /// Appends the next entries of a walk, exact as of now; nil when the allowance is used up.
    ///
    /// O(log n + limit) plus the refresh. The refresh leaves out the stale tail as long as the walk
    /// stays before the list's head boundary.
    mutating func collect(
        _ walk: ListWalk,
        into entries: inout [MergeEntry],
        _ allowance: inout RefreshAllowance
    ) -> WalkSummary? {
        guard standing.indexes(walk.list.feed).postCount > 0 else { return WalkSummary() }
        guard let read = prepare(walk.list, &allowance) else { return nil }
        let firstEntry = entries.count
        let probe = pass.slots.probe(walk, &pass.posts)
        while true {
            let index = index(read)
            let reach = index.collect(walk, from: probe, into: &entries, &pass)
            if isExact(read, index, upTo: reach.last) {
                let (count, rank) = (read.postCount, reach.startRank)
                return WalkSummary(
                    postCount: count,
                    skippedCount: walk.isDescending ? count - rank : rank,
                    isShown: read.side == nil && isCovered(reach.last, walk, index),
                    endTime: read.side?.list.queue?.posts.endTime ?? .max
                )
            }
            entries.removeLast(entries.count - firstEntry)
            guard refreshTail(read, &allowance) else { return nil }
        }
    }

    /// The number of posts before a place of a list, and of all its posts; nil when the allowance is
    /// used up.
    ///
    /// O(log n) plus the refresh.
    mutating func countBefore(
        _ position: ListPosition,
        _ list: ListID,
        _ allowance: inout RefreshAllowance
    ) -> WalkSummary? {
        guard standing.indexes(list.feed).postCount > 0 else { return WalkSummary() }
        guard let read = prepare(list, &allowance) else { return nil }
        let probe = pass.slots.probe(position, isBehind: false, &pass.posts)
        if !isExact(read, index(read), upTo: probe) {
            guard refreshTail(read, &allowance) else { return nil }
        }
        let rank = index(read).position(of: probe, pass.pool, pass.posts).rank
        return WalkSummary(postCount: read.postCount, skippedCount: rank)
    }

    /// Refreshes all posts of a list; returns their number, and nil when the allowance is used up.
    mutating func refreshAll(_ list: ListID, _ allowance: inout RefreshAllowance) -> Int? {
        guard standing.indexes(list.feed).postCount > 0 else { return 0 }
        guard let read = prepare(list, &allowance) else { return nil }
        if !isExact(read, index(read), upTo: nil) {
            guard refreshTail(read, &allowance) else { return nil }
        }
        return read.postCount
    }

    /// The place of the post at a rank of the stripe's share of a list; all must be refreshed.
    mutating func position(atRank rank: Int, _ list: ListID) -> ListPosition? {
        // Another thread may have begun a job since.
        if list.isStanding { _ = standing.finishJob(&pass) }
        let index =
            list.isStanding
            ? standing.index(list.kind, list.feed) : sides.existingList(list)?.keys.index
        guard let index, rank <= index.count,
            let key = index.key(at: index.position(atRank: rank, pass.pool), pass.pool)
        else { return nil }
        return pass.slots.position(of: key, pass.posts)
    }

    /// Brings a list up to date but for its tail, and makes it where it is asked for first; nil when
    /// the allowance is used up.
    @inline(__always)
    private mutating func prepare(
        _ list: ListID,
        _ allowance: inout RefreshAllowance
    ) -> ListRead? {
        let count = standing.indexes(list.feed).postCount
        if list.isStanding {
            let isReady = standing.prepare(list, &allowance, &pass)
            return isReady ? ListRead(list: list, postCount: count, side: nil) : nil
        }
        guard let side = sides.prepare(list, &allowance, &pass) else { return nil }
        let postCount = side.list.queue?.posts.count ?? count
        return ListRead(list: list, postCount: postCount, side: side)
    }

    /// Brings the tail of a list up to date too; false when the allowance is used up.
    @inline(__always)
    private mutating func refreshTail(
        _ read: ListRead,
        _ allowance: inout RefreshAllowance
    ) -> Bool {
        guard !allowance.isUsedUp else { return false }
        guard let side = read.side else { return standing.refreshTail(&allowance, &pass) }
        return sides.refresh(side, includingTail: true, &allowance, &pass)
    }

    @inline(__always)
    private func index(_ read: ListRead) -> RankedIndex {
        read.side?.list.keys.index ?? standing.index(read.list.kind, read.list.feed)
    }

    /// Whether no stale post can belong before a key of a list; nil asks for the whole list.
    @inline(__always)
    private func isExact(_ read: ListRead, _ index: RankedIndex, upTo key: RankKey?) -> Bool {
        read.side?.list.keys.isExact(upTo: key)
            ?? standing.isExact(index, read.list.kind, upTo: key)
    }

    /// Whether a walk ends in the head of an index, so that each change of its entries counts as shown.
    ///
    /// It stays so until one does: the rank of the heads never falls.
    @inline(__always)
    private func isCovered(_ last: RankKey?, _ walk: ListWalk, _ index: RankedIndex) -> Bool {
        if index.headBoundary == .lowest { return true }
        guard let last, !walk.isDescending else { return false }
        return index.headBoundary.covers(last)
    }

    // A stripe's changes, for readers that keep a copy.

    /// The changes of a stripe up to a revision.
    struct SyncPart {
        /// The revision up to which no change is left out.
        var end: UInt64
        /// Every later deletion is known.
        var deletionsKnownSince: UInt64
    }

    /// Appends the changes of a range, and the deletions of another that begins later; nil when the allowance
    /// is used up.
    ///
    /// O(log n + changes looked at) plus what has changed since the last read.
    mutating func collectChanges(
        _ range: SyncRange,
        deletionsSince: UInt64,
        at time: Int64,
        into changes: inout [SyncChange],
        _ allowance: inout RefreshAllowance
    ) -> SyncPart? {
        guard sync.update(at: time, &allowance, &pass.posts) else { return nil }
        tombstones.expire(at: time)
        var deletions = range
        deletions.start = deletionsSince
        let postsEnd = sync.collect(range, slots, pass.posts, into: &changes)
        let deletionsEnd = tombstones.collect(deletions, slots, into: &changes)
        return SyncPart(
            end: min(postsEnd, deletionsEnd),
            deletionsKnownSince: tombstones.knownSince
        )
    }

    // Puts the changes of earlier runs back; the store has checked their values.

    /// Sets the votes of a live post, where they are newer; O(1).
    mutating func restore(_ counts: PostCounts, at slot: UInt32) {
        guard pass.posts.contains(slot) else { return }
        var record = pass.posts[slot]
        guard counts.revision > record.revision else { return }
        let score = record.score
        let newScore = Int64(bitPattern: counts.upvoteCount &- counts.downvoteCount)
        let change = newScore &- record.indexedScore
        if record.flags.contains(.isIndexed), Int32(exactly: change) == nil {
            takeOutOfStanding(slot, &record)
        }
        record.upvoteCount = counts.upvoteCount
        record.downvoteCount = counts.downvoteCount
        record.scoreChange = Int32(truncatingIfNeeded: change)
        record.revision = counts.revision
        if !counts.risingSum.isInitial { record.risingSum = counts.risingSum }
        if record.score != score { standing.makeStale(slot, &record, pass.slots) }
        sides.touch(slot, &record)
        sync.note(slot, &record)
        pass.posts[slot] = record
    }

    /// Sets a ballot and its post's votes, where they are newer; false where the post keeps no ballots; O(1).
    ///
    /// A ballot at the post's own revision is set too, because ballots are loaded behind their post.
    mutating func restore(
        _ counts: PostCounts,
        _ voter: VoterID,
        _ direction: VoteDirection?,
        at slot: UInt32
    ) -> Bool {
        guard pass.posts.contains(slot) else { return true }
        guard pass.posts[slot].flags.contains(.keepsBallots) else { return false }
        guard counts.revision >= pass.posts[slot].revision else { return true }
        _ = ballots.set(direction, slot, voter, pass.posts)
        restore(counts, at: slot)
        return true
    }

    /// Puts a post of a feed with this vote mode into its slot, or sets the newer fields of a post that
    /// is there; O(its texts).
    ///
    /// A creation time changes only with an edit; a correction is an edit.
    ///
    /// - Returns: Whether it was not there before; nil where it is there in another feed, with
    ///   other rules, or with another time as of the same edit.
    mutating func restore(_ post: PostState, _ voteMode: VoteMode, at slot: UInt32) -> Bool? {
        if deleted.contains(slot) { return false }
        guard pass.posts.contains(slot) else {
            var record = PostRecord(
                content: ContentBlob(post),
                feed: post.feed,
                voteMode: voteMode,
                createTimeMilliseconds: post.createTimeMilliseconds,
                revision: post.counts.revision
            )
            record.upvoteCount = post.counts.upvoteCount
            record.downvoteCount = post.counts.downvoteCount
            record.risingSum = post.counts.risingSum
            insert(record, at: slot)
            return true
        }
        let record = pass.posts[slot]
        let editRevision = record.content.editRevision
        let isSame =
            record.feed == post.feed && record.flags.contains(.keepsBallots) == post.keepsBallots
            && (record.createTimeMilliseconds == post.createTimeMilliseconds
                || editRevision != post.editRevision)
        guard isSame else { return nil }
        if post.editRevision > editRevision {
            replaceContent(
                slot,
                ContentBlob(post),
                createTimeMilliseconds: post.createTimeMilliseconds
            )
        }
        restore(post.counts, at: slot)
        return false
    }

    /// Removes a post for good, also a post that is yet to come; O(log n) an index.
    ///
    /// With a limit, revisions rise from deletion to deletion, and the oldest above the limit are forgotten.
    mutating func restoreDeletion(
        at slot: UInt32,
        revision: UInt64,
        _ time: Int64,
        keeping limit: Int?
    ) {
        let wasThere = pass.posts.contains(slot)
        let tombstone = Tombstones.Tombstone(
            revision: revision,
            slot: slot,
            feed: wasThere ? pass.posts[slot].feed : nil,
            time: time
        )
        if let limit {
            tombstones.append(tombstone, limit: limit)
        } else {
            tombstones.restore(tombstone)
        }
        if wasThere { remove(slot) }
        deleted.reserve(Int(slot) + 1)
        deleted.insert(slot)
    }
}

extension PostState {
    /// A post with all fields of its record, and with its content if the caller has it at hand.
    fileprivate init(_ counts: PostCounts, _ record: PostRecord, _ content: PostContent?) {
        self.init(
            counts: counts,
            feed: record.feed,
            keepsBallots: record.flags.contains(.keepsBallots),
            createTimeMilliseconds: record.createTimeMilliseconds,
            updateTimeMilliseconds: record.content.updateTimeMilliseconds,
            editRevision: record.content.editRevision,
            content: content ?? record.content.content
        )
    }
}

/// Who casts votes, and when.
struct VoteCaster {
    /// Whose ballots the votes set; nil sets none.
    var voter: VoterID?
    /// What an upvote adds to the sum of RISING at the moment.
    var weight: VoteWeight
}

extension ContentBlob {
    /// Copies a post's texts into a new block, which `free()` frees.
    fileprivate init(_ post: PostState) {
        self.init(
            post.content,
            updateTimeMilliseconds: post.updateTimeMilliseconds,
            editRevision: post.editRevision
        )
    }
}
