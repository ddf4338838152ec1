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
            let time = clock.now()
            let reader = PageReader(query, list, time: time)
            return try reader.read(stripes, into: &page, &allowance)
        case .cursor:
            let reader = PageReader(query, list, time: nil)
            return try reader.read(stripes, into: &page, &allowance)
        }
        let (place, post) = newer
        let reader = NewerPostsReader(query, list, time: clock.now())
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

    /// The user who wrote a post, 0 for an author without an account; O(1).
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
}
