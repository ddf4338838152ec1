extension StripeOrders {
    /// Traps where an invariant of the type does not hold; O(n).
    func checkInvariants(_ posts: borrowing PostTable) {
        var listed = SlotSet()
        listed.reserve(posts.slotLimit)
        for index in 0..<stale.head.count where posts.contains(stale.head[index]) {
            let slot = stale.head[index]
            if posts[slot].flags.contains(.isInStaleHead) { listed.insert(slot) }
        }
        var tailCount = 0
        var nextInTail = stale.tail.next(from: 0)
        while let slot = nextInTail {
            precondition(
                posts[slot].flags.contains(.isInStaleTail),
                "A post of the stale tail lacks its flag."
            )
            listed.insert(slot)
            tailCount += 1
            nextInTail = stale.tail.next(from: Int(slot) + 1)
        }
        precondition(tailCount == stale.tailCount, "The stale tail is counted wrong.")
        var unindexed = 0
        var next = posts.nextSlot(from: 0)
        while let found = next {
            let slot = UInt32(found)
            if posts.contains(slot) {
                checkPost(slot, isListed: listed.bit(slot) == 1, posts)
                unindexed += posts[slot].flags.contains(.isIndexed) ? 0 : 1
            }
            next = posts.nextSlot(from: found + 1)
        }
        precondition(unindexed == unindexedCount, "The unindexed posts are counted wrong.")
        precondition(front.postCount == posts.count, "The lists of all feeds count other posts.")
        checkIndexes(front, unindexedCount: unindexed, posts)
        job.checkInvariants(pool, posts)
        for number in 0..<feeds.count {
            checkIndexes(feeds[number], unindexedCount: nil, posts)
        }
    }

    private func checkPost(
        _ slot: UInt32,
        isListed: Bool,
        _ posts: borrowing PostTable
    ) {
        let record = posts[slot]
        let flags = record.flags
        let isStale = flags.contains(.isInStaleHead) || flags.contains(.isInStaleTail)
        precondition(isStale == isListed, "A post's flags and the stale posts differ.")
        let isInBoth = flags.isSuperset(of: [.isInStaleHead, .isInStaleTail])
        precondition(!isInBoth, "A post is in the stale head and the stale tail.")
        let isFresh = flags.contains(.isIndexed) && record.indexedScore == record.score
        precondition(isFresh || isStale, "A post that moved is not stale.")
        for kind in IndexKind.allCases {
            for feed in [record.feed, nil] {
                checkPost(slot, record, feed, kind, posts)
            }
        }
    }

    private func checkPost(
        _ slot: UInt32,
        _ record: PostRecord,
        _ feed: FeedID?,
        _ kind: IndexKind,
        _ posts: borrowing PostTable
    ) {
        let index = listIndex(kind, feed)
        guard index.isBuilt else { return }
        // A post cannot be checked alone in a list that the job has split or has not reached.
        guard job.progress(feed, kind) == .refreshed else { return }
        let isIndexed = record.flags.contains(.isIndexed)
        let indexedKey = slots.key(kind, slot, record, record.indexedScore)
        let position = index.position(of: indexedKey, pool, posts)
        let isThere = index.key(at: position, pool) == indexedKey
        precondition(!isIndexed || isThere, "An index has lost a post.")
        guard record.flags.contains(.isInStaleTail), kind.followsScore || !isIndexed else { return }
        let own = slots.key(kind, slot, record, record.score)
        let boundary = index.headBoundary
        let isBehind = !boundary.covers(own) && !(isIndexed && boundary.covers(indexedKey))
        precondition(
            isBehind || record.score == record.indexedScore,
            "A post of the stale tail is in a head."
        )
    }

    private func checkIndexes(
        _ indexes: FeedIndexes,
        unindexedCount: Int?,
        _ posts: borrowing PostTable
    ) {
        for kind in IndexKind.allCases where indexes[kind].isBuilt {
            indexes[kind].checkInvariants(pool, posts)
            if let unindexedCount, job.isIdle {
                let count = indexes.postCount - unindexedCount
                precondition(indexes[kind].count == count, "An index has other posts.")
            }
        }
    }
}
