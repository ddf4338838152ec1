/// A refresh in steps: see `RefreshJob`.
extension StandingLists {
    /// The number of keys that are merged for the work of sorting one.
    private static let mergedPerSorted = 4

    /// Continues the refresh that is due, for a millisecond or so.
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
}
