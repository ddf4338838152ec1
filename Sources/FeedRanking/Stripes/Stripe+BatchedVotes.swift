/// Votes of one batch on posts of one stripe, under the stripe's lock.
extension Stripe {
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
}
