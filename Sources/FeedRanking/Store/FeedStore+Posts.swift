import Synchronization

extension FeedStore {
    /// Makes a post and appends it to a page; O(1).
    @discardableResult
    package func createPost(
        _ content: PostContent,
        in feed: FeedID,
        sink: some ChangeSink = NoChanges(),
        into page: inout PostPage
    ) throws(RankingError) -> WriteOutcome {
        guard let policy = feedTable.policy(of: feed) else { throw .feedNotFound(feed) }
        let id = PostID(rawValue: lastID.wrappingAdd(1, ordering: .relaxed).newValue)
        livePostCount.wrappingAdd(1, ordering: .relaxed)
        return stripes.withStripe(stripeNumber(id)) { stripe in
            guard let slot = stripe.slots.slot(id) else {
                preconditionFailure("Ids beyond \(id.rawValue) need more stripes.")
            }
            let time = clock.now()
            let revision = takeRevision()
            let record = PostRecord(
                content: ContentBlob(
                    content,
                    updateTimeMilliseconds: time,
                    editRevision: revision
                ),
                feed: feed,
                voteMode: policy.voteMode,
                createTimeMilliseconds: time,
                revision: revision
            )
            stripe.insert(record, at: slot)
            if !sink.isNone { sink.append(stripe.state(slot, content)) }
            stripe.appendRow(slot, nil, to: &page)
            return WriteOutcome(
                revision: revision,
                refreshIsDue: stripe.refreshIsDue
            )
        }
    }

    /// Changes a post and appends it to a page; O(log n) an index for a title, else O(1).
    ///
    /// - Parameters:
    ///   - id: The post to change.
    ///   - changes: The fields to replace; even without a change the post takes a new revision.
    ///   - expectedRevision: A revision of the post or of the store, or 0 for any. The post's own
    ///     fields must not have changed since that revision; votes do not count.
    ///   - voter: The voter whose ballot the appended row shows.
    ///   - sink: The sink that takes the change.
    ///   - page: The page that the post is appended to.
    /// - Returns: The new revision.
    /// - Throws: If the post is not there, or not at the revision.
    @discardableResult
    package func updatePost(
        _ id: PostID,
        _ changes: PostChanges,
        expectedRevision: UInt64 = 0,
        voter: VoterID? = nil,
        sink: some ChangeSink = NoChanges(),
        into page: inout PostPage
    ) throws(RankingError) -> WriteOutcome {
        try stripes.withStripe(stripeNumber(id)) { (stripe) throws(RankingError) -> WriteOutcome in
            guard let slot = stripe.liveSlot(id) else { throw .postNotFound(id) }
            try check(expectedRevision, stripe.posts[slot])
            var content = stripe.posts[slot].content.content
            content.apply(changes)
            let revision = takeRevision()
            stripe.posts[slot].revision = revision
            stripe.replaceContent(
                slot,
                ContentBlob(
                    content,
                    updateTimeMilliseconds: clock.now(),
                    editRevision: revision
                )
            )
            if !sink.isNone { sink.append(stripe.state(slot, content)) }
            stripe.appendRow(slot, voter, to: &page)
            return WriteOutcome(revision: revision, refreshIsDue: stripe.refreshIsDue)
        }
    }

    /// Removes a post for good; a repeated removal is no error and takes no revision.
    ///
    /// O(log n) an index.
    @discardableResult
    package func deletePost(
        _ id: PostID,
        expectedRevision: UInt64 = 0,
        sink: some ChangeSink = NoChanges()
    ) throws(RankingError) -> WriteOutcome {
        let wasGiven = id.rawValue > 0 && id.rawValue <= lastID.load(ordering: .relaxed)
        guard wasGiven else { throw .postNotFound(id) }
        return try stripes.withStripe(stripeNumber(id)) {
            (stripe) throws(RankingError) -> WriteOutcome in
            guard let slot = stripe.liveSlot(id) else {
                return WriteOutcome(revision: revision, refreshIsDue: false)
            }
            try check(expectedRevision, stripe.posts[slot])
            stripe.remove(slot)
            livePostCount.wrappingSubtract(1, ordering: .relaxed)
            let revision = takeRevision()
            sink.append(deletionOf: id, revision: revision)
            return WriteOutcome(revision: revision, refreshIsDue: stripe.refreshIsDue)
        }
    }

    /// The feed of a post, without a copy of its texts; O(1).
    package func feed(of id: PostID) throws(RankingError) -> FeedID {
        try stripes.withStripe(stripeNumber(id)) { (stripe) throws(RankingError) -> FeedID in
            guard let slot = stripe.liveSlot(id) else { throw .postNotFound(id) }
            return stripe.posts[slot].feed
        }
    }

    /// Appends a post to a page; O(1).
    package func post(
        _ id: PostID,
        voter: VoterID? = nil,
        into page: inout PostPage
    ) throws(RankingError) {
        try stripes.withStripe(stripeNumber(id)) { (stripe) throws(RankingError) -> Void in
            guard let slot = stripe.liveSlot(id) else { throw .postNotFound(id) }
            stripe.appendRow(slot, voter, to: &page)
        }
    }

    /// Appends posts in the order of the given ids; returns how many of the ids were examined.
    ///
    /// It stops before a post whose texts would pass the page's limit, but not before the page's
    /// first post. O(1) a post.
    package func posts(
        _ ids: [PostID],
        voter: VoterID? = nil,
        byteLimit: Int = .max,
        missing: inout [PostID],
        into page: inout PostPage
    ) -> Int {
        for (index, id) in ids.enumerated() {
            let found = appendRow(id, voter, byteLimit: byteLimit, to: &page)
            if found == .full { return index }
            if found == .missing {
                missing.append(id)
            }
        }
        return ids.count
    }

    /// The outcome for a post that was to join a page.
    enum RowOutcome {
        case appended
        case missing
        case full
    }

    /// Appends a post to a page if the post is live and fits; O(1).
    func appendRow(
        _ id: PostID,
        _ voter: VoterID?,
        byteLimit: Int,
        to page: inout PostPage
    ) -> RowOutcome {
        stripes.withStripe(stripeNumber(id)) { stripe in
            guard let slot = stripe.liveSlot(id) else { return .missing }
            let isFull = page.isFull(for: stripe.textByteCount(slot), byteLimit: byteLimit)
            if isFull { return .full }
            stripe.appendRow(slot, voter, to: &page)
            return .appended
        }
    }

    /// Refuses a revision that is before the post's last edit, or that the store has not assigned.
    ///
    /// The revision may be the post's own or the state's. A caller that has read any state since
    /// the last edit knows the post's fields. The post's stripe is locked, so no edit comes
    /// between.
    private func check(_ expected: UInt64, _ record: PostRecord) throws(RankingError) {
        let edited = record.content.editRevision
        guard expected == 0 || (expected >= edited && expected <= revision) else {
            throw .revisionMismatch(expected: expected, actual: edited)
        }
    }
}

extension PostContent {
    /// Sets the new values and keeps the other fields.
    mutating func apply(_ changes: PostChanges) {
        title = changes.title ?? title
        text = changes.text ?? text
        linkURL = changes.linkURL ?? linkURL
        thumbnailURL = changes.thumbnailURL ?? thumbnailURL
        imageURL = changes.imageURL ?? imageURL
        commentCount = changes.commentCount ?? commentCount
    }
}
