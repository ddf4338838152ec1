/// Reads a page from a snapshot: the posts as they are now, in the order of the snapshot.
struct SnapshotReader {
    private let query: PageQuery
    private let snapshot: ListSnapshot

    /// A reader of the page of a query.
    init(_ query: PageQuery, _ snapshot: ListSnapshot) {
        self.query = query
        self.snapshot = snapshot
    }

    /// Fills the page; false where the start of the page is not in the snapshot.
    ///
    /// O(page), and O(snapshot) for a page around a post or with a filter.
    func read(_ stripes: borrowing StripeSlab, into page: inout PostPage) -> Bool {
        var isBackwards = false
        let start: Int
        switch query.start {
        case .first: start = 0
        case .newerThan: return false
        case .rank(let rank):
            guard rank <= UInt64(snapshot.entries.count) else { return false }
            start = Int(max(rank, 1)) - 1
        case .around(let id):
            guard let place = snapshot.entries.firstIndex(where: { $0.id == id }) else {
                return false
            }
            start = max(place - query.size / 2, 0)
        case .cursor(let cursor):
            guard let index = cursor.snapshot?.index, Int(index) <= snapshot.entries.count else {
                return false
            }
            start = Int(index)
            isBackwards = cursor.direction == .before
        }
        page.removeAll()
        let passed =
            isBackwards ? readBack(from: start, stripes, &page) : read(from: start, stripes, &page)
        setCursors(passed, stripes, &page)
        page.snapshotRevision = snapshot.revision
        page.totalCount = UInt64(snapshot.postCount)
        if case .cursor = query.start { return true }
        page.refreshPlace = snapshot.refreshPlace
        return true
    }

    /// Copies rows from an entry on; returns the entries that the page has passed.
    private func read(
        from start: Int,
        _ stripes: borrowing StripeSlab,
        _ page: inout PostPage
    ) -> Range<Int> {
        prefetch(start..<min(start + query.size, snapshot.entries.count), stripes)
        var end = start
        while end < snapshot.entries.count, page.rows.count < query.size,
            copy(snapshot.entries[end].id, stripes, &page)
        {
            if page.rows.count == 1, page.firstRank == 0 { page.firstRank = UInt64(end) + 1 }
            end += 1
        }
        return start..<end
    }

    /// Copies rows before an entry, and puts them in order.
    private func readBack(
        from end: Int,
        _ stripes: borrowing StripeSlab,
        _ page: inout PostPage
    ) -> Range<Int> {
        prefetch(max(end - query.size, 0)..<end, stripes)
        var start = end
        var rowCount = 0
        while start > 0, rowCount < query.size, copy(snapshot.entries[start - 1].id, stripes, &page)
        {
            start -= 1
            if page.rows.count > rowCount { page.firstRank = UInt64(start) + 1 }
            rowCount = page.rows.count
        }
        page.rows.reverse()
        return start..<end
    }

    /// Copies a post if it is there and passes the filter; false where it is too large for the page.
    private func copy(
        _ id: PostID,
        _ stripes: borrowing StripeSlab,
        _ page: inout PostPage
    ) -> Bool {
        stripes.withStripe(of: id) { stripe in
            if query.filter.isNeeded(query.marks), let slot = stripe.liveSlot(id),
                !query.filter.passes(stripe.posts[slot], id, query.marks)
            {
                return true
            }
            let limit = query.byteLimit
            let outcome = page.appendLive(id, of: &stripe, query.voter, byteLimit: limit)
            if case .full = outcome { return false }
            return true
        }
    }

    private func prefetch(_ range: Range<Int>, _ stripes: borrowing StripeSlab) {
        for index in range { stripes.prefetch(snapshot.entries[index].id) }
    }

    /// Sets the cursors of a page; behind the last entry the list continues as it is then.
    private func setCursors(
        _ passed: Range<Int>,
        _ stripes: borrowing StripeSlab,
        _ page: inout PostPage
    ) {
        let count = snapshot.entries.count
        if page.firstRank == 0 { page.firstRank = UInt64(passed.lowerBound) + 1 }
        if passed.upperBound < count || !snapshot.isWhole, passed.upperBound > 0 {
            page.next = cursor(.after, beside: passed.upperBound - 1, stripes)
            let index = UInt32(passed.upperBound)
            page.next?.snapshot = index < count ? .init(id: snapshot.id, index: index) : nil
        }
        if passed.lowerBound > 0, passed.lowerBound < count {
            page.previous = cursor(.before, beside: passed.lowerBound, stripes)
            let index = UInt32(passed.lowerBound)
            page.previous?.snapshot = .init(id: snapshot.id, index: index)
        }
    }

    private func cursor(
        _ direction: PageCursor.Direction,
        beside index: Int,
        _ stripes: borrowing StripeSlab
    ) -> PageCursor {
        let position = stripes.position(of: MergeEntry(snapshot.entries[index]))
        return query.cursor(direction, beside: position, rank: UInt64(index) + 1)
    }
}
