extension Stripe {
    /// Traps where an invariant of the type does not hold; O(n).
    package func checkInvariants() {
        var listed = SlotSet()
        listed.reserve(posts.slotLimit)
        for index in 0..<near.count where posts.contains(near[index]) {
            if posts[near[index]].flags.contains(.isNear) { listed.insert(near[index]) }
        }
        var foundFar = 0
        var nextFar = far.next(from: 0)
        while let slot = nextFar {
            precondition(posts[slot].flags.contains(.isFar), "A far post is not marked.")
            listed.insert(slot)
            foundFar += 1
            nextFar = far.next(from: Int(slot) + 1)
        }
        precondition(foundFar == farCount, "The far posts are counted wrong.")
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
        let isDirty = flags.contains(.isNear) || flags.contains(.isFar)
        precondition(isDirty == isListed, "A post's mark and the lists differ.")
        precondition(!flags.isSuperset(of: [.isNear, .isFar]), "A post is near and far.")
        let isSettled = flags.contains(.isIndexed) && record.settledScore == record.score
        precondition(isSettled || isDirty, "A post that moved is not marked.")
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
        // Of a list that a job has split, or has not come to, only the whole says what is right.
        guard job.stage(feed, kind) == .settled else { return }
        let isIndexed = record.flags.contains(.isIndexed)
        let settledKey = key(kind, slot, record, record.settledScore)
        let position = index.position(of: settledKey, pool, posts)
        let isThere = index.key(at: position, pool) == settledKey
        precondition(!isIndexed || isThere, "An index has lost a post.")
        guard record.flags.contains(.isFar), kind.followsScore || !isIndexed else { return }
        let own = key(kind, slot, record, record.score)
        let isBehind = !index.floor.covers(own) && !(isIndexed && index.floor.covers(settledKey))
        precondition(isBehind || record.score == record.settledScore, "A far post is near.")
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
