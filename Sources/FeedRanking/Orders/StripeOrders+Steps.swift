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
        if !job.isActive {
            refresh(includingTail: false, &posts)
            work -= startJob(&posts)
        }
        while job.isActive, work > 0 {
            work -= jobStep(work, posts)
        }
    }

    /// Finishes the job that is under way; returns how many posts it had.
    mutating func finishJob(_ posts: borrowing PostTable) -> Int {
        guard job.isActive else { return 0 }
        let count = job.posts.count
        while job.isActive {
            _ = jobStep(.max / Self.mergedPerSorted, posts)
        }
        return count
    }

    /// Takes posts of the stale tail into a job; returns how many.
    private mutating func startJob(_ posts: inout PostTable) -> Int {
        stalePosts.removeLast()
        let limit = min(
            max(pace.minimumStaleCount, posts.count / 4),
            RankingLimits.maximumJobPostCount
        )
        takeTail(atMost: limit, &posts)
        guard stalePosts.count > 0 else { return 1 }
        orderBySlot()
        groupByFeed(posts)
        swap(&stalePosts, &job.posts)
        for index in 0..<job.posts.count {
            let post = job.posts[index]
            job.members.insert(post.slot)
            if post.wasIndexed {
                dropped.insert(post.slot)
            }
        }
        job.isActive = true
        job.kind = .top
        job.start(at: 0)
        return job.posts.count
    }

    /// Orders the posts taken by slot, where the search wrapped from the last slot to the first.
    ///
    /// `RefreshJob.post` searches them by slot.
    private mutating func orderBySlot() {
        var first = 1
        while first < stalePosts.count, stalePosts[first - 1].slot < stalePosts[first].slot {
            first += 1
        }
        guard first < stalePosts.count else { return }
        var ordered = Slab<StalePost>()
        for index in 0..<stalePosts.count {
            ordered.append(stalePosts[(first + index) % stalePosts.count])
        }
        swap(&stalePosts, &ordered)
    }

    /// Does about so much work of the job; returns the work done, in keys sorted.
    private mutating func jobStep(_ work: Int, _ posts: borrowing PostTable) -> Int {
        var used = 1
        if job.isSplit {
            used = mergeSome(work * Self.mergedPerSorted, posts) / Self.mergedPerSorted + 1
        } else if indexes(jobFeed)[job.kind].isBuilt {
            used = startList(posts) + mergeHead(posts) / Self.mergedPerSorted
        } else {
            job.advance()
        }
        if !job.isActive {
            endJob()
        }
        return used
    }

    private var jobFeed: FeedID? {
        job.feedNumber == RefreshJob.frontNumber
            ? nil : FeedID(rawValue: UInt32(job.feedNumber))
    }

    /// Moves the posts of a list where they are few, or sorts their keys and splits its index.
    private mutating func startList(_ posts: borrowing PostTable) -> Int {
        let feed = jobFeed
        var index = indexes(feed)[job.kind]
        let moves = job.range.count * Self.rebuildShare <= index.count
        for place in job.range {
            let post = job.posts[place]
            guard job.members.bit(post.slot) == 1 else { continue }
            guard job.kind.followsScore || !post.wasIndexed else { continue }
            let new = slots.key(job.kind, post, post.newScore)
            if !moves {
                job.keys.append(new)
            } else if post.wasIndexed {
                index.move(slots.key(job.kind, post, post.oldScore), to: new, &pool, posts)
            } else {
                index.insert(new, &pool, posts)
            }
        }
        if moves || job.keys.count == 0 {
            setIndex(index, job.kind, feed)
            job.advance()
            return job.range.count * (moves ? Self.mergedPerSorted * Self.mergedPerSorted : 1) + 1
        }
        sorter.sort(&job.keys, posts)
        job.nextKey = 0
        job.isSplit = true
        job.back = index
        index.forgetKeys()
        setIndex(index, job.kind, feed)
        return job.keys.count
    }

    /// Merges a list that was just split up to its head boundary and beyond, so that no first page
    /// finds it empty.
    private mutating func mergeHead(_ posts: borrowing PostTable) -> Int {
        var merged = 0
        while job.isSplit {
            let index = indexes(jobFeed)[job.kind]
            if let last = index.lastKey(pool), !index.headBoundary.covers(last) { break }
            merged += mergeSome(headBoundaryRank, posts)
        }
        return merged
    }

    /// Merges so many keys of the split list, or all that are left; returns how many.
    private mutating func mergeSome(_ limit: Int, _ posts: borrowing PostTable) -> Int {
        let feed = jobFeed
        var index = indexes(feed)[job.kind]
        var appender = LeafAppender()
        let countBefore = index.count
        while index.count - countBefore < limit {
            let source = job.back.takeFirstLeaf(&pool)
            guard source != .none else { break }
            mergeLeaf(source, &appender, &index, posts)
        }
        if job.back.count == 0 {
            while let key = nextJobKey() {
                appender.append(key, to: &index, &pool)
                job.nextKey += 1
            }
        }
        appender.finish(&index, &pool)
        setIndex(index, job.kind, feed)
        let merged = index.count - countBefore
        if job.back.count == 0 {
            job.advance()
        }
        return merged
    }

    private mutating func mergeLeaf(
        _ source: NodeID,
        _ appender: inout LeafAppender,
        _ index: inout RankedIndex,
        _ posts: borrowing PostTable
    ) {
        if job.kind.followsScore {
            _ = pool.compact(source, dropping: dropped)
        }
        let kept = pool.count(source)
        var written = 0
        while let key = nextJobKey() {
            let place = pool.place(of: key, in: source, from: written, posts)
            appender.append(source, written..<place, to: &index, &pool)
            written = place
            if place == kept { break }
            appender.append(key, to: &index, &pool)
            job.nextKey += 1
        }
        appender.append(source, written..<kept, to: &index, &pool)
        pool.freeNode(source)
    }

    /// The next new key of a post that has not left the job.
    private mutating func nextJobKey() -> RankKey? {
        while job.nextKey < job.keys.count {
            let key = job.keys[job.nextKey]
            if job.members.bit(key.slot) == 1 { return key }
            job.nextKey += 1
        }
        return nil
    }

    private mutating func endJob() {
        for index in 0..<job.posts.count {
            let slot = job.posts[index].slot
            job.members.remove(slot)
            dropped.remove(slot)
        }
        if job.posts.count > RankingLimits.refreshMemoryCount {
            job.posts = Slab()
            job.keys = Slab()
            freeWorkingMemory()
        }
    }
}
