/// Settling in steps: see `SettlingJob`.
extension Stripe {
    /// How many keys are merged for the work of sorting one.
    private static let mergedPerSorted = 4

    /// Goes on with the settling that is due, for a millisecond or so.
    mutating func settleStep() {
        guard settlingIsDue else { return }
        if posts.count <= pace.wholePostCount {
            settle(includingFar: true)
            return
        }
        var work = pace.stepKeyCount
        if !job.isActive {
            settle(includingFar: false)
            work -= startJob()
        }
        while job.isActive, work > 0 {
            work -= jobStep(work)
        }
    }

    /// Ends the job that is under way, whatever is left of it; returns how many posts it had.
    mutating func finishJob() -> Int {
        guard job.isActive else { return 0 }
        let count = job.posts.count
        while job.isActive {
            _ = jobStep(.max / Self.mergedPerSorted)
        }
        return count
    }

    /// Takes far posts into a job; returns how many.
    private mutating func startJob() -> Int {
        dirty.removeLast()
        let limit = min(
            max(pace.minimumBacklogCount, posts.count / 4),
            RankingLimits.maximumJobPostCount
        )
        takeFar(atMost: limit)
        guard dirty.count > 0 else { return 1 }
        orderBySlot()
        groupByFeed()
        swap(&dirty, &job.posts)
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

    /// Brings the posts taken into the order of slots, where that went over the end to the first:
    /// `SettlingJob.post` looks for them by it.
    private mutating func orderBySlot() {
        var first = 1
        while first < dirty.count, dirty[first - 1].slot < dirty[first].slot { first += 1 }
        guard first < dirty.count else { return }
        var ordered = Slab<DirtyPost>()
        for index in 0..<dirty.count {
            ordered.append(dirty[(first + index) % dirty.count])
        }
        swap(&dirty, &ordered)
    }

    /// Does about so much of the job; returns how much it was, in keys sorted.
    private mutating func jobStep(_ work: Int) -> Int {
        var used = 1
        if job.isSplit {
            used = mergeSome(work * Self.mergedPerSorted) / Self.mergedPerSorted + 1
        } else if indexes(jobFeed)[job.kind].isBuilt {
            used = startList() + mergeFront() / Self.mergedPerSorted
        } else {
            job.advance()
        }
        if !job.isActive {
            endJob()
        }
        return used
    }

    private var jobFeed: FeedID? {
        job.feedNumber == SettlingJob.frontNumber
            ? nil : FeedID(rawValue: UInt32(job.feedNumber))
    }

    /// Moves the few posts of a list, or sorts their keys and splits its index.
    private mutating func startList() -> Int {
        let feed = jobFeed
        var index = indexes(feed)[job.kind]
        let moves = job.range.count * Self.rebuildShare <= index.count
        for place in job.range {
            let post = job.posts[place]
            guard job.members.bit(post.slot) == 1 else { continue }
            guard job.kind.followsScore || !post.wasIndexed else { continue }
            let new = key(job.kind, post, post.newScore)
            if !moves {
                job.keys.append(new)
            } else if post.wasIndexed {
                index.move(key(job.kind, post, post.oldScore), to: new, &pool, posts)
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

    /// Merges a list that was just split up to its floor and beyond: no first page finds it empty.
    private mutating func mergeFront() -> Int {
        var merged = 0
        while job.isSplit {
            let index = indexes(jobFeed)[job.kind]
            if let last = index.lastKey(pool), !index.floor.covers(last) { break }
            merged += mergeSome(floorRank)
        }
        return merged
    }

    /// Merges so many keys of the split list, or all that are left; returns how many.
    private mutating func mergeSome(_ limit: Int) -> Int {
        let feed = jobFeed
        var index = indexes(feed)[job.kind]
        var appender = LeafAppender()
        let countBefore = index.count
        while index.count - countBefore < limit {
            let source = job.back.takeFirstLeaf(&pool)
            guard source != .none else { break }
            mergeLeaf(source, &appender, &index)
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
        _ index: inout RankedIndex
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
        if job.posts.count > RankingLimits.settlingMemoryCount {
            job.posts = Slab()
            job.keys = Slab()
            freeWorkingMemory()
        }
    }
}
