/// Who casts votes, and when.
struct VoteCaster {
    /// Whose ballots the votes set; nil sets none.
    var voter: VoterID?
    /// What an upvote adds to the sum of RISING at the moment.
    var weight: VoteWeight
}

extension Stripe {
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
    mutating func takeOutOfStanding(_ slot: UInt32, _ record: inout PostRecord) {
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
}
