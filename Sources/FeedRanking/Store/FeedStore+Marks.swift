/// What viewers have read and dismissed.
extension FeedStore {
    /// A copy of a viewer's marks, which does not change; nil where there are none.
    package func marks(of viewer: VoterID) -> ViewerMarks? { marks.marks(of: viewer) }

    /// Marks posts one by one; posts that are gone are left out.
    ///
    /// O(posts).
    package func mark(
        _ ids: [PostID],
        as mark: Mark,
        by viewer: VoterID,
        sink: some ChangeSink = NoChanges()
    ) throws(RankingError) {
        let posts = ids.compactMap { stripes.origin(of: $0) }
        try makeRoom(for: posts.count, of: viewer, sink)
        marks.change(viewer) { marks in
            for post in posts {
                let change = marks.mark(post, as: mark, by: viewer, takeRevision: takeRevision)
                if let change { sink.append(change) }
            }
        }
    }

    /// Marks every post of a feed, or of all feeds for nil, that was created up to a post.
    ///
    /// O(1): marks on single posts that the new mark ends are swept later.
    package func mark(
        through id: PostID,
        in feed: FeedID?,
        as mark: Mark,
        by viewer: VoterID,
        sink: some ChangeSink = NoChanges()
    ) throws(RankingError) {
        guard let post = stripes.origin(of: id), feed == nil || feed == post.feed else {
            throw .postNotFound(id)
        }
        try makeRoom(for: 1, of: viewer, sink)
        var isRefused = false
        marks.change(viewer) { marks in
            let outcome = marks.mark(
                through: post,
                in: feed,
                as: mark,
                by: viewer,
                takeRevision: takeRevision
            )
            switch outcome {
            case .unchanged: break
            case .changed(let step): sink.append(step)
            case .tooMany: isRefused = true
            }
        }
        if isRefused { throw .tooManyMarks(limit: RankingLimits.maximumMarkStepCount) }
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

    /// Checks for room for more marks of a viewer, and sweeps its marks where there is none.
    private func makeRoom(
        for count: Int,
        of viewer: VoterID,
        _ sink: some ChangeSink
    ) throws(RankingError) {
        do throws(RankingError) {
            try marks.checkRoom(for: count, of: viewer)
        } catch {
            sweepMarks(of: viewer, sink)
            try marks.checkRoom(for: count, of: viewer)
        }
    }

    private func sweepMarks(of viewer: VoterID, _ sink: some ChangeSink) {
        guard let copy = marks.marks(of: viewer) else { return }
        let spent = copy.posts.keys.filter { id in
            guard let post = stripes.origin(of: id) else { return true }
            return copy.isSpent(post)
        }
        guard !spent.isEmpty else { return }
        marks.change(viewer) { marks in
            for id in spent where marks.posts[id]?.revision == copy.posts[id]?.revision {
                marks.forget(id)
                let revision = takeRevision()
                sink.append(PostMarks(viewer: viewer, post: id, marks: [], revision: revision))
            }
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
        return unreadCount(in: feed, marks, allowance: &allowance)
    }

    /// The number of unread posts by a copy of a viewer's marks.
    package func unreadCount(
        in feed: FeedID?,
        _ marks: ViewerMarks,
        allowance: inout RefreshAllowance
    ) -> UInt64? {
        stripes.unreadCount(in: feed, marks, &allowance).map { UInt64(max($0, 0)) }
    }
}
