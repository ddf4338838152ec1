/// Reads the posts of a list that were created after a place, the oldest of them first.
///
/// So a client that has the posts up to the place gets the ones next to it, without a gap, and
/// asks again while `newerCount` is not 0.
struct NewerPostsReader {
    private let query: PageQuery
    /// The list of the page, as of the time of the read.
    private let list: ListID
    /// The time of the store's clock before the page is read, in Unix milliseconds.
    private let time: Int64

    /// A reader of the page of a query.
    init(_ query: PageQuery, _ list: ListID, time: Int64) {
        self.query = query
        self.list = list
        self.time = time
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
            time: time,
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
