/// The orders of a stripe's posts: the indexes of its lists, and the posts that are stale in them.
///
/// The indexes are maintained lazily. A write makes its post stale, and a reader refreshes the
/// indexes with the stale posts first. The stripe owns the records of the posts (`PostTable`), with
/// the flags and the scores that the orders need, and passes them to each call.
///
/// Invariants (`checkInvariants`): A built index has exactly the indexed posts of its feed, at
/// their indexed scores, except for the posts of `job`. A post is in the stale head or the stale
/// tail if its score is not the indexed score, or if no index has it. A post of the stale tail lies
/// behind the head boundary of every index, with its indexed score and with its own score.
struct StripeOrders: ~Copyable {
    /// The least rank of a head boundary.
    ///
    /// It is more than a page of the largest size takes from one of many stripes.
    private static let minimumHeadBoundaryRank = 16
    /// The share of a short stripe's posts, one in so many, at which its heads end.
    ///
    /// A page behind a head refreshes the stale tail, which is short too.
    private static let shortStripeShare = 4

    /// The keys of the stripe's posts.
    let slots: SlotKeys
    /// When a refresh is due, and how much of it is done at once.
    let pace: RefreshPace
    /// The rank of the head boundary in an index of a long stripe.
    let headBoundaryRank: Int
    /// The least rank of a head boundary in a short stripe: a first page of the largest size ends
    /// before it.
    private let leastBoundaryRank: Int

    /// The nodes of all indexes.
    var pool = NodePool()
    /// The lists of each feed, by feed number.
    var feeds = Slab<FeedIndexes>()
    /// The lists over all feeds.
    var front = FeedIndexes()

    /// The stale posts.
    var stale = StaleSlots()
    /// The number of stale posts in no index: created, or under a new title.
    var unindexedCount = 0

    /// The refresh in steps that is under way.
    var job = RefreshJob()
    /// The working memory of a refresh.
    var scratch = RefreshScratch()

    /// The orders of no posts.
    init(_ slots: SlotKeys, _ pace: RefreshPace) {
        self.slots = slots
        self.pace = pace
        headBoundaryRank = max(
            Self.minimumHeadBoundaryRank,
            pace.headPostCount >> Int(slots.stripeBits)
        )
        leastBoundaryRank = ListWalk.entryCount(
            ofWalk: RankingLimits.maximumPageSize + 1,
            stripeCount: 1 << Int(slots.stripeBits)
        )
    }

    /// Moves an index's head boundary after a change of its keys; moves it down only where `mayLower`.
    ///
    /// The posts of the stripe decide, not those of the list: the stale tail is the stripe's, and an
    /// index that a job has split has few of its keys.
    @inline(__always)
    func moveHeadBoundary(of index: inout RankedIndex, mayLower: Bool) {
        let share = max(leastBoundaryRank, front.postCount / Self.shortStripeShare)
        index.moveHeadBoundary(to: min(headBoundaryRank, share), pool, mayLower: mayLower)
    }

    /// Whether so many of the stripe's posts are stale that a read should not have to refresh them.
    func refreshIsDue(_ posts: borrowing PostTable) -> Bool {
        let share = posts.count / RankingLimits.staleShare
        return !job.isIdle || stale.count >= max(pace.minimumStaleCount, share)
    }

    /// The lists of a feed, or of all feeds for nil.
    func indexes(_ feed: FeedID?) -> FeedIndexes {
        guard let feed else { return front }
        let number = Int(feed.rawValue)
        return number < feeds.count ? feeds[number] : FeedIndexes()
    }

    /// The index of an order in the lists of a feed, or of all feeds for nil.
    @inline(__always)
    func listIndex(_ kind: IndexKind, _ feed: FeedID?) -> RankedIndex {
        guard let feed else { return front[kind] }
        let number = Int(feed.rawValue)
        return number < feeds.count ? feeds[number][kind] : RankedIndex()
    }

    /// Writes an index back after a change, because an index is a value.
    mutating func setIndex(_ index: RankedIndex, _ kind: IndexKind, _ feed: FeedID?) {
        guard let feed else {
            front[kind] = index
            return
        }
        feeds.extend(to: Int(feed.rawValue) + 1, with: FeedIndexes())
        feeds[Int(feed.rawValue)][kind] = index
    }

    /// Takes a new post into its lists, and makes it stale; O(1).
    mutating func add(_ slot: UInt32, _ record: inout PostRecord, slotLimit: Int) {
        let feed = Int(record.feed.rawValue)
        feeds.extend(to: feed + 1, with: FeedIndexes())
        stale.reserve(slotLimit)
        scratch.dropped.reserve(slotLimit)
        feeds[feed].postCount += 1
        feeds[feed].createdCount += 1
        front.postCount += 1
        front.createdCount += 1
        unindexedCount += 1
        makeStale(slot, &record)
    }

    /// Takes a post out of its lists for good; O(log n) an index.
    mutating func remove(_ slot: UInt32, _ posts: inout PostTable) {
        let record = takeOut(slot, &posts)
        feeds[Int(record.feed.rawValue)].postCount -= 1
        front.postCount -= 1
        unindexedCount -= 1
        if record.flags.contains(.isInStaleTail) {
            stale.removeFromTail(slot)
        }
    }

    /// The number of entries at the front of an index that its head boundary always covers.
    ///
    /// No boundary is set before that rank. So only a change that ``mayShow(_:gain:)`` changes them.
    var coveredCount: Int { min(headBoundaryRank, leastBoundaryRank) }

    /// Inserts a key into a list; O(log n).
    mutating func insertKey(
        _ key: RankKey,
        _ kind: IndexKind,
        _ feed: FeedID?,
        _ posts: borrowing PostTable
    ) {
        var index = listIndex(kind, feed)
        if job.progress(feed, kind) == .split, !comesBeforeEnd(key, index, posts) {
            job.insertBehindMerged(key, &pool, posts)
            return
        }
        index.insert(key, &pool, posts)
        setIndex(index, kind, feed)
    }

    /// Removes a key from a list; returns whether it was there.
    ///
    /// O(log n).
    mutating func removeKey(
        _ key: RankKey,
        _ kind: IndexKind,
        _ feed: FeedID?,
        _ posts: borrowing PostTable
    ) -> Bool {
        var index = listIndex(kind, feed)
        if index.remove(key, &pool, posts) {
            setIndex(index, kind, feed)
            return true
        }
        return job.progress(feed, kind) == .split
            && job.removeBehindMerged(key, &pool, posts)
    }

    /// Removes a post from every index, at its indexed score; returns its record as it is then.
    ///
    /// A post of the job leaves the job.
    mutating func takeOut(_ slot: UInt32, _ posts: inout PostTable) -> PostRecord {
        var record = posts[slot]
        guard record.flags.contains(.isIndexed) else { return record }
        let member = job.member(slot, record.feed)
        for kind in IndexKind.allCases {
            for feed in [record.feed, nil] where listIndex(kind, feed).isBuilt {
                takeOutOfList(slot, record, member, kind, feed, posts)
            }
        }
        if member != nil {
            job.remove(slot)
        }
        record.flags.remove(.isIndexed)
        unindexedCount += 1
        posts[slot] = record
        return record
    }

    /// Removes a post from one index, at the key that the index has of it.
    private mutating func takeOutOfList(
        _ slot: UInt32,
        _ record: PostRecord,
        _ member: StalePost?,
        _ kind: IndexKind,
        _ feed: FeedID?,
        _ posts: borrowing PostTable
    ) {
        let indexedKey = slots.key(kind, slot, record, record.indexedScore)
        let progress = job.progress(feed, kind)
        guard let member, progress != .refreshed, kind.followsScore || !member.wasIndexed else {
            let wasThere = removeKey(indexedKey, kind, feed, posts)
            precondition(wasThere, "An index has lost a post.")
            return
        }
        let old = slots.key(kind, member, member.oldScore)
        if progress == .waiting {
            guard member.wasIndexed else { return }
            let wasThere = removeKey(old, kind, feed, posts)
            precondition(wasThere, "An index has lost a post.")
            return
        }
        // The list has the post's new key if that key is merged, and its old key otherwise.
        var index = listIndex(kind, feed)
        index.remove(indexedKey, &pool, posts)
        setIndex(index, kind, feed)
        if member.wasIndexed {
            _ = job.removeBehindMerged(old, &pool, posts)
        }
    }

    private func comesBeforeEnd(
        _ key: RankKey,
        _ index: RankedIndex,
        _ posts: borrowing PostTable
    ) -> Bool {
        guard let last = index.lastKey(pool) else { return false }
        return posts.precedes(key, last)
    }
}
