/// Reads a page of a list: finds its start, merges the stripes and copies the rows.
struct PageReader {
    /// The page that is asked for.
    private let query: PageQuery
    /// The list of the page, as of the time of the read.
    private let list: ListID

    /// A reader of the page of a query, which is of a list.
    init(_ query: PageQuery, _ list: ListID) {
        self.query = query
        self.list = list
    }

    /// Fills the page, exact as of now; false when the allowance is used up.
    ///
    /// O(stripes * log n + size * log stripes) plus the refresh. A page that begins at a rank takes
    /// O(stripes² * log² n) at worst.
    func read(
        _ stripes: borrowing StripeSlab,
        into page: inout PostPage,
        _ allowance: inout RefreshAllowance
    ) throws(RankingError) -> Bool {
        page.removeAll()
        guard let start = try start(stripes, &page, &allowance) else { return false }
        let isBackwards = start.direction == .before
        let walk = ListWalk(
            list: list,
            isDescending: (query.order == .old) != isBackwards,
            start: start.walkStart,
            limit: query.size + 1
        )
        guard page.merge.run(walk, stripes, &allowance) else { return false }
        let usedCount = fetchRows(walk, stripes, &page)
        page.totalCount = UInt64(page.merge.summary.postCount)
        finish(start, usedCount: usedCount, stripes, &page)
        return true
    }

    /// The start and the direction of a page's walk.
    private struct PageStart {
        var direction = PageCursor.Direction.after
        var walkStart = WalkStart.end
        /// The rank of the first post behind the start.
        var rank: UInt64 = 1
    }

    private func start(
        _ stripes: borrowing StripeSlab,
        _ page: inout PostPage,
        _ allowance: inout RefreshAllowance
    ) throws(RankingError) -> PageStart? {
        switch query.start {
        case .first:
            return PageStart()
        case .cursor(let cursor):
            return PageStart(
                direction: cursor.direction,
                walkStart: .position(cursor.position, isIncluded: false),
                rank: cursor.direction == .after ? cursor.rank + 1 : cursor.rank
            )
        case .rank(let rank):
            guard rank > 1 else { return PageStart() }
            guard let selected = stripes.select(rank, query, list, &allowance) else { return nil }
            return PageStart(walkStart: selected, rank: rank)
        case .around(let id):
            return try start(around: id, stripes, &page, &allowance)
        }
    }

    /// Begins half a page before a post, and counts the rank of that place.
    private func start(
        around id: PostID,
        _ stripes: borrowing StripeSlab,
        _ page: inout PostPage,
        _ allowance: inout RefreshAllowance
    ) throws(RankingError) -> PageStart? {
        guard let place = stripes.place(of: id, list),
            query.feed == nil || query.feed == place.feed
        else {
            throw .postNotFound(id)
        }
        let isOld = query.order == .old
        var first = place.position
        if query.size > 1 {
            let walk = ListWalk(
                list: list,
                isDescending: !isOld,
                start: .position(place.position, isIncluded: false),
                limit: query.size / 2
            )
            guard page.merge.run(walk, stripes, &allowance) else { return nil }
            if let last = page.merge.chosen.last {
                first = stripes.position(of: last)
            }
        }
        let counted = stripes.count(before: first, list, &allowance)
        guard let counted else { return nil }
        let before = isOld ? counted.postCount - counted.skippedCount - 1 : counted.skippedCount
        return PageStart(
            walkStart: .position(first, isIncluded: true),
            rank: UInt64(max(before, 0)) + 1
        )
    }

    /// Appends the chosen posts to the page, in the order of the walk; returns how many entries
    /// that took.
    ///
    /// Posts that have been deleted since are left out. Posts that have moved since are put in
    /// order. So are posts with a title of which only the end may have changed, because their keys
    /// do not show that change.
    private func fetchRows(
        _ walk: ListWalk,
        _ stripes: borrowing StripeSlab,
        _ page: inout PostPage
    ) -> Int {
        let rowCount = min(query.size, page.merge.chosen.count)
        for index in 0..<rowCount {
            stripes.prefetch(page.merge.chosen[index].id)
        }
        var isOrdered = true
        var used = 0
        for index in 0..<rowCount {
            let entry = page.merge.chosen[index]
            let outcome = stripes.withStripe(of: entry.id) { stripe in
                let outcome = page.appendLive(
                    entry.id,
                    of: &stripe,
                    query.voter,
                    byteLimit: query.byteLimit
                )
                if case .appended(let slot) = outcome {
                    let key = stripe.slots.key(list.kind, slot, stripe.posts[slot])
                    isOrdered = isOrdered && entry.hasKey(key)
                    page.rowKeys.append(key)
                }
                return outcome
            }
            if case .full = outcome { break }
            used += 1
        }
        if !isOrdered || page.merge.hasTiesOfTitles(list.kind) {
            page.sortRows(isDescending: walk.isDescending)
        }
        return used
    }

    /// Sets the ranks and both cursors, and reverses a page that was read backwards.
    private func finish(
        _ start: PageStart,
        usedCount: Int,
        _ stripes: borrowing StripeSlab,
        _ page: inout PostPage
    ) {
        let isBackwards = start.direction == .before
        guard usedCount > 0 else { return finishEmpty(isBackwards: isBackwards, &page) }
        let rowCount = UInt64(page.rows.count)
        page.firstRank = start.rank
        if isBackwards {
            page.rows.reverse()
            page.firstRank = start.rank > rowCount ? start.rank - rowCount : 1
        }
        let hasMore = page.merge.chosen.count > usedCount
        let hasSkipped = page.merge.summary.skippedCount > 0
        let firstEntry = page.merge.chosen[0]
        let lastEntry = page.merge.chosen[usedCount - 1]
        if isBackwards ? hasSkipped : hasMore {
            page.next = PageCursor(
                feed: query.feed,
                order: query.order,
                window: query.window,
                direction: .after,
                position: stripes.position(of: isBackwards ? firstEntry : lastEntry),
                rank: page.firstRank + max(rowCount, 1) - 1
            )
        }
        if isBackwards ? hasMore : hasSkipped {
            page.previous = PageCursor(
                feed: query.feed,
                order: query.order,
                window: query.window,
                direction: .before,
                position: stripes.position(of: isBackwards ? lastEntry : firstEntry),
                rank: page.firstRank
            )
        }
    }

    /// Sets the cursor that leads from a page beyond an end of the list back into the list.
    private func finishEmpty(isBackwards: Bool, _ page: inout PostPage) {
        let order = query.order
        page.firstRank = isBackwards ? 1 : page.totalCount + 1
        guard page.merge.summary.skippedCount > 0 else { return }
        let wayBack = PageCursor(
            feed: query.feed,
            order: order,
            window: query.window,
            direction: isBackwards ? .after : .before,
            position: isBackwards ? .beforeAll(order) : .behindAll(order),
            rank: isBackwards ? 0 : page.firstRank
        )
        if isBackwards {
            page.next = wayBack
        } else {
            page.previous = wayBack
        }
    }
}
