import FeedClient
import FeedProto
import FeedSQLite

/// The posts of the copy. These functions are parts of transactions.
extension OfflineStore {
    /// What the service said last about a post; nil where the copy has it not, or it was made here.
    func base(_ id: PostID) throws(OfflineError) -> Post? {
        let bytes = try database.first("SELECT base FROM posts WHERE id = ?", [.id(id)]) {
            $0.isNull(0) ? nil : $0.bytes(0)
        }
        guard let bytes = bytes ?? nil else { return nil }
        return try blobs.post(bytes)
    }

    /// The post as lists show it.
    func shown(_ id: PostID) throws(OfflineError) -> Post? {
        let bytes = try database.first(
            "SELECT coalesce(shown, base) FROM posts WHERE id = ? AND is_gone = 0",
            [.id(id)]
        ) { $0.bytes(0) }
        return try bytes.map { bytes throws(OfflineError) in try blobs.post(bytes) }
    }

    /// The generation of a feed's posts; nil where the feed is not copied.
    func generation(of feed: String) throws(OfflineError) -> Int64? {
        let sql = "SELECT generation FROM chains WHERE feed = ? OR feed = ''"
        return try database.number(sql, [.text(feed)])
    }

    /// Takes what the service says about a post, and shows it with the changes of the outbox.
    func take(_ post: Post, generation: Int64) throws(OfflineError) {
        try write(post, base: WireBlob.bytes(of: post), generation: generation)
    }

    /// Shows a post that is made by an entry of the outbox, as long as lists show the entry.
    ///
    /// The copy keeps the time of a post that is not shown, for when its entry is sent again.
    func takeLocal(_ entry: OutboxEntry, at milliseconds: Int64) throws(OfflineError) {
        guard case .createPost(let request) = entry.request, let post = request.post,
            let generation = try generation(of: request.feed)
        else { return }
        try write(
            post.made(by: entry.number, in: request.feed, at: milliseconds),
            base: nil,
            generation: generation,
            isGone: !isShown(entry)
        )
    }

    /// Removes a post from the copy; nothing where it has it not.
    func remove(_ id: PostID) throws(OfflineError) {
        guard try number("SELECT count(*) FROM posts WHERE id = ?", [.id(id)]) > 0 else { return }
        try database.run("DELETE FROM posts WHERE id = ?", [.id(id)])
        change.remove(id)
    }

    /// Computes anew what a post shows, after its changes in the outbox have changed.
    func refresh(_ id: PostID) throws(OfflineError) {
        if LocalPostID.isLocal(id) {
            guard let entry = try entry(LocalPostID.entry(id)), entry.localPostID == id else {
                return try remove(id)
            }
            guard let created = try created(id) else { return }
            return try takeLocal(entry, at: created)
        }
        let row = try database.first(
            "SELECT base, generation FROM posts WHERE id = ?",
            [.id(id)]
        ) { ($0.bytes(0), $0.int64(1)) }
        guard let (bytes, generation) = row else { return }
        try write(blobs.post(bytes), base: bytes, generation: generation)
    }

    private func write(
        _ base: Post,
        base bytes: [UInt8]?,
        generation: Int64,
        isGone: Bool = false
    ) throws(OfflineError) {
        var shown = ShownPost(base)
        shown.isGone = isGone
        let requests = try pending(base)
        if !requests.isEmpty {
            let mode = try voteMode(of: base.feed)
            for request in requests { shown.apply(request, mode: mode) }
        }
        // Not by a comparison: an edit may change the bytes of a text, and not its characters.
        let isChanged = bytes == nil || !requests.isEmpty
        let keys = ListKeys(shown.post)
        let post = shown.post
        try database.run(
            "INSERT OR REPLACE INTO posts VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                .id(post.id), .text(post.feed), .int(generation), .number(base.revision),
                bytes.map(OfflineDatabase.Value.blob) ?? .null,
                isChanged ? .blob(try WireBlob.bytes(of: post)) : .null,
                .text(post.title), .int(keys.created), .id(post.author?.id ?? 0),
                .flag(shown.isGone), .flag(post.viewer?.isRead ?? false),
                .flag(post.viewer?.isDismissed ?? false), .int(keys.top), .int(keys.hot),
                .int(keys.best), .int(keys.controversial), .int(keys.discussed),
            ]
        )
        if shown.isGone { change.remove(post.id) } else { change.change(post.id) }
    }

    /// The changes of the outbox that a post shows, in their order: those of the account that lists are
    /// shown to, which wait or may have left.
    private func pending(_ post: Post) throws(OfflineError) -> [Request] {
        let sql = """
            SELECT request, post FROM targets JOIN outbox USING(number)
            WHERE post IN (?, 0) AND state <= ? AND user = (SELECT shown_user FROM identity)
            ORDER BY number
            """
        let rows = try database.all(sql, [.id(post.id), .int(OutboxRow.lastPendingState)]) {
            (bytes: $0.bytes(0), target: $0.id(1) as PostID)
        }
        var requests: [Request] = []
        for row in rows {
            let request = try blobs.request(row.bytes)
            if row.target == 0 {
                // No other change is one of all posts.
                guard case .markPosts(let marks) = request, marks.throughPostID != 0,
                    try reaches(marks, post)
                else { continue }
            }
            requests.append(request)
        }
        return requests
    }

    func reaches(_ marks: MarkPostsRequest, _ post: Post) throws(OfflineError) -> Bool {
        guard marks.feed.isEmpty || marks.feed == post.feed else { return false }
        guard let last = try created(marks.throughPostID) else { return false }
        return (post.createTimeMilliseconds, post.id) <= (last, marks.throughPostID)
    }

    /// When a post was created; nil where the copy has it not.
    func created(_ id: PostID) throws(OfflineError) -> Int64? {
        try database.number("SELECT created FROM posts WHERE id = ?", [.id(id)])
    }
}

extension Post {
    /// The post that an entry of the outbox creates, as lists show it before the service has it.
    func made(by number: UInt64, in feed: String, at milliseconds: Int64) -> Post {
        var post = self
        post.id = LocalPostID.id(entry: number)
        post.feed = feed
        // That of another post, where the program has copied one.
        post.revision = 0
        post.createTimeMilliseconds = milliseconds
        post.updateTimeMilliseconds = milliseconds
        return post
    }
}

/// The chains of syncs, by which the copy of each feed follows the service.
extension OfflineStore {
    func nextRequest(_ feed: String) throws(OfflineError) -> SyncPostsRequest {
        let sql = "SELECT next_revision, copy_revision, instance FROM chains WHERE feed = ?"
        let marks = try markPosition(of: feed)
        let request = try database.first(sql, [.text(feed)]) { row in
            SyncPostsRequest(
                feed: feed,
                sinceRevision: row.uint64(0),
                copyRevision: row.uint64(1),
                instanceID: row.uint64(2),
                marks: marks
            )
        }
        return request ?? SyncPostsRequest(feed: feed, marks: marks)
    }

    /// Lets all chains begin anew; a part of a transaction.
    ///
    /// The posts stay until the new copies are complete.
    func beginChainsAnew() throws(OfflineError) {
        try database.run("UPDATE chains SET next_revision = 0, copy_revision = 0")
        try database.run("DELETE FROM mark_chains")
    }

    /// Drops the posts that cannot be read; O(posts).
    func mendCopy() throws(OfflineError) {
        _ = try database.transaction { () throws(OfflineError) in try dropDamagedPosts() }
    }

    /// Drops the posts that cannot be read, and lets the chains begin anew if there are some; true then.
    ///
    /// A part of a transaction, O(posts). The other posts are shown until the new copies are complete. A post
    /// that was made here is computed from its entry, so nothing of the outbox is lost.
    func dropDamagedPosts() throws(OfflineError) -> Bool {
        var damaged: [PostID] = []
        try database.rows("SELECT id, base, shown FROM posts") { row in
            let isReadable = (1...2).allSatisfy { column in
                row.isNull(column) || (try? blobs.post(row.bytes(column))) != nil
            }
            if !isReadable { damaged.append(row.id(0)) }
            return true
        }
        for id in damaged {
            if LocalPostID.isLocal(id) { try refresh(id) } else { try remove(id) }
        }
        if !damaged.isEmpty { try beginChainsAnew() }
        return !damaged.isEmpty
    }

    /// Takes an answer of a chain, whole: its posts and the place of the next request.
    ///
    /// A reset begins another generation of posts. Those of the one before are shown until the new copy is
    /// complete, so no list is empty meanwhile. Where the service has another state they go at once: their
    /// ids may be those of other posts there.
    func take(
        _ answer: SyncPostsResponse,
        feed: String,
        _ report: inout SyncReport
    ) throws(OfflineError) {
        var counts = report
        try database.transaction { () throws(OfflineError) in
            let chain = try database.first(
                "SELECT generation, copy_revision, instance FROM chains WHERE feed = ?",
                [.text(feed)]
            ) { (generation: $0.int64(0), copyRevision: $0.uint64(1), instance: $0.uint64(2)) }
            var generation = chain?.generation ?? 0
            if answer.isReset {
                generation += 1
                counts.isReset = true
            }
            try database.run(
                """
                UPDATE chains SET next_revision = ?, copy_revision = ?, instance = ?, generation = ?
                WHERE feed = ?
                """,
                [
                    .number(answer.nextRevision), .number(answer.copyRevision),
                    .number(answer.instanceID),
                    .int(generation), .text(feed),
                ]
            )
            let isOtherState = answer.isReset && chain?.instance != answer.instanceID
            if isOtherState { try forgetOlder(feed, &counts) }
            if let marks = answer.marks { try apply(marks, of: feed) }
            var boundaries: [String: [Order: OfflinePlace]] = [:]
            for post in answer.posts {
                if !post.isDeleted, boundaries[post.feed] == nil {
                    boundaries[post.feed] = try self.boundaries(of: post.feed)
                }
                try take(post, generation, &counts, within: boundaries[post.feed] ?? [:])
            }
            // Until a copy is complete its answers have the revision at which it was begun.
            let endsCopy =
                answer.copyRevision == 0 && (answer.isReset || chain?.copyRevision != 0)
            if endsCopy { try forgetOlder(feed, &counts) }
        }
        report = counts
    }

    /// Takes a post as the service has it; one that the copy has not has to be in front of a boundary.
    func take(
        _ post: Post,
        _ generation: Int64,
        _ report: inout SyncReport,
        within boundaries: [Order: OfflinePlace] = [:]
    ) throws(OfflineError) {
        let known = try database.first(
            "SELECT generation, revision FROM posts WHERE id = ?",
            [.id(post.id)]
        ) { ($0.int64(0), $0.uint64(1)) }
        if post.isDeleted {
            guard known != nil else { return }
            try remove(post.id)
            report.removedPostCount += 1
            return
        }
        // Revisions of another generation may be of another instance.
        if let known, known.0 == generation, known.1 >= post.revision { return }
        if known == nil, try !isKept(post, boundaries) { return }
        try take(post, generation: generation)
        report.changedPostCount += 1
    }

    /// Removes the posts of a chain that an earlier generation has left.
    func forgetOlder(_ chain: String, _ report: inout SyncReport) throws(OfflineError) {
        let ids = try olderPosts(chain)
        for id in ids { try remove(id) }
        report.removedPostCount += ids.count
    }

    /// The posts of a chain that an earlier generation has left.
    func olderPosts(_ chain: String) throws(OfflineError) -> [PostID] {
        let sql = """
            SELECT id FROM posts
            WHERE generation < (SELECT generation FROM chains WHERE feed = ?)
            AND base IS NOT NULL AND (? = '' OR feed = ?)
            """
        let feed = OfflineDatabase.Value.text(chain)
        return try database.all(sql, [feed, feed, feed]) { $0.id(0) }
    }
}

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
            hasMore: hasMore ?? (rows.count > limit),
            states: try states(of: posts)
        )
    }

    private func states(of posts: [Post]) throws(OfflineError) -> [PostID: OfflineRowState] {
        var states: [PostID: OfflineRowState] = [:]
        guard try number("SELECT count(*) FROM outbox") > 0 else { return states }
        let sql = """
            SELECT state, request FROM targets JOIN outbox USING(number)
            WHERE post = ? AND user = (SELECT shown_user FROM identity)
            """
        for post in posts {
            // A post that was made here is in lists while its entry waits.
            if LocalPostID.isLocal(post.id) { states[post.id] = .waiting }
            try database.rows(sql, [.id(post.id)]) { row throws(OfflineError) in
                if case .markPosts = try blobs.request(row.bytes(1)) { return true }
                let hasFailed = row.int64(0) > OutboxRow.lastPendingState
                states[post.id] = hasFailed ? .failed : .waiting
                return !hasFailed
            }
        }
        return states
    }

    private func place(
        of id: PostID,
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
            rows += try database.all(sql, all) { row in
                let title = order.hasTitle ? row.text(2) ?? "" : ""
                let place = OfflinePlace(key: row.int64(1), title: title, id: row.id(3))
                return (place, row.bytes(0))
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

/// A post as lists show it: what the service said last, and the changes in the outbox on top.
struct ShownPost: Equatable {
    var post: Post
    /// Whether no list has it: its deletion waits in the outbox, or its creation is in a state or of an
    /// account that is not shown.
    var isGone = false

    init(_ post: Post) { self.post = post }

    /// Applies a change of the outbox that names the post; `mode` is that of the post's feed.
    mutating func apply(_ request: Request, mode: VoteMode) {
        switch request {
        case .castVote(let vote): cast(vote.direction, mode)
        case .updatePost(let update): edit(update)
        case .deletePost: isGone = true
        case .markPosts(let marks): mark(marks.mark)
        default: break
        }
    }

    mutating func mark(_ mark: Mark) {
        var viewer = post.viewer ?? Viewer()
        viewer.take(mark)
        post.viewer = viewer
    }

    private mutating func cast(_ direction: VoteDirection, _ mode: VoteMode) {
        if mode == .ballot {
            var viewer = post.viewer ?? Viewer()
            count(viewer.vote, up: { $0 &- 1 }, isTakenBack: true)
            viewer.vote = direction == .clear ? .unspecified : direction
            post.viewer = viewer
        }
        count(direction, up: { $0 &+ 1 }, isTakenBack: false)
        post.score =
            Int64(clamping: post.upvoteCount) - Int64(clamping: post.downvoteCount)
    }

    private mutating func count(
        _ direction: VoteDirection,
        up change: (UInt64) -> UInt64,
        isTakenBack: Bool
    ) {
        switch direction {
        case .up where !isTakenBack || post.upvoteCount > 0:
            post.upvoteCount = change(post.upvoteCount)
        case .down where !isTakenBack || post.downvoteCount > 0:
            post.downvoteCount = change(post.downvoteCount)
        default: break
        }
    }

    private mutating func edit(_ update: UpdatePostRequest) {
        guard let new = update.post else { return }
        for field in update.updateMask {
            switch field {
            case .title: post.title = new.title
            case .text: post.text = new.text
            case .linkURL: post.linkURL = new.linkURL
            case .thumbnailURL: post.thumbnailURL = new.thumbnailURL
            case .imageURL: post.imageURL = new.imageURL
            case .commentCount: post.commentCount = new.commentCount
            default: break
            }
        }
    }
}
