/// Single keys of a list, which a job may have split in two.
extension Stripe {
    /// Puts a key into a list; O(log n).
    mutating func insertKey(_ key: RankKey, _ kind: IndexKind, _ feed: FeedID?) {
        var index = indexes(feed)[kind]
        if job.stage(feed, kind) == .split, !comesBeforeEnd(key, index) {
            job.back.insert(key, &pool, posts)
            return
        }
        index.insert(key, &pool, posts)
        setIndex(index, kind, feed)
    }

    /// Takes a key out of a list; returns whether it was there.
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

    /// Takes a post out of every index, at its settled score; returns its record as it is then.
    ///
    /// A post of the job leaves it.
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
        _ member: DirtyPost?,
        _ kind: IndexKind,
        _ feed: FeedID?
    ) {
        let settled = key(kind, slot, record, record.settledScore)
        let stage = job.stage(feed, kind)
        guard let member, stage != .settled, kind.followsScore || !member.wasIndexed else {
            let wasThere = removeKey(settled, kind, feed)
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
        // What the list has of it is the new key if that is merged, and the old one if not yet.
        var index = indexes(feed)[kind]
        index.remove(settled, &pool, posts)
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
