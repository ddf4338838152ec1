import FeedClient
import FeedProto
import FeedSQLite

/// Pages of lists: one range of an index for each feed of the list, merged.
extension OfflineStore {
    private typealias Row = (place: OfflinePlace, bytes: [UInt8])

    /// A page; O(limit · log posts) for each feed, and as much for each post that a filter leaves out.
    func page(
        _ list: PostList,
        from start: OfflineStart,
        limit: Int,
        at milliseconds: Int64
    ) throws(OfflineError) -> OfflinePage {
        let named = try list.order == .unspecified ? defaultOrder(of: list.feed) : list.order
        let order = try ListOrder(named)
        let since = list.windowStart(at: milliseconds)
        switch start {
        case .first:
            return try page(rows(list, order, since, limit + 1), limit)
        case .after(let place):
            return try page(rows(list, order, since, limit + 1, after: place), limit)
        case .before(let place):
            let above = try rows(list, order, since, limit, before: place)
            return try page(above, limit, hasMore: true)
        case .around(let id):
            guard let place = try place(of: id, order) else {
                return try page(rows(list, order, since, limit + 1), limit)
            }
            let above = try rows(list, order, since, limit / 2, before: place)
            let below = try rows(
                list,
                order,
                since,
                limit - above.count + 1,
                after: place,
                includesPlace: true
            )
            return try page(above + below, limit)
        }
    }

    /// How many posts a list has; O(posts of the feed).
    func count(_ list: PostList, at milliseconds: Int64) throws(OfflineError) -> Int {
        let since = list.windowStart(at: milliseconds)
        let (condition, values) = filter(list, since)
        let feed = list.feed.isEmpty ? "" : " AND feed = ?"
        let feedValues: [OfflineDatabase.Value] = list.feed.isEmpty ? [] : [.text(list.feed)]
        return Int(
            try number("SELECT count(*) FROM posts WHERE \(condition)\(feed)", values + feedValues)
        )
    }

    private func page(
        _ rows: [Row],
        _ limit: Int,
        hasMore: Bool? = nil
    ) throws(OfflineError) -> OfflinePage {
        let shown = rows.prefix(limit)
        var posts: [Post] = []
        posts.reserveCapacity(shown.count)
        for row in shown { posts.append(try blobs.post(row.bytes)) }
        return OfflinePage(
            posts: posts,
            first: shown.first?.place,
            last: shown.last?.place,
            hasMore: hasMore ?? (rows.count > limit)
        )
    }

    private func place(
        of id: UInt64,
        _ order: ListOrder
    ) throws(OfflineError) -> OfflinePlace? {
        try database.first(
            "SELECT \(order.column), title FROM posts WHERE id = ? AND is_gone = 0",
            [.id(id)]
        ) {
            OfflinePlace(key: $0.int64(0), title: order.hasTitle ? $0.text(1) ?? "" : "", id: id)
        }
    }

    /// The rows behind a place, or before it, or from the first on, in the order of the list.
    private func rows(
        _ list: PostList,
        _ order: ListOrder,
        _ since: Int64?,
        _ limit: Int,
        after: OfflinePlace? = nil,
        before: OfflinePlace? = nil,
        includesPlace: Bool = false
    ) throws(OfflineError) -> [Row] {
        let isBackward = before != nil
        // Along the columns, which descend in NEW.
        let isDescending = order.isDescending != isBackward
        let columns = order.columns.joined(separator: ", ")
        let sorting = order.columns.map { isDescending ? $0 + " DESC" : $0 }
            .joined(separator: ", ")
        var (condition, values) = filter(list, since)
        if let place = after ?? before {
            let comparison = (isDescending ? "<" : ">") + (includesPlace ? "=" : "")
            let marks = order.columns.map { _ in "?" }.joined(separator: ", ")
            condition += " AND (\(columns)) \(comparison) (\(marks))"
            values += order.values(place)
        }
        let sql = """
            SELECT coalesce(shown, base), \(order.column), title, id FROM posts
            WHERE feed = ? AND \(condition) ORDER BY \(sorting) LIMIT ?
            """
        var rows: [Row] = []
        for feed in try list.feed.isEmpty ? feedNames() : [list.feed] {
            let all: [OfflineDatabase.Value] = [.text(feed)] + values + [.int(Int64(limit))]
            try database.rows(sql, all) { row in
                let title = order.hasTitle ? row.text(2) ?? "" : ""
                let place = OfflinePlace(key: row.int64(1), title: title, id: row.uint64(3))
                rows.append((place, row.bytes(0)))
                return true
            }
        }
        rows.sort { first, second in
            order.precedes(first.place, second.place) != isBackward
                && first.place != second.place
        }
        rows = Array(rows.prefix(limit))
        return isBackward ? rows.reversed() : rows
    }

    /// The feeds that the copy has posts of; O(feeds · log posts).
    private func feedNames() throws(OfflineError) -> [String] {
        var names: [String] = []
        while true {
            let sql = "SELECT min(feed) FROM posts WHERE feed > ?"
            let next = try database.first(sql, [.text(names.last ?? "")]) { $0.text(0) }
            guard let name = next ?? nil else { return names }
            names.append(name)
        }
    }

    private func filter(
        _ list: PostList,
        _ since: Int64?
    ) -> (condition: String, values: [OfflineDatabase.Value]) {
        var conditions = ["is_gone = 0"]
        var values: [OfflineDatabase.Value] = []
        if list.unreadOnly { conditions.append("is_read = 0") }
        if !list.includesDismissed { conditions.append("is_dismissed = 0") }
        if list.authorID != 0 {
            conditions.append("author = ?")
            values.append(.id(list.authorID))
        }
        if let since {
            conditions.append("created > ?")
            values.append(.int(since))
        }
        return (conditions.joined(separator: " AND "), values)
    }
}
