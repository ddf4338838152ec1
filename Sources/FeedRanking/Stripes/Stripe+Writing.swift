extension Stripe {
    /// Puts a new post into its slot and makes it stale; O(1).
    mutating func insert(_ newRecord: PostRecord, at slot: UInt32) {
        var record = newRecord
        posts.insert(record, at: slot)
        orders.add(slot, &record, slotLimit: posts.slotLimit)
        sync.note(slot, &record)
        posts[slot] = record
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
        _ voter: VoterID?,
        _ weight: VoteWeight,
        _ changes: borrowing ChangeCounts,
        _ sink: some ChangeSink
    ) throws(RankingError) -> VoteOutcome {
        var record = posts[slot]
        if record.scoreChangeIsLarge { takeOutOfOrders(slot, &record) }
        let score = record.score
        var standing: VoteDirection?
        if record.flags.contains(.keepsBallots) {
            standing = direction == .clear ? nil : direction
            var old: VoteDirection?
            if record.flags.contains(.onlyUsersVote), voter?.isUser != true {
                throw .userRequired
            }
            if let voter {
                old = ballots.set(standing, slot, voter, posts)
            } else if standing != nil {
                throw .voterRequired
            }
            guard old != standing else { return outcome(record, standing) }
            switch old {
            case .up: record.removeUpvote()
            case .down: record.removeDownvote()
            case .clear, nil: break
            }
        } else if direction == .clear {
            throw .clearOnTally
        }
        switch direction {
        case .up: record.addUpvote(weight)
        case .down: record.addDownvote()
        case .clear: break
        }
        if orders.mayShow(record) { changes.show(record.feed) }
        record.revision = changes.take()
        if record.score != score {
            orders.makeStale(slot, &record)
        }
        sides.touch(slot, &record)
        sync.note(slot, &record)
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
        orders.remove(slot, &posts)
        sides.takeOut(slot, posts)
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
        let commentCount = record.content.commentCount
        if movesPost {
            record = orders.takeOut(slot, &posts)
            sides.takeOut(slot, posts)
        }
        record.content.free()
        record.content = content
        record.createTimeMilliseconds = createTime
        record.titlePrefix = content.titlePrefix
        if movesPost {
            orders.makeStale(slot, &record)
            sides.putBack(slot, record)
        } else if content.commentCount != commentCount {
            sides.noteComments(slot, record.feed)
        }
        sync.note(slot, &record)
        posts[slot] = record
    }

    /// Sets a post's times, as an edit that changes nothing else; O(its texts + log n an index).
    mutating func setTimes(
        _ slot: UInt32,
        _ content: PostContent,
        createTimeMilliseconds: Int64,
        updateTimeMilliseconds: Int64,
        revision: UInt64
    ) {
        posts[slot].revision = revision
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
    mutating func takeOutOfOrders(_ slot: UInt32, _ record: inout PostRecord) {
        record = orders.takeOut(slot, &posts)
        record.scoreChange = 0
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
