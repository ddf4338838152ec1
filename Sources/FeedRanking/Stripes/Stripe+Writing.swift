import Synchronization

extension Stripe {
    /// Whether so many posts are stale that a read should not have to refresh them.
    var refreshIsDue: Bool {
        let share = posts.count / RankingLimits.staleShare
        let staleCount = staleHead.count + staleTailCount
        return job.isActive || staleCount >= max(pace.minimumStaleCount, share)
    }

    /// Puts a new post into its slot and marks it stale; O(1).
    mutating func insert(_ newRecord: PostRecord, at slot: UInt32) {
        var record = newRecord
        posts.insert(record, at: slot)
        let feed = Int(record.feed.rawValue)
        feeds.extend(to: feed + 1, with: FeedIndexes())
        staleTail.reserve(posts.slotLimit)
        dropped.reserve(posts.slotLimit)
        job.members.reserve(posts.slotLimit)
        feeds[feed].postCount += 1
        front.postCount += 1
        unindexedCount += 1
        markStale(slot, &record)
        posts[slot] = record
    }

    /// Counts a vote and marks the post stale where its score changed; O(1).
    ///
    /// A clear without a voter has no ballot to clear. It is no error and changes nothing.
    @inline(__always)
    mutating func castVote(
        _ slot: UInt32,
        _ direction: VoteDirection,
        _ voter: VoterID?,
        _ revisions: borrowing Atomic<UInt64>,
        _ sink: some ChangeSink
    ) throws(RankingError) -> VoteOutcome {
        var record = posts[slot]
        let score = record.score
        var standing: VoteDirection?
        if record.flags.contains(.keepsBallots) {
            standing = direction == .clear ? nil : direction
            var old: VoteDirection?
            if let voter {
                old = ballots.set(standing, slot, voter, posts)
            } else if standing != nil {
                throw .voterRequired
            }
            guard old != standing else { return outcome(record, standing) }
            Self.count(old, by: .max, &record)
        } else if direction == .clear {
            throw .clearOnTally
        }
        Self.count(direction, by: 1, &record)
        record.revision = revisions.wrappingAdd(1, ordering: .relaxed).newValue
        if record.score != score {
            markStale(slot, &record)
        }
        posts[slot] = record
        appendVote(slot, record, voter, standing, to: sink)
        return outcome(record, standing)
    }

    /// Hands a vote's change to the sink; O(1).
    @inline(__always)
    private func appendVote(
        _ slot: UInt32,
        _ record: PostRecord,
        _ voter: VoterID?,
        _ standing: VoteDirection?,
        to sink: some ChangeSink
    ) {
        let counts = counts(slot, record)
        if let voter, record.flags.contains(.keepsBallots) {
            sink.append(counts, voter, standing)
        } else {
            sink.append(counts)
        }
    }

    /// Removes a post for good; O(log n) an index.
    mutating func remove(_ slot: UInt32) {
        let record = takeOut(slot)
        feeds[Int(record.feed.rawValue)].postCount -= 1
        front.postCount -= 1
        unindexedCount -= 1
        if record.flags.contains(.isInStaleTail) {
            removeFromTail(slot)
        }
        posts.remove(slot)
    }

    /// Replaces a post's content, and its creation time where one is given.
    ///
    /// A post with a new title or time leaves the indexes first. O(log n) an index.
    mutating func replaceContent(
        _ slot: UInt32,
        _ content: ContentBlob,
        createTimeMilliseconds: Int64? = nil
    ) {
        var record = posts[slot]
        let createTime = createTimeMilliseconds ?? record.createTimeMilliseconds
        let movesPost =
            createTime != record.createTimeMilliseconds
            || ContentBlob.titlesDiffer(record.content, content)
        if movesPost {
            record = takeOut(slot)
        }
        record.content.free()
        record.content = content
        record.createTimeMilliseconds = createTime
        record.titlePrefix = content.titlePrefix
        if movesPost {
            markStale(slot, &record)
        }
        posts[slot] = record
    }

    /// Puts a post whose place in the orders may have changed into the stale head or tail, once.
    @inline(__always)
    mutating func markStale(_ slot: UInt32, _ record: inout PostRecord) {
        if record.flags.contains(.isInStaleHead) { return }
        let wasInTail = record.flags.contains(.isInStaleTail)
        let isInHead =
            reachesHeadBoundary(slot, record, record.score)
            || (!wasInTail && record.flags.contains(.isIndexed)
                && reachesHeadBoundary(slot, record, record.indexedScore))
        if isInHead {
            if wasInTail {
                record.flags.remove(.isInStaleTail)
                removeFromTail(slot)
            }
            record.flags.insert(.isInStaleHead)
            staleHead.append(slot)
        } else if !wasInTail {
            record.flags.insert(.isInStaleTail)
            staleTail.insert(slot)
            staleTailCount += 1
        }
    }

    private mutating func removeFromTail(_ slot: UInt32) {
        staleTail.remove(slot)
        staleTailCount -= 1
    }

    /// Whether a post, at a score, lies at or before the head boundary of an index it belongs to.
    @inline(__always)
    private func reachesHeadBoundary(_ slot: UInt32, _ record: PostRecord, _ score: Int64) -> Bool {
        let feed = Int(record.feed.rawValue)
        let isIndexed = record.flags.contains(.isIndexed)
        for kind in IndexKind.allCases where kind.followsScore || !isIndexed {
            let inFeed = feeds[feed][kind]
            let inFront = front[kind]
            guard inFeed.isBuilt || inFront.isBuilt else { continue }
            let key = boundKey(kind, slot, record, score)
            if inFeed.isBuilt && inFeed.headBoundary.covers(key) { return true }
            if inFront.isBuilt && inFront.headBoundary.covers(key) { return true }
        }
        return false
    }

    /// Adds to the count of a direction; `UInt64.max` subtracts one.
    @inline(__always)
    private static func count(
        _ direction: VoteDirection?,
        by change: UInt64,
        _ record: inout PostRecord
    ) {
        switch direction {
        case .up: record.upvoteCount &+= change
        case .down: record.downvoteCount &+= change
        case .clear, nil: break
        }
    }

    @inline(__always)
    private func outcome(_ record: PostRecord, _ standing: VoteDirection?) -> VoteOutcome {
        VoteOutcome(
            score: record.score,
            upvoteCount: record.upvoteCount,
            downvoteCount: record.downvoteCount,
            revision: record.revision,
            standingVote: standing,
            refreshIsDue: refreshIsDue
        )
    }
}
