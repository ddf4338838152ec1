/// What viewers have read and dismissed.
extension FeedStore {
    /// A copy of a viewer's marks, which does not change; nil where there are none.
    package func marks(of viewer: VoterID) -> ViewerMarks? { marks.marks(of: viewer) }

    /// Marks posts one by one; posts that are gone are left out.
    ///
    /// Room is needed for marks on posts that have none yet, so marks can be taken back at the limit.
    /// A call that is refused marks no post. O(posts).
    package func mark(
        _ ids: [PostID],
        as mark: Mark,
        by viewer: VoterID,
        sink: some ChangeSink = NoChanges()
    ) throws(RankingError) {
        let posts = ids.compactMap { stripes.origin(of: $0) }
        try withRoom(of: viewer, sink) { () throws(RankingError) in
            try marks.change(viewer) { (own) throws(RankingError) in
                let added = own.addedCount(posts, as: mark)
                try marks.checkRoom(forPosts: added, of: viewer, beside: own)
                for post in posts {
                    let change = own.mark(post, as: mark, by: viewer, takeRevision: takeRevision)
                    if let change { sink.append(change) }
                }
            }
        }
    }

    /// Marks every post of a feed, or of all feeds for nil, that was created up to a post.
    ///
    /// The limit of a viewer's marks on single posts does not count. O(1): marks on single posts that
    /// the new mark ends are swept later.
    package func mark(
        through id: PostID,
        in feed: FeedID?,
        as mark: Mark,
        by viewer: VoterID,
        sink: some ChangeSink = NoChanges()
    ) throws(RankingError) {
        guard let post = stripes.origin(of: id), feed == nil || feed == post.feed else {
            throw .postNotInList(id)
        }
        try withRoom(of: viewer, sink) { () throws(RankingError) in
            try marks.change(viewer) { (own) throws(RankingError) in
                let added = own.addedCount(through: post, in: feed, as: mark)
                try marks.checkRoom(forUnits: added, of: viewer)
                let outcome = own.mark(
                    through: post,
                    in: feed,
                    as: mark,
                    by: viewer,
                    takeRevision: takeRevision
                )
                switch outcome {
                case .unchanged: break
                case .changed(let step): sink.append(step)
                case .tooMany: throw .tooManyMarks(limit: RankingLimits.maximumMarkStepCount)
                }
            }
        }
    }

    /// Forgets marks that say nothing any more: of posts that are gone, and those that newer marks
    /// have ended.
    ///
    /// - Parameters:
    ///   - sweep: Where the step begins; moved behind it.
    ///   - sink: Takes the marks that are forgotten.
    package func sweepMarks(_ sweep: inout MarkSweep, sink: some ChangeSink = NoChanges()) {
        let viewers = marks.viewers(
            ofShard: sweep.shard,
            from: sweep.place,
            markCount: MarkSweep.stepMarkCount
        )
        sweep.place += viewers.count
        if viewers.isEmpty {
            sweep.shard = (sweep.shard + 1) % MarkTable.shardCount
            sweep.place = 0
        }
        for viewer in viewers { sweepMarks(of: viewer, sink) }
    }

    /// The units that all marks take, of `RankingLimits.maximumMarkUnitCount`.
    package var markUnitCount: Int { marks.unitCount }

    /// Runs a body that may find no room for marks of a viewer, and once more after a sweep of its
    /// marks.
    ///
    /// The sweep looks at all of the viewer's marks, so there is none where nothing has ended marks
    /// since the last one.
    private func withRoom(
        of viewer: VoterID,
        _ sink: some ChangeSink,
        _ body: () throws(RankingError) -> Void
    ) throws(RankingError) {
        do throws(RankingError) {
            try body()
        } catch {
            var isDue = false
            marks.change(viewer) { isDue = $0.beginSweep(deletedCount: highestID &- postCount) }
            guard isDue else { throw error }
            sweepMarks(of: viewer, sink)
            try body()
        }
    }

    private func sweepMarks(of viewer: VoterID, _ sink: some ChangeSink) {
        let spent = spentMarks(of: viewer)
        guard !spent.isEmpty else { return }
        marks.change(viewer) { marks in
            for (id, revision) in spent where marks.posts[id]?.revision == revision {
                marks.forget(id)
                let revision = takeRevision()
                sink.append(PostMarks(viewer: viewer, post: id, marks: [], revision: revision))
            }
        }
    }

    /// The marks on single posts that say nothing any more, with their revisions.
    ///
    /// The copy of the marks ends with the call: a change beside it would copy them all.
    private func spentMarks(of viewer: VoterID) -> [(PostID, UInt64)] {
        guard let copy = marks.marks(of: viewer) else { return [] }
        return copy.posts.compactMap { id, onPost in
            if let post = stripes.origin(of: id), !copy.isSpent(post) { return nil }
            return (id, onPost.revision)
        }
    }
}

/// The posts that a viewer has neither read nor dismissed.
extension FeedStore {
    /// The number of unread posts of a feed, or of all feeds for nil.
    ///
    /// Nil when the allowance is used up: renew it and call again in a later loop iteration. Exact
    /// while nobody creates, deletes or marks posts meanwhile. O(viewer's marks + marks through
    /// posts * stripes * log n).
    package func unreadCount(
        in feed: FeedID?,
        by viewer: VoterID?,
        allowance: inout RefreshAllowance
    ) -> UInt64? {
        let marks = viewer.flatMap { self.marks.marks(of: $0) } ?? ViewerMarks()
        guard let sum = stripes.unreadCountThroughPosts(in: feed, marks, &allowance),
            let onPosts = stripes.unreadCountsOnPosts(marks, &allowance)
        else { return nil }
        let own = feed.map { onPosts[$0] ?? 0 } ?? onPosts.values.reduce(0, +)
        return UInt64(max(sum + own, 0))
    }

    /// The number of unread posts of each feed, by a copy of a viewer's marks; nil when the allowance
    /// is used up.
    ///
    /// One pass through the marks on single posts serves all feeds.
    package func unreadCounts(
        of feeds: [FeedSummary],
        _ marks: ViewerMarks,
        allowance: inout RefreshAllowance
    ) -> [UInt64]? {
        guard let onPosts = stripes.unreadCountsOnPosts(marks, &allowance) else { return nil }
        var counts: [UInt64] = []
        for feed in feeds {
            var count = Int(feed.postCount)
            if marks.hasSteps(reaching: feed.id) {
                guard
                    let sum = stripes.unreadCountThroughPosts(in: feed.id, marks, &allowance)
                else { return nil }
                count = sum
            }
            counts.append(UInt64(max(count + (onPosts[feed.id] ?? 0), 0)))
        }
        return counts
    }

    /// Builds the indexes that a count of unread posts needs after a mark through a post, and charges
    /// the looks at the viewer's marks on single posts; false when the allowance is used up.
    ///
    /// The count does not wait then, with any allowance.
    package func prepareUnreadCount(
        in feed: FeedID?,
        by viewer: VoterID?,
        markingThrough id: PostID?,
        allowance: inout RefreshAllowance
    ) -> Bool {
        let marks = viewer.flatMap { self.marks.marks(of: $0) } ?? ViewerMarks()
        guard stripes.unreadCountThroughPosts(in: feed, marks, &allowance) != nil else {
            return false
        }
        if let post = id.flatMap({ stripes.origin(of: $0) }) {
            let place = ListPosition(
                createTimeMilliseconds: post.createTimeMilliseconds,
                id: post.id
            )
            let new = ListID(feed: feed, kind: .new)
            guard stripes.count(before: place, new, &allowance) != nil else { return false }
        }
        guard marks.posts.isEmpty || !allowance.isUsedUp else { return false }
        allowance.charge(marks.posts.count)
        return true
    }
}
