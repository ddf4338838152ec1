import FeedProto
import FeedSQLite

/// Which entries of the outbox lists show: those of one account that wait or may have left.
extension OfflineStore {
    /// The account whose entries lists show; 0 is the device.
    private func shownUserID() throws(OfflineError) -> UInt64 {
        UInt64(bitPattern: try number("SELECT shown_user FROM identity"))
    }

    /// Lets lists show the entries of an account, and no longer those of another one.
    ///
    /// It takes O(entries of both) where the account is another one, and O(posts) for each mark through
    /// a post among them.
    func show(as userID: UInt64) throws(OfflineError) {
        let before = try shownUserID()
        guard userID != before else { return }
        try database.transaction { () throws(OfflineError) in
            try database.run("UPDATE identity SET shown_user = ?", [.id(userID)])
            let rows = try outboxRows(
                "WHERE state <= ? AND user IN (?, ?)",
                [.int(OutboxRow.lastPendingState), .id(before), .id(userID)]
            )
            try refreshPosts(of: rows.map(\.entry))
        }
    }

    /// Whether lists show an entry.
    func isShown(_ entry: OutboxEntry) throws(OfflineError) -> Bool {
        guard entry.state.isPending else { return false }
        return try shownUserID() == entry.userID
    }

    /// Shows the posts of entries anew, each once; a part of a transaction.
    func refreshPosts(of entries: [OutboxEntry]) throws(OfflineError) {
        var ids: Set<UInt64> = []
        for entry in entries { ids.formUnion(try posts(of: entry)) }
        for id in ids { try refresh(id) }
    }

    /// The posts of the copy that an entry changes; O(posts) for a mark through a post.
    private func posts(of entry: OutboxEntry) throws(OfflineError) -> [UInt64] {
        if entry.localPostID != 0 { return [entry.localPostID] }
        guard case .markPosts(let marks) = entry.request, marks.throughPostID != 0 else {
            return entry.request.shownPosts
        }
        return try postsReached(by: marks)
    }

    /// The posts of the copy that a mark through a post reaches.
    func postsReached(by marks: MarkPostsRequest) throws(OfflineError) -> [UInt64] {
        guard let last = try created(marks.throughPostID) else { return [] }
        var ids: [UInt64] = []
        let sql = """
            SELECT id FROM posts
            WHERE (created, id) <= (?, ?) AND (? = '' OR feed = ?) AND base IS NOT NULL
            """
        let feed = OfflineDatabase.Value.text(marks.feed)
        try database.rows(sql, [.int(last), .id(marks.throughPostID), feed, feed]) {
            ids.append($0.uint64(0))
            return true
        }
        return ids
    }
}
