/// The lists of a stripe that are never dropped: TOP, NEW and HOT of all time, of each feed and of all.
///
/// The lists are maintained lazily. A write makes its post stale, and a reader refreshes the indexes
/// with the stale posts first. A post's record has one score under which all of its indexes have it
/// (`PostRecord.indexedScore`), so they share one account of what is stale. The stripe owns the records
/// and passes them to each call (`ListPass`).
///
/// Invariants (`checkInvariants`): A built index has exactly the indexed posts of its feed, at
/// their indexed scores, except for the posts of `job`. A post is in the stale head or the stale
/// tail if its score is not the indexed score, or if no index has it. A post of the stale tail lies
/// behind the head boundary of every index, with its indexed score and with its own score.
struct StandingLists: ~Copyable {
    /// The share of a short stripe's posts, one in so many, at which its heads end.
    ///
    /// A page behind a head refreshes the stale tail, which is short too.
    private static let shortStripeShare = 4

    /// The lists of each feed, by feed number.
    var feeds = Slab<FeedIndexes>()
    /// The lists over all feeds.
    var front = FeedIndexes()

    /// The stale posts.
    var stale = StaleSlots()
    /// The rank of the head boundaries.
    ///
    /// It never falls. So a boundary moves towards the first entry only behind changes that `mayShow` tells.
    private var headRank = 0
    /// The number of stale posts in no index: created, or under a new title.
    var unindexedCount = 0
    /// The refresh in steps that is under way.
    var job = RefreshJob()

    /// The lists of no posts.
    init() {}

    /// Moves an index's head boundary after a change of its keys; moves it down only where `mayLower`.
    @inline(__always)
    func moveHeadBoundary(of index: inout RankedIndex, mayLower: Bool, _ pass: inout ListPass) {
        index.moveHeadBoundary(to: headRank, pass.pool, mayLower: mayLower)
    }

    /// Raises the rank of the head boundaries with the posts of the stripe.
    ///
    /// These decide, and not the posts of a list: the stale tail is the stripe's, and an index that a job has
    /// split has few of its keys.
    private mutating func raiseHeadRank(_ pass: borrowing ListPass) {
        let share = max(pass.leastHeadRank, front.postCount / Self.shortStripeShare)
        headRank = max(headRank, min(pass.headRank, share))
    }

    /// Whether so many of the stripe's posts are stale that a read should not have to refresh them.
    @inline(__always)
    func refreshIsDue(_ pace: RefreshPace, postCount: Int) -> Bool {
        let share = postCount / RankingLimits.staleShare
        return !job.isIdle || stale.count >= max(pace.minimumStaleCount, share)
    }

    /// The lists of a feed, or of all feeds for nil.
    @inline(__always)
    func indexes(_ feed: FeedID?) -> FeedIndexes {
        guard let feed else { return front }
        let number = Int(feed.rawValue)
        return number < feeds.count ? feeds[number] : FeedIndexes()
    }

    /// The index of an order in the lists of a feed, or of all feeds for nil.
    @inline(__always)
    func index(_ kind: KeyKind, _ feed: FeedID?) -> RankedIndex {
        guard let feed else { return front[kind] }
        let number = Int(feed.rawValue)
        return number < feeds.count ? feeds[number][kind] : RankedIndex()
    }

    /// Writes an index back after a change, because an index is a value.
    mutating func setIndex(_ index: RankedIndex, _ kind: KeyKind, _ feed: FeedID?) {
        guard let feed else {
            front[kind] = index
            return
        }
        feeds.extend(to: Int(feed.rawValue) + 1, with: FeedIndexes())
        feeds[Int(feed.rawValue)][kind] = index
    }

    /// Takes a new post into its lists, and makes it stale; O(1).
    mutating func add(_ slot: UInt32, _ record: inout PostRecord, _ pass: inout ListPass) {
        let feed = Int(record.feed.rawValue)
        feeds.extend(to: feed + 1, with: FeedIndexes())
        stale.reserve(pass.posts.slotLimit)
        feeds[feed].countCreation()
        front.countCreation()
        raiseHeadRank(pass)
        unindexedCount += 1
        makeStale(slot, &record, pass.slots)
    }

    /// Takes a post out of its lists for good; O(log n) an index.
    mutating func remove(_ slot: UInt32, _ pass: inout ListPass) {
        let record = takeOut(slot, &pass)
        feeds[Int(record.feed.rawValue)].postCount -= 1
        front.postCount -= 1
        unindexedCount -= 1
        if record.flags.contains(.isInStaleTail) { stale.removeFromTail(slot) }
    }

    /// Brings a key to its new place in a list, which the job may have split; nil is no place.
    ///
    /// O(log n).
    mutating func move(
        _ old: RankKey?,
        to new: RankKey?,
        in kind: KeyKind,
        of feed: FeedID?,
        _ pass: inout ListPass
    ) {
        var index = index(kind, feed)
        if job.progress(feed, kind) != .split {
            pass.move(old, to: new, in: &index)
            setIndex(index, kind, feed)
            return
        }
        if let old {
            let wasThere =
                index.remove(old, &pass.pool, pass.posts)
                || job.removeBehindMerged(old, &pass.pool, pass.posts)
            precondition(wasThere, "An index has lost a post.")
        }
        if let new {
            let last = index.lastKey(pass.pool)
            if let last, pass.posts.precedes(new, last) {
                index.insert(new, &pass.pool, pass.posts)
            } else {
                job.insertBehindMerged(new, &pass.pool, pass.posts)
            }
        }
        setIndex(index, kind, feed)
    }

    /// Removes a post from every index, at its indexed score; returns its record as it is then.
    ///
    /// A post of the job leaves the job.
    @discardableResult
    mutating func takeOut(_ slot: UInt32, _ pass: inout ListPass) -> PostRecord {
        var record = pass.posts[slot]
        guard record.flags.contains(.isIndexed) else { return record }
        let member = job.member(slot, record.feed)
        let post = StalePost(slot, record)
        for kind in KeyKind.standing {
            for feed in [record.feed, nil] where index(kind, feed).isBuilt {
                takeOut(post, as: member, of: kind, of: feed, &pass)
            }
        }
        if member != nil { job.remove(slot) }
        record.flags.remove(.isIndexed)
        unindexedCount += 1
        pass.posts[slot] = record
        return record
    }

    /// Removes a post from one index, at the key that the index has of it.
    private mutating func takeOut(
        _ post: StalePost,
        as member: StalePost?,
        of kind: KeyKind,
        of feed: FeedID?,
        _ pass: inout ListPass
    ) {
        let key = pass.slots.key(kind, post, at: post.oldScore)
        let progress = job.progress(feed, kind)
        guard let member, progress != .refreshed, kind.followsVotes || !member.wasIndexed else {
            return move(key, to: nil, in: kind, of: feed, &pass)
        }
        let old = member.wasIndexed ? pass.slots.key(kind, member, at: member.oldScore) : nil
        guard progress == .split else { return move(old, to: nil, in: kind, of: feed, &pass) }
        // The list has the post's new key if that key is merged, and its old key otherwise.
        var index = index(kind, feed)
        index.remove(key, &pass.pool, pass.posts)
        setIndex(index, kind, feed)
        if let old { _ = job.removeBehindMerged(old, &pass.pool, pass.posts) }
    }
}
