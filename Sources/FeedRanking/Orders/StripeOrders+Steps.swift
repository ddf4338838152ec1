/// A refresh in steps: see `RefreshJob`.
extension StripeOrders {
    /// The number of keys that are merged for the work of sorting one.
    private static let mergedPerSorted = 4

    /// Continues the refresh that is due, for a millisecond or so.
    mutating func refreshStep(_ posts: inout PostTable) {
        guard refreshIsDue(posts) else { return }
        if posts.count <= pace.wholePostCount {
            refresh(includingTail: true, &posts)
            return
        }
        var work = pace.stepKeyCount
        if job.isIdle {
            refresh(includingTail: false, &posts)
            work -= startJob(&posts)
        }
        while work > 0, let used = jobStep(work, posts) {
            work -= used
        }
    }

    /// Finishes the job that is under way; returns how many posts it had.
    mutating func finishJob(_ posts: borrowing PostTable) -> Int {
        let count = job.postCount
        while jobStep(.max / Self.mergedPerSorted, posts) != nil {}
        return count
    }

    /// Takes posts of the stale tail into a job; returns how many.
    private mutating func startJob(_ posts: inout PostTable) -> Int {
        scratch.posts.removeAll()
        let limit = min(
            max(pace.minimumStaleCount, posts.count / 4),
            RankingLimits.maximumJobPostCount
        )
        takeStaleTail(atMost: limit, &posts)
        guard scratch.posts.count > 0 else { return 1 }
        scratch.orderBySlot()
        scratch.groupByFeed(posts)
        job.begin(scratch.takePosts())
        return job.postCount
    }

    /// Does about so much work of the job; returns the work done, in keys sorted, and nil where no
    /// job is under way.
    private mutating func jobStep(_ work: Int, _ posts: borrowing PostTable) -> Int? {
        guard let list = job.list else { return nil }
        let postCount = job.postCount
        var used = 1
        switch job.progress(list.feed, list.kind) {
        case .split:
            used = mergeSome(work * Self.mergedPerSorted, list, posts) / Self.mergedPerSorted + 1
        case .waiting where listIndex(list.kind, list.feed).isBuilt:
            used = startList(list, posts)
        case .waiting, .refreshed:
            job.leaveList()
        }
        if job.isIdle, postCount > RankingLimits.refreshMemoryCount {
            scratch.free()
        }
        return used
    }

    /// Moves the posts of a list where they are few, or sorts their keys, splits the list and
    /// merges its head.
    private mutating func startList(_ list: RefreshJob.List, _ posts: borrowing PostTable) -> Int {
        let count = list.places.count
        if count * Self.rebuildShare <= listIndex(list.kind, list.feed).count {
            moveKeys(of: list, posts)
            job.leaveList()
            return count * Self.mergedPerSorted * Self.mergedPerSorted + 1
        }
        var keys = newKeys(of: list)
        let keyCount = keys.count
        guard keyCount > 0 else {
            job.leaveList()
            return count + 1
        }
        scratch.sorter.sort(&keys, posts)
        var index = listIndex(list.kind, list.feed)
        job.split(index, merging: keys)
        index.forgetKeys()
        setIndex(index, list.kind, list.feed)
        return keyCount + mergeHead(list, posts) / Self.mergedPerSorted
    }

    /// Moves the members of a list to their new keys one by one.
    private mutating func moveKeys(of list: RefreshJob.List, _ posts: borrowing PostTable) {
        var index = listIndex(list.kind, list.feed)
        for place in list.places {
            guard let post = job.member(at: place) else { continue }
            guard list.kind.followsScore || !post.wasIndexed else { continue }
            let new = slots.key(list.kind, post, post.newScore)
            if post.wasIndexed {
                index.move(slots.key(list.kind, post, post.oldScore), to: new, &pool, posts)
            } else {
                index.insert(new, &pool, posts)
            }
        }
        setIndex(index, list.kind, list.feed)
    }

    /// The new keys of the members of a list.
    private func newKeys(of list: RefreshJob.List) -> Slab<RankKey> {
        var keys = Slab<RankKey>()
        job.forEachMember(list.places) { post in
            if list.kind.followsScore || !post.wasIndexed {
                keys.append(slots.key(list.kind, post, post.newScore))
            }
        }
        return keys
    }

    /// Merges a list that was just split up to its head boundary and beyond, so that no first page
    /// finds it empty; returns how many keys were merged.
    private mutating func mergeHead(_ list: RefreshJob.List, _ posts: borrowing PostTable) -> Int {
        var merged = 0
        while job.progress(list.feed, list.kind) == .split {
            let index = listIndex(list.kind, list.feed)
            if let last = index.lastKey(pool), !index.headBoundary.covers(last) { break }
            merged += mergeSome(headBoundaryRank, list, posts)
        }
        return merged
    }

    /// Merges so many keys of the split list, or all that are left; returns how many.
    private mutating func mergeSome(
        _ limit: Int,
        _ list: RefreshJob.List,
        _ posts: borrowing PostTable
    ) -> Int {
        var index = listIndex(list.kind, list.feed)
        let countBefore = index.count
        let isComplete = job.merge(limit, into: &index, &pool, posts)
        setIndex(index, list.kind, list.feed)
        if isComplete {
            job.leaveList()
        }
        return index.count - countBefore
    }
}
