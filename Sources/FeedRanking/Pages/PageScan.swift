/// A walk through a list that copies the posts which pass a filter, until a page is full.
///
/// Without a filter that is one merge of the stripes. With one the walk continues for at most
/// `RankingLimits.maximumScanCount` posts.
struct PageScan {
    /// The posts that a merge chooses at once where a filter leaves posts out.
    private static let filteredPartCount = 256

    private let query: PageQuery
    private let isFiltered: Bool
    /// A post that is left out.
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
    /// Whether the list has more behind the last entry.
    private(set) var hasMore = false
    /// Whether the walk has passed the excluded post.
    private(set) var hasPassedExcluded = false
    private var isOrdered = true
    /// How many rows the parts before this one have copied.
    private var earlierRowCount = 0

    /// A walk for a query.
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

extension ListPosition {
    /// The place in NEW from which a refresh misses no post: the newest post that was read, or the
    /// time before reading where the newest post is not before it.
    ///
    /// A post that is created in a stripe that was read before gets no earlier time. If the reader is
    /// alone, posts of the same time come behind the newest.
    static func earlier(_ newest: ListPosition?, time: Int64, isAlone: Bool = false) -> ListPosition
    {
        let bound = ListPosition(createTimeMilliseconds: time, id: PostID(rawValue: 0))
        // Keys of NEW rise as times fall.
        guard let newest, newest.primary >= bound.primary else { return bound }
        return newest.primary > bound.primary || isAlone ? newest : bound
    }
}
