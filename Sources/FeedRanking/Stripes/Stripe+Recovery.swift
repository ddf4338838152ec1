/// Puts the changes of earlier runs back; the store has checked their values.
extension Stripe {
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
        pass.posts[slot] = record
    }

    /// Sets a ballot and its post's votes, where they are newer; O(1).
    ///
    /// A ballot at the post's own revision is set too, because ballots are loaded behind their
    /// post.
    ///
    /// - Returns: False where the post keeps no ballots.
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
    mutating func restoreDeletion(at slot: UInt32, revision: UInt64, _ time: Int64) {
        let wasThere = pass.posts.contains(slot)
        tombstones.restore(
            Tombstones.Tombstone(
                revision: revision,
                slot: slot,
                feed: wasThere ? pass.posts[slot].feed : nil,
                time: time
            )
        )
        if wasThere { remove(slot) }
        deleted.reserve(Int(slot) + 1)
        deleted.insert(slot)
    }
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
