import FeedProto
import FeedSQLite

/// The posts of the copy. These functions are parts of transactions.
extension OfflineStore {
    /// What the service said last about a post; nil where the copy has it not, or it was made here.
    func base(_ id: UInt64) throws(OfflineError) -> Post? {
        let bytes = try database.first("SELECT base FROM posts WHERE id = ?", [.id(id)]) {
            $0.isNull(0) ? nil : $0.bytes(0)
        }
        guard let bytes = bytes ?? nil else { return nil }
        return try blobs.post(bytes)
    }

    /// The post as lists show it.
    func shown(_ id: UInt64) throws(OfflineError) -> Post? {
        let bytes = try database.first(
            "SELECT coalesce(shown, base) FROM posts WHERE id = ? AND is_gone = 0",
            [.id(id)]
        ) { $0.bytes(0) }
        return try bytes.map { bytes throws(OfflineError) in try blobs.post(bytes) }
    }

    /// The generation of a feed's posts; nil where the feed is not copied.
    func generation(of feed: String) throws(OfflineError) -> Int64? {
        try database.first(
            "SELECT generation FROM chains WHERE feed = ? OR feed = ''",
            [.text(feed)]
        ) { $0.int64(0) }
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
    func remove(_ id: UInt64) throws(OfflineError) {
        guard try number("SELECT count(*) FROM posts WHERE id = ?", [.id(id)]) > 0 else { return }
        try database.run("DELETE FROM posts WHERE id = ?", [.id(id)])
        change.remove(id)
    }

    /// Computes anew what a post shows, after its changes in the outbox have changed.
    func refresh(_ id: UInt64) throws(OfflineError) {
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
                .id(post.id), .text(post.feed), .int(generation), .id(base.revision),
                bytes.map(OfflineDatabase.Value.blob) ?? .null,
                isChanged ? .blob(try WireBlob.bytes(of: post)) : .null,
                .text(post.title), .int(post.createTimeMilliseconds), .id(post.author?.id ?? 0),
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
        var requests: [Request] = []
        let sql = """
            SELECT request, post FROM targets JOIN outbox USING(number)
            WHERE post IN (?, 0) AND state <= ? AND user = (SELECT shown_user FROM identity)
            ORDER BY number
            """
        var rows: [(bytes: [UInt8], target: UInt64)] = []
        try database.rows(sql, [.id(post.id), .int(OutboxRow.lastPendingState)]) { row in
            rows.append((row.bytes(0), row.uint64(1)))
            return true
        }
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

    /// Whether a mark through a post reaches another one.
    func reaches(_ marks: MarkPostsRequest, _ post: Post) throws(OfflineError) -> Bool {
        guard marks.feed.isEmpty || marks.feed == post.feed else { return false }
        guard let last = try created(marks.throughPostID) else { return false }
        return (post.createTimeMilliseconds, post.id) <= (last, marks.throughPostID)
    }

    /// When a post was created; nil where the copy has it not.
    func created(_ id: UInt64) throws(OfflineError) -> Int64? {
        try database.first("SELECT created FROM posts WHERE id = ?", [.id(id)]) { $0.int64(0) }
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
