/// Which changes reach the heads of the indexes: those show on first pages, and make their posts stale there.
extension StandingLists {
    /// Whether a change of a post may show at the front of an index: the post is there at its indexed score,
    /// or comes there by its own.
    ///
    /// A few posts behind the front may show, too; none at the front does not.
    @inline(__always)
    func mayShow(_ record: PostRecord, gain: Int64 = 0) -> Bool {
        if record.flags.contains(.isInStaleHead) { return true }
        let time = record.createTimeMilliseconds
        return feeds[Int(record.feed.rawValue)].headThreshold.mayBeReached(byTime: time)
            || front.headThreshold.mayBeReached(byTime: time)
            || mayReachHead(record, gain: gain)
    }

    /// Puts a post whose place in the orders may have changed into the stale head or tail, once.
    ///
    /// Most votes are on posts of the stale tail, and leave them there.
    @inline(__always)
    mutating func makeStale(_ slot: UInt32, _ record: inout PostRecord, _ slots: SlotKeys) {
        if record.flags.contains(.isInStaleHead) { return }
        guard !mayReachHead(record) else { return makeStaleByBoundaries(slot, &record, slots) }
        if !record.flags.contains(.isInStaleTail) {
            record.flags.insert(.isInStaleTail)
            stale.insertIntoTail(slot)
        }
    }

    /// Whether a post may lie at or before a head boundary, at its indexed score or its own.
    ///
    /// A vote does not move an indexed post in NEW. `gain` is what further votes may add to the score.
    @inline(__always)
    private func mayReachHead(_ record: PostRecord, gain: Int64 = 0) -> Bool {
        let score = max(record.score + gain, record.indexedScore)
        let own = feeds[Int(record.feed.rawValue)].headThreshold
        let all = front.headThreshold
        if !record.flags.contains(.isIndexed), own.hasNew || all.hasNew { return true }
        if own.mayBeReached(byScore: score) || all.mayBeReached(byScore: score) { return true }
        let time = record.createTimeMilliseconds
        let bound = HotRank.upperBound(score: score, createTimeMilliseconds: time)
        return own.mayBeReached(byHotRank: bound) || all.mayBeReached(byHotRank: bound)
    }

    /// Puts a post that the stale head does not have into the stale head or tail.
    @inline(never)
    private mutating func makeStaleByBoundaries(
        _ slot: UInt32,
        _ record: inout PostRecord,
        _ slots: SlotKeys
    ) {
        let wasInTail = record.flags.contains(.isInStaleTail)
        let post = StalePost(slot, record)
        let isInHead =
            reachesHead(post, at: post.newScore, slots)
            || (!wasInTail && post.wasIndexed && reachesHead(post, at: post.oldScore, slots))
        if isInHead {
            if wasInTail {
                record.flags.remove(.isInStaleTail)
                stale.removeFromTail(slot)
            }
            record.flags.insert(.isInStaleHead)
            stale.head.append(slot)
        } else if !wasInTail {
            record.flags.insert(.isInStaleTail)
            stale.insertIntoTail(slot)
        }
    }

    /// Whether a post, at a score, lies at or before the head boundary of an index it belongs to.
    private func reachesHead(_ post: StalePost, at score: Int64, _ slots: SlotKeys) -> Bool {
        let feed = Int(post.feed.rawValue)
        for kind in KeyKind.standing where kind.followsVotes || !post.wasIndexed {
            let inFeed = feeds[feed][kind]
            let inFront = front[kind]
            guard inFeed.isBuilt || inFront.isBuilt else { continue }
            let key = slots.key(kind, post, at: score)
            if inFeed.isBuilt && inFeed.headBoundary.covers(key) { return true }
            if inFront.isBuilt && inFront.headBoundary.covers(key) { return true }
        }
        return false
    }
}
