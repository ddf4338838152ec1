/// Reads a page of a list as it is now: finds its start, merges the stripes and copies the rows.
struct PageReader {
    private let query: PageQuery
    private let list: ListID
    /// What no later post comes before, as of before the page is read; nil for a page from which no refresh
    /// begins.
    private let bound: CreationBound?

    init(_ query: PageQuery, _ list: ListID, bound: CreationBound?) {
        self.query = query
        self.list = list
        self.bound = bound
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
        if let bound {
            let newest = scan.newestPlace(start.walkStart)
            page.refreshPlace = .earlier(newest, bound, isAlone: query.isAlone)
        }
        return true
    }

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

/// Reads the posts of a list that were created after a place, the oldest of them first.
///
/// So a client that has the posts up to the place gets the ones next to it, without a gap, and
/// asks again while `newerCount` is not 0.
struct NewerPostsReader {
    private let query: PageQuery
    private let list: ListID
    private let creationBound: CreationBound

    init(_ query: PageQuery, _ list: ListID, bound: CreationBound) {
        self.query = query
        self.list = list
        creationBound = bound
    }

    /// Fills the page, exact as of now; false when the allowance is used up.
    ///
    /// The rows are in the order NEW, and in the order OLD where the list is. O(stripes * log n +
    /// size * log stripes) plus the refresh, and as much again for each 256 posts that a filter looks
    /// at.
    func read(
        _ place: ListPosition,
        excluding post: PostID?,
        _ stripes: borrowing StripeSlab,
        into page: inout PostPage,
        _ allowance: inout RefreshAllowance
    ) -> Bool {
        page.removeAll()
        let new = ListID(feed: query.feed, kind: .new)
        let bound = windowStart
        // Where the window begins after the place, the walk does not meet the post of the place.
        let isBounded = bound.map { $0.primary < place.primary } ?? false
        let excluded = isBounded ? nil : post
        let walk = ListWalk(
            list: new,
            isDescending: true,
            start: .position(isBounded ? bound ?? place : place, isIncluded: false),
            limit: query.size + 1
        )
        var scan = PageScan(query, excluding: excluded)
        guard scan.run(walk, stripes, into: &page, &allowance) else { return false }
        if query.order != .old { page.rows.reverse() }
        let summary = scan.summary
        var newerCount = summary.postCount - summary.skippedCount - scan.entryCount
        if excluded != nil, !scan.hasPassedExcluded { newerCount -= 1 }
        page.totalCount = UInt64(summary.postCount)
        if let bound {
            guard let counted = stripes.count(before: bound, new, &allowance) else { return false }
            page.totalCount = UInt64(counted.skippedCount)
        }
        page.newerCount = UInt64(max(newerCount, 0))
        guard let last = scan.last else {
            page.refreshPlace = place
            return true
        }
        page.refreshPlace = .earlier(
            ListPosition(last, title: []),
            creationBound,
            isAlone: query.isAlone
        )
        return true
    }

    /// The place in NEW behind the posts of the list's window; nil for all time.
    private var windowStart: ListPosition? {
        list.span.map { span in
            ListPosition(createTimeMilliseconds: span.start + 1, id: PostID(rawValue: 0))
        }
    }
}

/// A walk through a list that copies the posts which pass a filter, until a page is full.
///
/// Without a filter that is one merge of the stripes. With one the walk continues for at most
/// `RankingLimits.maximumScanCount` posts.
struct PageScan {
    /// The posts that a merge chooses at once where a filter leaves posts out.
    private static let filteredPartCount = 256

    private let query: PageQuery
    private let isFiltered: Bool
    private let excluded: PostID?

    /// The counts of the list, and of the posts before the walk.
    private(set) var summary = WalkSummary()
    /// The entries that the walk passed first and last; nil where it passed none.
    private(set) var first: MergeEntry?
    private(set) var last: MergeEntry?
    /// How many entries the walk has passed, posts that are gone among them.
    private(set) var entryCount = 0
    /// How many posts the walk has passed, with those that the filter left out.
    private(set) var postCount = 0
    /// How many of them come before the first row.
    private(set) var postCountBeforeRows = 0
    /// How many of them come before the last row, that one included.
    private(set) var postCountThroughRows = 0
    private(set) var hasMore = false
    private(set) var hasPassedExcluded = false
    private var isOrdered = true
    /// How many rows the parts before this one have copied.
    private var earlierRowCount = 0

    init(_ query: PageQuery, excluding excluded: PostID? = nil) {
        self.query = query
        self.excluded = excluded
        isFiltered = query.filter.isNeeded(query.marks) || excluded != nil
    }

    /// Appends rows in the order of the walk; false when the allowance is used up.
    ///
    /// Posts that have been deleted since are left out. Posts that have moved since are put in
    /// order, and come once. So are posts with a title of which only the end may have changed, because
    /// their keys do not show that change.
    mutating func run(
        _ walk: ListWalk,
        _ stripes: borrowing StripeSlab,
        into page: inout PostPage,
        _ allowance: inout RefreshAllowance
    ) -> Bool {
        var part = walk
        if isFiltered { part.limit = Self.filteredPartCount + 1 }
        while true {
            guard page.merge.run(part, stripes, &allowance) else { return false }
            if first == nil { summary = page.merge.summary }
            let isFull = copyRows(limit: part.limit - 1, walk.list.kind, stripes, into: &page)
            if page.merge.hasTiesOfTitles(walk.list.kind) { isOrdered = false }
            guard isFiltered, hasMore, !isFull, page.rows.count < query.size,
                entryCount < RankingLimits.maximumScanCount, let last
            else { break }
            part.start = .position(stripes.position(of: last), isIncluded: false)
            earlierRowCount = page.rows.count
        }
        if postCountThroughRows == 0 { postCountBeforeRows = 0 }
        if !isOrdered { page.sortRows(isDescending: walk.isDescending) }
        return true
    }

    /// Copies the chosen posts that pass, up to a limit; returns whether the next post is too large.
    private mutating func copyRows(
        limit: Int,
        _ kind: KeyKind,
        _ stripes: borrowing StripeSlab,
        into page: inout PostPage
    ) -> Bool {
        let chosenCount = page.merge.chosen.count
        let count = min(limit, chosenCount)
        for index in 0..<count { stripes.prefetch(page.merge.chosen[index].id) }
        if first == nil { first = page.merge.chosen.first }
        for index in 0..<count {
            let entry = page.merge.chosen[index]
            guard page.rows.count < query.size, copyRow(entry, kind, stripes, into: &page) else {
                hasMore = true
                if index == 0, entryCount == 0 { first = nil }
                return true
            }
            entryCount += 1
            last = entry
        }
        hasMore = chosenCount > count
        return false
    }

    /// Copies a post if it passes; false where it is too large for the page.
    @inline(__always)
    private mutating func copyRow(
        _ entry: MergeEntry,
        _ kind: KeyKind,
        _ stripes: borrowing StripeSlab,
        into page: inout PostPage
    ) -> Bool {
        if isFiltered, !passes(entry.id, stripes) { return true }
        // A vote has moved the post behind the part that copied it.
        if page.rows.prefix(earlierRowCount).contains(where: { $0.id == entry.id }) { return true }
        var isInPlace = true
        let outcome = stripes.withStripe(of: entry.id) { stripe in
            let outcome = page.appendLive(
                entry.id,
                of: &stripe,
                query.voter,
                byteLimit: query.byteLimit
            )
            if case .appended(let slot) = outcome {
                let key = stripe.slots.key(kind, slot, stripe.posts[slot])
                isInPlace = entry.hasKey(key)
                page.rowKeys.append(key)
            }
            return outcome
        }
        switch outcome {
        case .full: return false
        case .missing: break
        case .appended:
            isOrdered = isOrdered && isInPlace
            postCount += 1
            postCountThroughRows = postCount
            if page.rows.count == 1 { postCountBeforeRows = postCount - 1 }
        }
        return true
    }

    /// Whether a post passes the filter; counts a post that does not.
    private mutating func passes(_ id: PostID, _ stripes: borrowing StripeSlab) -> Bool {
        let passes: Bool? = stripes.withStripe(of: id) { stripe in
            stripe.liveSlot(id).map { query.filter.passes(stripe.posts[$0], id, query.marks) }
        }
        guard let passes else { return false }
        if id == excluded { hasPassedExcluded = true }
        if !passes || id == excluded {
            postCount += 1
            return false
        }
        return true
    }

    /// The place of the list's newest post where the walk began with it; nil elsewhere.
    func newestPlace(_ start: WalkStart) -> ListPosition? {
        guard query.order == .new, case .end = start, let first else { return nil }
        return ListPosition(first, title: [])
    }
}

/// A place in NEW that no post comes behind that is created from now on, if the clock is not set back.
struct CreationBound: BitwiseCopyable {
    /// The time that no such post is before, in Unix milliseconds.
    var time: Int64
    /// The greatest id that no such post of this time has: 0 where ids need not rise with times.
    var id: UInt64
}

extension ListPosition {
    /// The place in NEW from which a refresh misses no post: the newest post that was read, or the
    /// bound before reading where the newest post is not before it.
    ///
    /// A post that is created in a stripe that was read before gets no earlier time. If the reader is
    /// alone, posts of the same time come behind the newest.
    static func earlier(
        _ newest: ListPosition?,
        _ bound: CreationBound,
        isAlone: Bool = false
    ) -> ListPosition {
        let place = ListPosition(
            createTimeMilliseconds: bound.time,
            id: PostID(rawValue: bound.id)
        )
        // Keys of NEW rise as times fall.
        guard let newest, newest.primary >= place.primary else { return place }
        let isBefore = newest.primary > place.primary || newest.id.rawValue <= bound.id
        return isBefore || isAlone ? newest : place
    }
}
