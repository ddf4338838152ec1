import FeedOrders

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
    /// The most posts of the stale head that are moved one by one while a job is under way; for
    /// more posts the job is finished.
    private static let movesBesideJob = 1_024
    /// The number of keys that are merged for the work of sorting one.
    private static let mergedPerSorted = 4

    private var feeds = Slab<FeedIndexes>()
    /// The lists over all feeds.
    private var front = FeedIndexes()

    private var stale = StaleSlots()
    /// The rank of the head boundaries.
    ///
    /// It never falls. So a boundary moves towards the first entry only behind changes that `mayShow` tells.
    private var headRank = 0
    /// The number of stale posts in no index: created, or under a new title.
    private var unindexedCount = 0
    private var job = RefreshJob()

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

    @inline(__always)
    func index(_ kind: KeyKind, _ feed: FeedID?) -> RankedIndex {
        guard let feed else { return front[kind] }
        let number = Int(feed.rawValue)
        return number < feeds.count ? feeds[number][kind] : RankedIndex()
    }

    /// Writes an index back after a change, because an index is a value.
    private mutating func setIndex(_ index: RankedIndex, _ kind: KeyKind, _ feed: FeedID?) {
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

    /// Brings a key to its new place in a list, which the job may have split; nil is no place; O(log n).
    private mutating func move(
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

    /// Builds a missing index and refreshes the stale head; false when the allowance is used up.
    mutating func prepare(
        _ list: ListID,
        _ allowance: inout RefreshAllowance,
        _ pass: inout ListPass
    ) -> Bool {
        let isBuilt = index(list.kind, list.feed).isBuilt
        let isFresh = stale.head.count == 0 || !list.kind.followsVotes && unindexedCount == 0
        if isBuilt && isFresh { return true }
        guard !allowance.isUsedUp else { return false }
        allowance.charge(
            isBuilt ? refresh(includingTail: false, &pass) : build(list.kind, list.feed, &pass)
        )
        return true
    }

    /// Refreshes the stale head and the stale tail; false when the allowance is used up.
    mutating func refreshTail(_ allowance: inout RefreshAllowance, _ pass: inout ListPass) -> Bool {
        guard !allowance.isUsedUp else { return false }
        allowance.charge(refresh(includingTail: true, &pass))
        return true
    }

    /// Whether no post of the stale tail can belong before `key`; nil asks for the whole index.
    @inline(__always)
    func isExact(_ index: RankedIndex, _ kind: KeyKind, upTo key: RankKey?) -> Bool {
        if index.headBoundary == .lowest { return true }
        let isFresh = stale.tailCount == 0 || (!kind.followsVotes && unindexedCount == 0)
        if isFresh && job.isIdle { return true }
        guard let key else { return false }
        return index.headBoundary.covers(key)
    }

    /// Refreshes the stale head, and where `includingTail` the stale tail too; returns how many keys moved.
    ///
    /// O(stale * log n), or O(n + stale) where many posts of a list are stale.
    @discardableResult
    private mutating func refresh(includingTail: Bool, _ pass: inout ListPass) -> Int {
        var finishedCount = 0
        if includingTail || stale.head.count > Self.movesBesideJob {
            finishedCount = finishJob(&pass)
        }
        pass.scratch.posts.removeAll()
        let takesTail = includingTail && stale.tailCount > 0
        takeStaleHead(intoTail: takesTail, &pass)
        if takesTail { takeStaleTail(atMost: .max, &pass) }
        let count = pass.scratch.posts.count
        guard count > 0 else { return finishedCount }
        pass.scratch.groupByFeed(pass.posts)
        let mayLower = stale.tailCount == 0 && job.isIdle
        var start = 0
        while start < count {
            let feed = pass.scratch.posts[start].feed
            var end = start + 1
            while end < count, pass.scratch.posts[end].feed == feed { end += 1 }
            moveInLists(of: feed, start..<end, mayLower: mayLower, &pass)
            start = end
        }
        moveInLists(of: nil, 0..<count, mayLower: mayLower, &pass)
        pass.scratch.free(afterPosts: count)
        return finishedCount + count
    }

    /// Builds an index that no reader has asked for yet; returns how many keys that took; O(n).
    private mutating func build(_ kind: KeyKind, _ feed: FeedID?, _ pass: inout ListPass) -> Int {
        let refreshedCount = refresh(includingTail: true, &pass)
        pass.scratch.beginRebuild(slotLimit: pass.posts.slotLimit)
        var next = pass.posts.nextLiveSlot(from: 0)
        while let slot = next {
            let record = pass.posts[slot]
            if feed == nil || record.feed == feed {
                pass.scratch.keys.append(pass.slots.key(kind, slot, record))
            }
            next = pass.posts.nextLiveSlot(from: Int(slot) + 1)
        }
        var index = RankedIndex()
        index.isBuilt = true
        pass.rebuild(&index)
        moveHeadBoundary(of: &index, mayLower: true, &pass)
        setIndex(index, kind, feed)
        let keyCount = refreshedCount + pass.scratch.keys.count
        pass.scratch.free()
        return keyCount
    }

    /// Takes all posts off the stale head; puts them into the stale tail where `intoTail`.
    private mutating func takeStaleHead(intoTail: Bool, _ pass: inout ListPass) {
        for place in 0..<stale.head.count where pass.posts.contains(stale.head[place]) {
            if intoTail {
                stale.insertIntoTail(stale.head[place])
            } else {
                takeStale(stale.head[place], &pass)
            }
        }
        stale.head.removeAll()
    }

    /// Takes posts off the stale tail in the order of slots, so records are read one after another.
    private mutating func takeStaleTail(atMost limit: Int, _ pass: inout ListPass) {
        let takesAll = stale.tailCount <= limit
        var ahead = stale.nextInTail(from: takesAll ? 0 : stale.nextJobSlot)
        var next = ahead
        for _ in 0..<min(RecordDirectory.prefetchDistance, stale.tailCount) {
            ahead = prefetchInTail(ahead, pass.posts)
        }
        for _ in 0..<min(limit, stale.tailCount) {
            guard let slot = next else { preconditionFailure("The stale tail is counted wrong.") }
            ahead = prefetchInTail(ahead, pass.posts)
            next = stale.nextInTail(from: Int(slot) + 1)
            stale.removeFromTail(slot)
            takeStale(slot, &pass)
            stale.nextJobSlot = Int(slot) + 1
        }
    }

    private func prefetchInTail(_ slot: UInt32?, _ posts: borrowing PostTable) -> UInt32? {
        guard let slot else { return nil }
        posts.directory.prefetch(slot)
        return stale.nextInTail(from: Int(slot) + 1)
    }

    /// Counts a post as refreshed, and takes it unless its votes have cancelled each other out.
    ///
    /// The indexes have the post's old keys until `refresh` ends.
    private mutating func takeStale(_ slot: UInt32, _ pass: inout ListPass) {
        if !job.isIdle, job.hasMember(slot) { takeOut(slot, &pass) }
        let post = StalePost(slot, pass.posts[slot])
        pass.posts[slot].flags.remove([.isInStaleHead, .isInStaleTail])
        if !post.wasIndexed {
            pass.posts[slot].flags.insert(.isIndexed)
            unindexedCount -= 1
        } else if post.oldScore == post.newScore {
            return
        }
        pass.posts[slot].scoreChange = 0
        pass.scratch.posts.append(post)
    }

    /// Brings a range of the posts taken to their new keys in the lists of a feed, or of all feeds.
    private mutating func moveInLists(
        of feed: FeedID?,
        _ range: Range<Int>,
        mayLower: Bool,
        _ pass: inout ListPass
    ) {
        let hasNew = range.contains { !pass.scratch.posts[$0].wasIndexed }
        for kind in KeyKind.standing where kind.followsVotes || hasNew {
            var index = index(kind, feed)
            guard index.isBuilt else { continue }
            let isSplit = job.progress(feed, kind) == .split
            let rebuilds = job.isIdle && ListPass.rebuilds(index, forMoves: range.count)
            if rebuilds { pass.scratch.beginRebuild(slotLimit: pass.posts.slotLimit) }
            for place in range {
                let post = pass.scratch.posts[place]
                guard kind.followsVotes || !post.wasIndexed else { continue }
                let new = pass.slots.key(kind, post, at: post.newScore)
                if rebuilds {
                    if post.wasIndexed { pass.scratch.drop(post.slot) }
                    pass.scratch.keys.append(new)
                    continue
                }
                let old = post.wasIndexed ? pass.slots.key(kind, post, at: post.oldScore) : nil
                if isSplit {
                    move(old, to: new, in: kind, of: feed, &pass)
                } else {
                    pass.move(old, to: new, in: &index)
                }
            }
            if rebuilds { pass.rebuild(&index) }
            if isSplit { index = self.index(kind, feed) }
            moveHeadBoundary(of: &index, mayLower: mayLower, &pass)
            setIndex(index, kind, feed)
        }
    }

    /// Continues the refresh in steps (`RefreshJob`) that is due, for a millisecond or so.
    mutating func refreshStep(_ pass: inout ListPass) {
        let count = pass.posts.count
        guard refreshIsDue(pass.pace, postCount: count) else { return }
        if count <= pass.pace.wholePostCount {
            refresh(includingTail: true, &pass)
            return
        }
        var work = pass.pace.stepKeyCount
        if job.isIdle {
            refresh(includingTail: false, &pass)
            work -= startJob(&pass)
        }
        while work > 0, let used = jobStep(work, &pass) { work -= used }
    }

    /// Finishes the job that is under way; returns how many posts it had.
    mutating func finishJob(_ pass: inout ListPass) -> Int {
        let count = job.postCount
        while jobStep(.max / Self.mergedPerSorted, &pass) != nil {}
        return count
    }

    /// Takes posts of the stale tail into a job; returns how many.
    private mutating func startJob(_ pass: inout ListPass) -> Int {
        pass.scratch.posts.removeAll()
        let share = max(pass.pace.minimumStaleCount, pass.posts.count / 4)
        takeStaleTail(atMost: min(share, RankingLimits.maximumJobPostCount), &pass)
        guard pass.scratch.posts.count > 0 else { return 1 }
        pass.scratch.orderBySlot()
        pass.scratch.groupByFeed(pass.posts)
        job.begin(pass.scratch.takePosts())
        return job.postCount
    }

    /// Does about so much work of the job; returns the work done, in keys sorted, and nil where no
    /// job is under way.
    private mutating func jobStep(_ work: Int, _ pass: inout ListPass) -> Int? {
        guard let list = job.list else { return nil }
        let postCount = job.postCount
        var used = 1
        switch job.progress(list.feed, list.kind) {
        case .split:
            used = mergeSome(work * Self.mergedPerSorted, list, &pass) / Self.mergedPerSorted + 1
        case .waiting where index(list.kind, list.feed).isBuilt:
            used = startList(list, &pass)
        case .waiting, .refreshed:
            job.leaveList()
        }
        if job.isIdle { pass.scratch.free(afterPosts: postCount) }
        return used
    }

    /// Moves the posts of a list where they are few, or sorts their keys, splits the list and
    /// merges its head.
    private mutating func startList(_ list: RefreshJob.List, _ pass: inout ListPass) -> Int {
        let count = list.places.count
        var index = index(list.kind, list.feed)
        let splits = ListPass.rebuilds(index, forMoves: count)
        var keys = Slab<RankKey>()
        for place in list.places {
            guard let post = job.member(at: place), list.kind.followsVotes || !post.wasIndexed
            else { continue }
            let new = pass.slots.key(list.kind, post, at: post.newScore)
            if splits {
                keys.append(new)
            } else {
                let old = pass.slots.key(list.kind, post, at: post.oldScore)
                pass.move(post.wasIndexed ? old : nil, to: new, in: &index)
            }
        }
        let keyCount = keys.count
        guard keyCount > 0 else {
            setIndex(index, list.kind, list.feed)
            job.leaveList()
            return (splits ? count : count * Self.mergedPerSorted * Self.mergedPerSorted) + 1
        }
        pass.scratch.sorter.sort(&keys, pass.posts)
        job.split(index, merging: keys)
        index.forgetKeys()
        setIndex(index, list.kind, list.feed)
        return keyCount + mergeHead(list, &pass) / Self.mergedPerSorted
    }

    /// Merges a list that was just split up to its head boundary and beyond, so that no first page
    /// finds it empty; returns how many keys were merged.
    private mutating func mergeHead(_ list: RefreshJob.List, _ pass: inout ListPass) -> Int {
        var merged = 0
        while job.progress(list.feed, list.kind) == .split {
            let index = index(list.kind, list.feed)
            if let last = index.lastKey(pass.pool), !index.headBoundary.covers(last) { break }
            merged += mergeSome(pass.headRank, list, &pass)
        }
        return merged
    }

    /// Merges so many keys of the split list, or all that are left; returns how many.
    private mutating func mergeSome(
        _ limit: Int,
        _ list: RefreshJob.List,
        _ pass: inout ListPass
    ) -> Int {
        var index = index(list.kind, list.feed)
        let countBefore = index.count
        let isComplete = job.merge(limit, into: &index, &pass.pool, pass.posts)
        setIndex(index, list.kind, list.feed)
        if isComplete { job.leaveList() }
        return index.count - countBefore
    }

    /// Traps where an invariant of the type does not hold; O(n).
    func checkInvariants(_ pass: borrowing ListPass) {
        var listed = SlotSet()
        listed.reserve(pass.posts.slotLimit)
        for place in 0..<stale.head.count where pass.posts.contains(stale.head[place]) {
            let slot = stale.head[place]
            if pass.posts[slot].flags.contains(.isInStaleHead) { listed.insert(slot) }
        }
        var tailCount = 0
        var nextInTail = stale.tail.next(from: 0)
        while let slot = nextInTail {
            let isMarked = pass.posts[slot].flags.contains(.isInStaleTail)
            precondition(isMarked, "A post of the stale tail lacks its flag.")
            listed.insert(slot)
            tailCount += 1
            nextInTail = stale.tail.next(from: Int(slot) + 1)
        }
        precondition(tailCount == stale.tailCount, "The stale tail is counted wrong.")
        var unindexed = 0
        var next = pass.posts.nextLiveSlot(from: 0)
        while let slot = next {
            checkPost(StalePost(slot, pass.posts[slot]), isListed: listed.bit(slot) == 1, pass)
            unindexed += pass.posts[slot].flags.contains(.isIndexed) ? 0 : 1
            next = pass.posts.nextLiveSlot(from: Int(slot) + 1)
        }
        precondition(unindexed == unindexedCount, "The unindexed posts are counted wrong.")
        let isCounted = front.postCount == pass.posts.count
        precondition(isCounted, "The lists of all feeds count other posts.")
        job.checkInvariants(pass.pool, pass.posts)
        for kind in KeyKind.standing {
            front[kind].checkInvariants(pass.pool, pass.posts)
            let count = front[kind].isBuilt && job.isIdle ? front[kind].count : nil
            let isWhole = count == nil || count == front.postCount - unindexed
            precondition(isWhole, "An index has other posts.")
            for number in 0..<feeds.count {
                feeds[number][kind].checkInvariants(pass.pool, pass.posts)
            }
        }
    }

    private func checkPost(_ post: StalePost, isListed: Bool, _ pass: borrowing ListPass) {
        let flags = pass.posts[post.slot].flags
        let isStale = flags.contains(.isInStaleHead) || flags.contains(.isInStaleTail)
        precondition(isStale == isListed, "A post's flags and the stale posts differ.")
        let isInBoth = flags.isSuperset(of: [.isInStaleHead, .isInStaleTail])
        precondition(!isInBoth, "A post is in the stale head and the stale tail.")
        let isFresh = post.wasIndexed && post.oldScore == post.newScore
        precondition(isFresh || isStale, "A post that moved is not stale.")
        for kind in KeyKind.standing {
            for feed in [post.feed, nil] where index(kind, feed).isBuilt {
                // A post cannot be checked alone in a list that the job has split or has not reached.
                guard job.progress(feed, kind) == .refreshed else { continue }
                let index = index(kind, feed)
                let old = pass.slots.key(kind, post, at: post.oldScore)
                let position = index.position(of: old, pass.pool, pass.posts)
                let isThere = index.key(at: position, pass.pool) == old
                precondition(!post.wasIndexed || isThere, "An index has lost a post.")
                guard flags.contains(.isInStaleTail),
                    kind.followsVotes || !post.wasIndexed
                else { continue }
                let boundary = index.headBoundary
                let own = pass.slots.key(kind, post, at: post.newScore)
                let isBehind = !boundary.covers(own) && !(post.wasIndexed && boundary.covers(old))
                precondition(
                    isBehind || post.oldScore == post.newScore,
                    "A post of the stale tail is in a head."
                )
            }
        }
    }
}
