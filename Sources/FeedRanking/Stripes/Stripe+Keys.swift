/// Single keys of a list, which a job may have split in two.
extension Stripe {
    /// Inserts a key into a list; O(log n).
    mutating func insertKey(_ key: RankKey, _ kind: IndexKind, _ feed: FeedID?) {
        var index = indexes(feed)[kind]
        if job.stage(feed, kind) == .split, !comesBeforeEnd(key, index) {
            job.back.insert(key, &pool, posts)
            return
        }
        index.insert(key, &pool, posts)
        setIndex(index, kind, feed)
    }

    /// Removes a key from a list; returns whether it was there.
    ///
    /// O(log n).
    mutating func removeKey(_ key: RankKey, _ kind: IndexKind, _ feed: FeedID?) -> Bool {
        var index = indexes(feed)[kind]
        if index.remove(key, &pool, posts) {
            setIndex(index, kind, feed)
            return true
        }
        return job.stage(feed, kind) == .split && job.back.remove(key, &pool, posts)
    }

    /// Removes a post from every index, at its indexed score; returns its record as it is then.
    ///
    /// A post of the job leaves the job.
    mutating func takeOut(_ slot: UInt32) -> PostRecord {
        var record = posts[slot]
        guard record.flags.contains(.isIndexed) else { return record }
        let member = job.isActive ? job.post(slot, record.feed) : nil
        for kind in IndexKind.allCases {
            for feed in [record.feed, nil] where indexes(feed)[kind].isBuilt {
                takeOut(slot, record, member, kind, feed)
            }
        }
        if member != nil {
            job.members.remove(slot)
            dropped.remove(slot)
        }
        record.flags.remove(.isIndexed)
        unindexedCount += 1
        posts[slot] = record
        return record
    }

    private mutating func takeOut(
        _ slot: UInt32,
        _ record: PostRecord,
        _ member: StalePost?,
        _ kind: IndexKind,
        _ feed: FeedID?
    ) {
        let indexedKey = key(kind, slot, record, record.indexedScore)
        let stage = job.stage(feed, kind)
        guard let member, stage != .refreshed, kind.followsScore || !member.wasIndexed else {
            let wasThere = removeKey(indexedKey, kind, feed)
            precondition(wasThere, "An index has lost a post.")
            return
        }
        let old = key(kind, member, member.oldScore)
        if stage == .waiting {
            guard member.wasIndexed else { return }
            let wasThere = removeKey(old, kind, feed)
            precondition(wasThere, "An index has lost a post.")
            return
        }
        // The list has the post's new key if that key is merged, and its old key otherwise.
        var index = indexes(feed)[kind]
        index.remove(indexedKey, &pool, posts)
        setIndex(index, kind, feed)
        if member.wasIndexed {
            job.back.remove(old, &pool, posts)
        }
    }

    private func comesBeforeEnd(_ key: RankKey, _ index: RankedIndex) -> Bool {
        guard let last = index.lastKey(pool) else { return false }
        return posts.precedes(key, last)
    }
}
