extension Stripe {
    /// Traps where an invariant of the type does not hold; O(n).
    package func checkInvariants() {
        var listed = SlotSet()
        listed.reserve(posts.slotLimit)
        for index in 0..<staleHead.count where posts.contains(staleHead[index]) {
            let slot = staleHead[index]
            if posts[slot].flags.contains(.isInStaleHead) { listed.insert(slot) }
        }
        var tailCount = 0
        var nextInTail = staleTail.next(from: 0)
        while let slot = nextInTail {
            precondition(posts[slot].flags.contains(.isInStaleTail), "A far post is not marked.")
            listed.insert(slot)
            tailCount += 1
            nextInTail = staleTail.next(from: Int(slot) + 1)
        }
        precondition(tailCount == staleTailCount, "The far posts are counted wrong.")
        var unindexed = 0
        var next = posts.nextSlot(from: 0)
        while let found = next {
            let slot = UInt32(found)
            if posts.contains(slot) {
                checkPost(slot, isListed: listed.bit(slot) == 1)
                unindexed += posts[slot].flags.contains(.isIndexed) ? 0 : 1
            }
            next = posts.nextSlot(from: found + 1)
        }
        precondition(unindexed == unindexedCount, "The unindexed posts are counted wrong.")
        precondition(front.postCount == posts.count, "The front page counts other posts.")
        checkIndexes(front, unindexedCount: unindexed)
        if job.isSplit {
            job.back.checkInvariants(pool, posts)
        }
        for number in 0..<feeds.count {
            checkIndexes(feeds[number], unindexedCount: nil)
        }
    }

    private func checkPost(_ slot: UInt32, isListed: Bool) {
        let record = posts[slot]
        let flags = record.flags
        let isStale = flags.contains(.isInStaleHead) || flags.contains(.isInStaleTail)
        precondition(isStale == isListed, "A post's mark and the lists differ.")
        let isInBoth = flags.isSuperset(of: [.isInStaleHead, .isInStaleTail])
        precondition(!isInBoth, "A post is near and far.")
        let isFresh = flags.contains(.isIndexed) && record.indexedScore == record.score
        precondition(isFresh || isStale, "A post that moved is not marked.")
        for kind in IndexKind.allCases {
            for feed in [record.feed, nil] {
                checkPost(slot, record, feed, kind)
            }
        }
    }

    private func checkPost(
        _ slot: UInt32,
        _ record: PostRecord,
        _ feed: FeedID?,
        _ kind: IndexKind
    ) {
        let index = indexes(feed)[kind]
        guard index.isBuilt else { return }
        // A post cannot be checked alone in a list that the job has split or has not reached.
        guard job.stage(feed, kind) == .refreshed else { return }
        let isIndexed = record.flags.contains(.isIndexed)
        let indexedKey = key(kind, slot, record, record.indexedScore)
        let position = index.position(of: indexedKey, pool, posts)
        let isThere = index.key(at: position, pool) == indexedKey
        precondition(!isIndexed || isThere, "An index has lost a post.")
        guard record.flags.contains(.isInStaleTail), kind.followsScore || !isIndexed else { return }
        let own = key(kind, slot, record, record.score)
        let boundary = index.headBoundary
        let isBehind = !boundary.covers(own) && !(isIndexed && boundary.covers(indexedKey))
        precondition(isBehind || record.score == record.indexedScore, "A far post is near.")
    }

    private func checkIndexes(_ indexes: FeedIndexes, unindexedCount: Int?) {
        for kind in IndexKind.allCases where indexes[kind].isBuilt {
            indexes[kind].checkInvariants(pool, posts)
            if let unindexedCount, !job.isActive {
                let count = indexes.postCount - unindexedCount
                precondition(indexes[kind].count == count, "An index holds other posts.")
            }
        }
    }
}
