package import FeedConcurrency
package import FeedOrders
import Synchronization

extension FeedStore {
    /// Reads a page of a list, exact as of now.
    ///
    /// O(stripes * log n + size * log stripes) plus the refresh. A page that begins at a rank takes
    /// O(stripes² * log² n) at worst.
    package func page(
        _ query: PageQuery,
        into page: inout PostPage,
        allowance: inout RefreshAllowance
    ) throws(RankingError) -> PageOutcome {
        precondition(
            query.size > 0 && query.size <= RankingLimits.maximumPageSize,
            "A page has 1 to \(RankingLimits.maximumPageSize) rows, not \(query.size)."
        )
        if let feed = query.feed, feedTable.policy(of: feed) == nil { throw .feedNotFound(feed) }
        let list = list(query.feed, query.order, query.window)
        switch source(of: query, list, &page, &allowance) {
        case .again: return .again
        case .wait: return .wait
        case .snapshot(let snapshot):
            if SnapshotReader(query, snapshot).read(stripes, into: &page) { break }
            guard try readLive(query, list, into: &page, &allowance) else { return .again }
        case .live:
            guard try readLive(query, list, into: &page, &allowance) else { return .again }
        }
        page.apply(query.marks)
        return .done
    }

    /// What the store is at before a page is read; O(1).
    package func moment(of query: PageQuery) -> PageMoment {
        // In this order: see `ChangeCounts`.
        let revision = revision
        let version = changes.version(of: query.feed)
        let (time, era) = query.window == nil ? (0, 0) : windowClock.now()
        return PageMoment(revision: revision, shownVersion: version, time: time, era: era)
    }

    /// Fills a page with posts as they are now; false when the allowance is used up.
    private func readLive(
        _ query: PageQuery,
        _ list: ListID,
        into page: inout PostPage,
        _ allowance: inout RefreshAllowance
    ) throws(RankingError) -> Bool {
        let newer: (place: ListPosition, excluded: PostID?)
        switch query.start {
        case .newerThan(let id):
            guard let post = stripes.origin(of: id), query.feed == nil || query.feed == post.feed
            else { throw .postNotInList(id) }
            // A post with the same time and a smaller id may be created later.
            let time = post.createTimeMilliseconds
            let place = ListPosition(createTimeMilliseconds: time, id: PostID(rawValue: 0))
            newer = (place, id)
        case .cursor(let cursor) where cursor.direction == .newer:
            newer = (cursor.position, nil)
        case .first, .rank, .around:
            // No later post gets an earlier time, also where the clock is set back meanwhile.
            let reader = PageReader(query, list, bound: creationBound)
            return try reader.read(stripes, into: &page, &allowance)
        case .cursor:
            let reader = PageReader(query, list, bound: nil)
            return try reader.read(stripes, into: &page, &allowance)
        }
        let (place, post) = newer
        let reader = NewerPostsReader(query, list, bound: creationBound)
        return reader.read(place, excluding: post, stripes, into: &page, &allowance)
    }

    /// The rank of a post in a list of its own feed; O(stripes * log n) plus the refresh.
    ///
    /// A post that is not within the window is not found.
    package func rank(
        of id: PostID,
        order: Order,
        window: Window? = nil,
        allowance: inout RefreshAllowance
    ) throws(RankingError) -> RankOutcome {
        var list = list(nil, order, window)
        guard let place = stripes.place(of: id, list) else { throw .postNotInList(id) }
        list.feed = place.feed
        guard let counted = stripes.count(before: place.position, list, &allowance) else {
            return .again
        }
        let total = UInt64(counted.postCount)
        let before = UInt64(counted.skippedCount)
        // The last key of the index ranks first in OLD. A post that was deleted meanwhile ranks 1.
        let rank = order == .old ? total - min(before, total) : before + 1
        return .done(rank: max(rank, 1), total: total)
    }

    /// The list that a read asks for now.
    func list(_ feed: FeedID?, _ order: Order, _ window: Window?) -> ListID {
        precondition(window == nil || order.allowsWindow, "\(order) has no windows.")
        var list = ListID(feed: feed, kind: KeyKind(order))
        guard window != nil || !list.isStanding else { return list }
        let (time, era) = windowClock.now()
        list.span = window.map { WindowSpan($0, endingAt: time, era) }
        list.readTime = time
        return list
    }

    /// The feed of a post, without a copy of its texts; O(1).
    package func feed(of id: PostID) throws(RankingError) -> FeedID {
        try stripes.withStripe(of: id) { (stripe) throws(RankingError) -> FeedID in
            guard let slot = stripe.liveSlot(id) else { throw .postNotFound(id) }
            return stripe.posts[slot].feed
        }
    }

    /// Who made a post, as `PostContent` has it; O(1).
    package func author(of id: PostID) throws(RankingError) -> UInt64 {
        try stripes.withStripe(of: id) { (stripe) throws(RankingError) -> UInt64 in
            guard let slot = stripe.liveSlot(id) else { throw .postNotFound(id) }
            return stripe.posts[slot].content.authorID
        }
    }

    /// The ballot of a voter on a post, nil without one and for a post that is gone; O(1).
    package func ballot(of voter: VoterID, on id: PostID) -> VoteDirection? {
        stripes.withStripe(of: id) { stripe in
            guard let slot = stripe.liveSlot(id), stripe.posts[slot].flags.contains(.keepsBallots)
            else { return nil }
            return stripe.ballots.ballot(slot, voter)
        }
    }

    /// Appends a post to a page; O(1).
    package func post(
        _ id: PostID,
        voter: VoterID? = nil,
        into page: inout PostPage
    ) throws(RankingError) {
        try stripes.withStripe(of: id) { (stripe) throws(RankingError) -> Void in
            guard let slot = stripe.liveSlot(id) else { throw .postNotFound(id) }
            page.append(slot, of: &stripe, voter)
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
            let outcome = stripes.withStripe(of: id) { stripe in
                page.appendLive(id, of: &stripe, voter, byteLimit: byteLimit)
            }
            switch outcome {
            case .appended: break
            case .missing: missing.append(id)
            case .full: return index
            }
        }
        return ids.count
    }

    // Snapshots of lists, from which stable pages are read.

    enum PageSource {
        case live
        case snapshot(ListSnapshot)
        /// The allowance ends before the snapshot is taken: call again in a later loop iteration.
        case again
        /// Another caller is taking the snapshot: call again in a later loop iteration.
        case wait
    }

    package var snapshotUsage: (count: Int, byteCount: Int) { snapshots.usage }

    /// Drops snapshots that nobody has used for long; O(snapshots).
    package func expireSnapshots(now: MonotonicInstant) { snapshots.expire(now: now) }

    /// Finds the snapshot of a page, or takes one.
    func source(
        of query: PageQuery,
        _ id: ListID,
        _ page: inout PostPage,
        _ allowance: inout RefreshAllowance
    ) -> PageSource {
        let list = ListSnapshot.List(feed: query.feed, order: query.order, window: query.window)
        if case .cursor(let cursor) = query.start {
            guard let place = cursor.snapshot,
                let snapshot = snapshots.snapshot(place.id, of: list, now: query.now),
                snapshot.revision >= query.minimumRevision
            else { return .live }
            return .snapshot(snapshot)
        }
        guard case .stable(let needed) = query.stability else { return .live }
        if case .newerThan = query.start { return .live }
        switch snapshots.admit(to: list, needing: needed, at: revision, now: query.now) {
        case .join(let snapshot): return .snapshot(snapshot)
        case .none: return .live
        case .wait: return .wait
        case .take(let number):
            guard let snapshot = snapshot(number, of: list, id, by: &page.merge, &allowance) else {
                snapshots.abandon(list)
                return .again
            }
            snapshots.finish(snapshot, takenAt: query.now)
            return .snapshot(snapshot)
        }
    }

    /// Takes a snapshot of a list; nil when the allowance is used up.
    private func snapshot(
        _ number: UInt64,
        of list: ListSnapshot.List,
        _ id: ListID,
        by merge: inout PageMerge,
        _ allowance: inout RefreshAllowance
    ) -> ListSnapshot? {
        // Both before the first stripe: the stripes have every change of this revision, and no post
        // that they miss has an earlier time.
        let revision = self.revision
        let bound = creationBound
        let walk = ListWalk(
            list: id,
            isDescending: list.order == .old,
            start: .end,
            limit: RankingLimits.snapshotPostCount
        )
        guard merge.runAtOnce(walk, stripes, &allowance) else { return nil }
        let entries = merge.chosen.map {
            ListSnapshot.Entry(primary: $0.primary, secondary: $0.secondary, id: $0.id)
        }
        let newest = list.order == .new ? merge.chosen.first : nil
        return ListSnapshot(
            id: number,
            list: list,
            revision: revision,
            entries: entries,
            postCount: merge.summary.postCount,
            refreshPlace: .earlier(newest.map { ListPosition($0, title: []) }, bound)
        )
    }

    // Reads for those who watch posts: numbers only, so that many may look often.

    /// Reads the first posts of a list that pass a filter, for a viewer; false when the allowance is used
    /// up.
    ///
    /// Each stripe's share is as of one moment, so no post comes twice and none is missed. A filter looks at
    /// the first `RankingLimits.maximumScanCount` posts of the list. O(stripes * log n + posts looked at *
    /// log stripes) plus the refresh.
    package func readFirstPosts(
        of feed: FeedID?,
        _ order: Order,
        _ window: Window?,
        count: Int,
        filter: PageFilter? = nil,
        viewer: VoterKey? = nil,
        into first: inout FirstPosts,
        allowance: inout RefreshAllowance
    ) -> Bool {
        precondition(
            (1...RankingLimits.maximumPageSize).contains(count),
            "One to \(RankingLimits.maximumPageSize) posts are read, not \(count)."
        )
        // Before the first stripe: the stripes have every change of this revision.
        let revision = self.revision
        // After the revision, which later marks pass.
        let marks = viewer.flatMap { self.voter(ifKnown: $0) }.flatMap { self.marks.marks(of: $0) }
        let filter = filter.flatMap { $0.isNeeded(marks) ? $0 : nil }
        var walk = ListWalk(
            list: list(feed, order, window),
            isDescending: order == .old,
            start: .end,
            limit: filter == nil ? count : min(2 * count, RankingLimits.maximumScanCount)
        )
        first.lookCount = 0
        while true {
            guard first.merge.runAtOnce(walk, stripes, &allowance) else { return false }
            for entry in first.merge.chosen { prefetch(entry.id) }
            first.posts.removeAll(keepingCapacity: true)
            for entry in first.merge.chosen where first.posts.count < count {
                // A post that was deleted since the merge is left out.
                let numbers = numbers(of: entry.id) { filter?.passes($0, entry.id, marks) ?? true }
                if let numbers { first.posts.append(numbers) }
            }
            let isWhole = first.merge.chosen.count < walk.limit
            first.lookCount += first.merge.chosen.count
            guard filter != nil, first.posts.count < count, !isWhole,
                walk.limit < RankingLimits.maximumScanCount
            else { break }
            // Anew, and farther: parts that follow each other would miss posts that move meanwhile.
            walk.limit = min(8 * walk.limit, RankingLimits.maximumScanCount)
        }
        // There is one such value for each viewer, and few for other lists.
        if filter != nil { first.merge = PageMerge() }
        first.createdCount = createdCount(in: feed)
        first.revision = revision
        return true
    }

    /// The numbers of posts, nil for those that are gone; O(posts).
    package func readNumbers(of ids: [PostID], into numbers: inout [PostNumbers?]) {
        numbers.removeAll(keepingCapacity: true)
        for id in ids { prefetch(id) }
        for id in ids { numbers.append(self.numbers(of: id)) }
    }

    /// The numbers of a post that lives and passes a test; nil for others.
    private func numbers(
        of id: PostID,
        where passes: (PostRecord) -> Bool = { _ in true }
    ) -> PostNumbers? {
        stripes.withStripe(of: id) { stripe in
            guard let slot = stripe.liveSlot(id), passes(stripe.posts[slot]) else { return nil }
            return PostNumbers(id, stripe.posts[slot])
        }
    }

    /// The posts that were created in a feed, or in all feeds for nil, since the start of the process.
    private func createdCount(in feed: FeedID?) -> UInt64 {
        var count: UInt64 = 0
        for number in 0..<stripes.count {
            count += stripes.withStripe(number) { $0.standing.indexes(feed).createdCount }
        }
        return count
    }

    // The posts that a viewer has neither read nor dismissed.

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

    // Changes since a revision, for readers that keep a copy.

    /// Reads the changes behind a position into a page: posts as they are now, and deleted ones.
    ///
    /// The revision is read before the first stripe. Each change up to it is in its stripe by the time
    /// that the stripe is locked, so a reader that has every change of the stripes up to a revision
    /// misses none. A post that changes while the page is read may come here and again later.
    ///
    /// Each stripe contributes a few changes. The page has those up to the revision that no stripe has
    /// more before, so it may have fewer than asked for. Its posts and its marks show the viewer's marks of
    /// one moment. O(stripes + changes looked at), and O(n log n) where nobody has read changes for long.
    package func sync(
        _ query: SyncQuery,
        into page: inout PostPage,
        allowance: inout RefreshAllowance
    ) -> SyncOutcome {
        let end = revision
        // After the revision, which later ballots and marks pass, the first of a viewer among them.
        let voter = query.viewer.flatMap { self.voter(ifKnown: $0) }
        let now = syncClock.now()
        var query = query
        var isReset = query.position.isStart || query.position.deletionsSince > end
        var changes: [SyncChange] = []
        while true {
            if isReset { query.position = SyncPosition(revision: 0, copyRevision: end) }
            changes.removeAll(keepingCapacity: true)
            guard let part = collect(query, to: end, at: now, into: &changes, &allowance) else {
                return .again
            }
            if isReset || part.deletionsKnownSince <= query.position.deletionsSince {
                let last = copyRows(of: &changes, query, voter, through: part.end, into: &page)
                var outcome = SyncPage(
                    position: query.position.moved(to: last),
                    hasMore: last < end,
                    isReset: isReset
                )
                let marks = voter.flatMap { self.marks.marks(of: $0) }
                page.apply(marks)
                outcome.marks = query.marks.map { position -> MarkPage in
                    // A new copy gets its posts with their marks from now on.
                    if isReset {
                        return MarkPage(position: SyncPosition(revision: end, copyRevision: 0))
                    }
                    allowance.charge(marks?.posts.count ?? 0)
                    return (marks ?? ViewerMarks()).page(
                        behind: position,
                        to: end,
                        of: query.feed,
                        limit: query.size,
                        floor: unknownMarksRevision.load(ordering: .relaxed)
                    ) { stripes.origin(of: $0) }
                }
                return .done(outcome)
            }
            isReset = true
        }
    }

    /// Gives up the orders of changes that nobody has read for long, and forgets old deletions;
    /// O(stripes + changed posts).
    package func expireSync() {
        let now = syncClock.now()
        for number in 0..<stripes.count {
            stripes.withStripe(number) { stripe in
                stripe.sync.dropIfIdle(at: now, &stripe.pass.posts)
                stripe.tombstones.expire(at: now)
            }
        }
    }

    /// The changes of all stripes behind a position, in no order; nil when the allowance is used up.
    private func collect(
        _ query: SyncQuery,
        to end: UInt64,
        at now: Int64,
        into changes: inout [SyncChange],
        _ allowance: inout RefreshAllowance
    ) -> Stripe.SyncPart? {
        let count = min(
            query.size,
            max(2 * query.size / stripes.count, RankingLimits.syncPartCount)
        )
        let range = SyncRange(
            feed: query.feed,
            start: query.position.revision,
            end: end,
            countLimit: count,
            scanLimit: max(count, RankingLimits.maximumScanCount / stripes.count)
        )
        var whole = Stripe.SyncPart(
            end: end,
            deletionsKnownSince: unknownDeletionsRevision.load(ordering: .relaxed)
        )
        for number in 0..<stripes.count {
            let part = stripes.withStripe(number) { stripe in
                stripe.collectChanges(
                    range,
                    deletionsSince: query.position.deletionsSince,
                    at: now,
                    into: &changes,
                    &allowance
                )
            }
            guard let part else { return nil }
            whole.end = min(whole.end, part.end)
            whole.deletionsKnownSince = max(whole.deletionsKnownSince, part.deletionsKnownSince)
        }
        return whole
    }

    /// Appends the rows of the changes up to a revision, in their order, until the page is full; returns the
    /// revision up to which no change is left out.
    ///
    /// A post that was deleted meanwhile is left out: its deletion is a later change.
    private func copyRows(
        of changes: inout [SyncChange],
        _ query: SyncQuery,
        _ voter: VoterID?,
        through end: UInt64,
        into page: inout PostPage
    ) -> UInt64 {
        changes.sort { $0.revision < $1.revision }
        var last = query.position.revision
        for (index, change) in changes.enumerated() {
            guard change.revision <= end else { return end }
            if index == query.size { return last }
            if change.isDeletion {
                page.appendDeletion(of: change.id, revision: change.revision)
            } else {
                let outcome = stripes.withStripe(of: change.id) { stripe in
                    page.appendLive(change.id, of: &stripe, voter, byteLimit: query.byteLimit)
                }
                if case .full = outcome { return last }
            }
            last = change.revision
        }
        return end
    }

    // Who made the posts, and when.

    /// The creation of a post whose author and time pass a test; nil also where there is no such post.
    ///
    /// O(1), without a copy of the texts where the test fails.
    package func creation(
        of id: PostID,
        where passes: (_ authorID: UInt64, _ createTimeMilliseconds: Int64) -> Bool
    ) -> PostCreation? {
        stripes.withStripe(of: id) { stripe in
            guard let slot = stripe.liveSlot(id) else { return nil }
            let record = stripe.posts[slot]
            let authorID = PostContent.user(ofAuthor: record.content.authorID)
            guard passes(authorID, record.createTimeMilliseconds) else { return nil }
            return PostCreation(
                feed: record.feed,
                title: record.content.content.title,
                authorID: authorID,
                createTimeMilliseconds: record.createTimeMilliseconds
            )
        }
    }
}

/// What the store knows of a post's creation, and what a person knows the post by.
package struct PostCreation: Sendable, Equatable {
    package let feed: FeedID
    package let title: String
    /// The user that wrote the post; 0 for an author without an account.
    package let authorID: UInt64
    package let createTimeMilliseconds: Int64
}
