/// Reads a page of a list as it is now: finds its start, merges the stripes and copies the rows.
struct PageReader {
    /// The page that is asked for.
    private let query: PageQuery
    /// The list of the page, as of the time of the read.
    private let list: ListID
    /// The time of the store's clock before the page is read, in Unix milliseconds; nil for a page
    /// from which no refresh begins.
    private let time: Int64?

    /// A reader of the page of a query, which is of a list.
    init(_ query: PageQuery, _ list: ListID, time: Int64?) {
        self.query = query
        self.list = list
        self.time = time
    }

    /// Fills the page, exact as of now; false when the allowance is used up.
    ///
    /// O(stripes * log n + size * log stripes) plus the refresh, and as much again for each 256 posts
    /// that a filter looks at. A page that begins at a rank takes O(stripes² * log² n) at worst.
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
        var scan = PageScan(query)
        guard scan.run(walk, stripes, into: &page, &allowance) else { return false }
        page.totalCount = UInt64(scan.summary.postCount)
        page.isShown = query.isOfKnownStart && scan.summary.isShown
        page.endTime = scan.summary.endTime
        setCursors(of: &page, start, scan, stripes)
        if let time {
            let newest = scan.newestPlace(start.walkStart)
            page.refreshPlace = .earlier(newest, time: time, isAlone: query.isAlone)
        }
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
        case .newerThan:
            preconditionFailure("A page of newer posts has a reader of its own.")
        case .cursor(let cursor):
            return PageStart(
                direction: cursor.direction,
                walkStart: .position(cursor.position, isIncluded: false),
                rank: cursor.direction == .after ? cursor.rank + 1 : cursor.rank
            )
        case .rank(let rank):
            guard rank > 1 else { return PageStart() }
            guard let selected = stripes.select(rank, list, in: query.order, &allowance) else {
                return nil
            }
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
        else { throw .postNotInList(id) }
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
            if let last = page.merge.chosen.last { first = stripes.position(of: last) }
        }
        let counted = stripes.count(before: first, list, &allowance)
        guard let counted else { return nil }
        let before = isOld ? counted.postCount - counted.skippedCount - 1 : counted.skippedCount
        return PageStart(
            walkStart: .position(first, isIncluded: true),
            rank: UInt64(max(before, 0)) + 1
        )
    }

    /// Sets the ranks and both cursors, and reverses a page that was read backwards.
    private func setCursors(
        of page: inout PostPage,
        _ start: PageStart,
        _ scan: PageScan,
        _ stripes: borrowing StripeSlab
    ) {
        let isBackwards = start.direction == .before
        guard let firstEntry = scan.first, let lastEntry = scan.last else {
            return setCursorsOfEmptyPage(scan, isBackwards: isBackwards, &page)
        }
        let postCount = UInt64(scan.postCount)
        var firstRank = start.rank
        page.firstRank = start.rank + UInt64(scan.postCountBeforeRows)
        if isBackwards {
            page.rows.reverse()
            firstRank = start.rank > postCount ? start.rank - postCount : 1
            page.firstRank = firstRank + postCount - UInt64(scan.postCountThroughRows)
        }
        let hasSkipped = scan.summary.skippedCount > 0
        if isBackwards ? hasSkipped : scan.hasMore {
            let place = stripes.position(of: isBackwards ? firstEntry : lastEntry)
            let rank = firstRank + max(postCount, 1) - 1
            page.next = query.cursor(.after, beside: place, rank: rank)
        }
        if isBackwards ? scan.hasMore : hasSkipped {
            let place = stripes.position(of: isBackwards ? lastEntry : firstEntry)
            page.previous = query.cursor(.before, beside: place, rank: firstRank)
        }
    }

    /// Sets the cursor that leads from a page beyond an end of the list back into the list.
    private func setCursorsOfEmptyPage(
        _ scan: PageScan,
        isBackwards: Bool,
        _ page: inout PostPage
    ) {
        let order = query.order
        page.firstRank = isBackwards ? 1 : page.totalCount + 1
        guard scan.summary.skippedCount > 0 else { return }
        if isBackwards {
            page.next = query.cursor(.after, beside: .beforeAll(order), rank: 0)
        } else {
            page.previous = query.cursor(.before, beside: .behindAll(order), rank: page.firstRank)
        }
    }
}
