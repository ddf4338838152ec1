import FeedClient
import FeedProto
import FeedSQLite

/// A list whose first posts a copy keeps, as it is read from the service.
struct KeptList {
    /// The posts that are kept of a list other than NEW.
    static let headCount = 100

    let feed: String
    let order: Order
    /// How many posts are kept.
    let limit: Int
    private(set) var lastPost: Post?
    /// Whether the list has no further posts: the copy has all posts of the feed.
    private(set) var isWhole = false
    private var count = 0
    private var answerCount = 0
    /// Where the next posts start.
    private(set) var start = PageStart.first

    init(feed: String, order: Order, limit: Int) {
        self.feed = feed
        self.order = order
        self.limit = limit
    }

    /// How many posts are read next; 0 if the list has no more, or no more are kept.
    ///
    /// The service lowers it to that of its largest page.
    var missingCount: Int { isWhole ? 0 : max(0, limit - count) }

    /// Takes the next page, and refuses one that does not lead on.
    mutating func take(_ page: Page) throws(OfflineError) {
        answerCount += 1
        count += page.posts.count
        lastPost = page.posts.last ?? lastPost
        if let next = page.next { start = .token(next) } else { isWhole = true }
        // A page of long texts has few posts, and hardly one has none.
        if !isWhole, answerCount > limit + Self.headCount {
            throw .violation("The service has more of a list after \(answerCount) answers.")
        }
        try page.posts.checkIDs()
    }
}

/// A bounded copy: it has all posts of a feed up to a *boundary* in each kept list.
///
/// A boundary is a key of the order and no rank, so it holds while posts move: a post that is not in the
/// copy has the keys of its last change, all of them behind the boundaries, and comes with the change that
/// brings one in front. Without boundaries the copy has the feed whole.
extension OfflineStore {
    /// The lists of a feed whose first posts are kept; none if all posts are.
    func keptLists(of feed: String) throws(OfflineError) -> [KeptList] {
        guard case .newest(let number) = keeps else { return [] }
        let count = max(1, number)
        var orders: [Order] = [.new, .top, .hot]
        let own = try defaultOrder(of: feed)
        // RISING cannot be computed from posts.
        if own != .unspecified, own != .rising, !orders.contains(own) { orders.append(own) }
        return orders.map { order in
            let limit = order == .new ? count : min(count, KeptList.headCount)
            return KeptList(feed: feed, order: order, limit: limit)
        }
    }

    /// The feeds that a chain follows.
    func feeds(of chain: String) throws(OfflineError) -> [String] {
        guard chain.isEmpty else { return [chain] }
        return try database.all("SELECT name FROM feeds ORDER BY name") { $0.text(0) ?? "" }
    }

    /// Whether a chain has to begin with the kept lists: it is new, or deletions have left less than half
    /// of a list.
    func needsLists(_ chain: String) throws(OfflineError) -> Bool {
        guard case .newest = keeps else { return false }
        let request = try nextRequest(chain)
        if request.sinceRevision == 0 || request.copyRevision != 0 { return true }
        for feed in try feeds(of: chain) {
            let places = try boundaries(of: feed)
            for list in try keptLists(of: feed) {
                guard let place = places[list.order] else { continue }
                let order = try ListOrder(list.order)
                let sql = """
                    SELECT count(*) FROM posts WHERE feed = ? AND base IS NOT NULL
                    AND \(order.condition(upTo: place, isBehind: false))
                    """
                let count = try number(sql, [.text(feed)] + order.values(place))
                if count < Int64((list.limit + 1) / 2) { return true }
            }
        }
        return false
    }

    /// The lists that bring the posts of a chain.
    func lists(of chain: String) throws(OfflineError) -> [KeptList] {
        var lists: [KeptList] = []
        for feed in try feeds(of: chain) { lists += try keptLists(of: feed) }
        return lists
    }

    /// Begins another generation of a chain's posts, which its lists bring.
    ///
    /// The posts before are shown until all have come, but for those of another state of the service.
    func beginLists(
        _ chain: String,
        of instanceID: UInt64,
        _ report: inout SyncReport
    ) throws(OfflineError) {
        var counts = report
        counts.isReset = true
        try database.transaction { () throws(OfflineError) in
            let before = try database.number(
                "SELECT instance FROM chains WHERE feed = ?",
                [.text(chain)]
            )
            try database.run(
                """
                UPDATE chains SET next_revision = 0, copy_revision = 0, instance = ?,
                generation = generation + 1 WHERE feed = ?
                """,
                [.number(instanceID), .text(chain)]
            )
            if before != Int64(bitPattern: instanceID) { try forgetOlder(chain, &counts) }
        }
        report = counts
    }

    /// Takes posts of a kept list, or that entries name; those that are missing have been deleted.
    func take(
        _ posts: [Post],
        missing: [PostID] = [],
        of chain: String,
        _ report: inout SyncReport
    ) throws(OfflineError) {
        var counts = report
        try database.transaction { () throws(OfflineError) in
            let generation = try generation(of: chain) ?? 0
            for post in posts { try take(post, generation, &counts) }
            for id in missing { try remove(id) }
        }
        report = counts
    }

    /// The posts of the generation before that entries of the outbox name, at most `limit`.
    func namedOlderPosts(_ chain: String, limit: Int) throws(OfflineError) -> [PostID] {
        let named = try namedPosts()
        return Array(try olderPosts(chain).filter { named.contains($0) }.prefix(limit))
    }

    /// Ends the reading of the kept lists: the chain goes on from the revision at which it began.
    func endLists(
        _ chain: String,
        _ lists: [KeptList],
        at revision: UInt64,
        _ report: inout SyncReport
    ) throws(OfflineError) {
        var counts = report
        try database.transaction { () throws(OfflineError) in
            try forgetOlder(chain, &counts)
            let wholeFeeds = Set(lists.filter { $0.isWhole }.map { $0.feed })
            for list in lists {
                var place: OfflinePlace?
                if !wholeFeeds.contains(list.feed), let last = list.lastPost {
                    place = try ListOrder(list.order).place(of: last, ListKeys(last))
                }
                try setBoundary(place, list.feed, list.order)
            }
            try database.run(
                "UPDATE chains SET next_revision = ? WHERE feed = ?",
                [.number(revision), .text(chain)]
            )
            try keep(MarkPosition(revision: revision), of: chain)
        }
        report = counts
    }

    /// The boundaries of a feed by their orders; none if the copy has the feed whole.
    func boundaries(of feed: String) throws(OfflineError) -> [Order: OfflinePlace] {
        var places: [Order: OfflinePlace] = [:]
        let sql = "SELECT list_order, key, title, post FROM boundaries WHERE feed = ?"
        try database.rows(sql, [.text(feed)]) { row in
            let place = OfflinePlace(key: row.int64(1), title: row.text(2) ?? "", id: row.id(3))
            places[Order(rawValue: Int32(clamping: row.int64(0)))] = place
            return true
        }
        return places
    }

    /// Whether a post that the copy has not belongs to it.
    func isKept(
        _ post: Post,
        _ places: [Order: OfflinePlace]
    ) throws(OfflineError) -> Bool {
        let keys = ListKeys(post)
        for (order, boundary) in places {
            let order = try ListOrder(order)
            if !order.precedes(boundary, order.place(of: post, keys)) { return true }
        }
        return places.isEmpty
    }

    /// Lets the posts of a chain go that are behind the kept ones of all lists; O(kept posts).
    func dropUnkept(_ chain: String, _ report: inout SyncReport) throws(OfflineError) {
        var counts = report
        try database.transaction { () throws(OfflineError) in
            for feed in try feeds(of: chain) { try dropUnkept(of: feed, &counts) }
        }
        report = counts
        // Room of posts that have left goes back to the system if it is more than half of the file. It
        // takes room for a copy first, and a disk that has none does not end the sync.
        let (free, all) = (try number("PRAGMA freelist_count"), try number("PRAGMA page_count"))
        if all > 64, free > all / 2 { try? database.execute("VACUUM") }
    }

    /// A boundary moves up to the last kept place of its list, and never back: behind it posts are missing.
    private func dropUnkept(
        of feed: String,
        _ report: inout SyncReport
    ) throws(OfflineError) {
        let lists = try keptLists(of: feed)
        guard let newest = lists.first else { return }
        let places = try boundaries(of: feed)
        if places.isEmpty {
            let sql = "SELECT count(*) FROM posts WHERE feed = ? AND base IS NOT NULL"
            guard try number(sql, [.text(feed)]) > Int64(newest.limit) else { return }
        }
        var conditions: [String] = []
        var values: [OfflineDatabase.Value] = []
        for list in lists {
            let order = try ListOrder(list.order)
            let sql = """
                SELECT \(order.column), title, id FROM posts WHERE feed = ? AND base IS NOT NULL
                ORDER BY \(order.sorting) LIMIT 1 OFFSET ?
                """
            let last = try database.first(sql, [.text(feed), .int(Int64(list.limit - 1))]) { row in
                let title = order.hasTitle ? row.text(1) ?? "" : ""
                return OfflinePlace(key: row.int64(0), title: title, id: row.id(2))
            }
            let before = places[list.order]
            guard let place = order.first(of: last, before) else { continue }
            if place != before { try setBoundary(place, feed, list.order) }
            conditions.append(order.condition(upTo: place, isBehind: true))
            values += order.values(place)
        }
        let sql = """
            SELECT id FROM posts WHERE feed = ? AND base IS NOT NULL
            AND \(conditions.joined(separator: " AND "))
            """
        let ids: [PostID] = try database.all(sql, [.text(feed)] + values) { $0.id(0) }
        guard !ids.isEmpty else { return }
        let named = try namedPosts()
        for id in ids where !named.contains(id) {
            try remove(id)
            report.removedPostCount += 1
        }
    }

    private func setBoundary(
        _ place: OfflinePlace?,
        _ feed: String,
        _ order: Order
    ) throws(OfflineError) {
        let key: [OfflineDatabase.Value] = [.text(feed), .int(Int64(order.rawValue))]
        guard let place else {
            let sql = "DELETE FROM boundaries WHERE feed = ? AND list_order = ?"
            return try database.run(sql, key)
        }
        try database.run(
            "INSERT OR REPLACE INTO boundaries VALUES(?, ?, ?, ?, ?)",
            key + [.int(place.key), .text(place.title), .id(place.id)]
        )
    }

    /// The posts that entries of the outbox name.
    private func namedPosts() throws(OfflineError) -> Set<PostID> {
        Set(try outboxRows("").flatMap(\.request.namedPosts))
    }
}
