import FeedProto
import FeedSQLite

/// The entries of the outbox, as programs make, see and decide on them.
extension OfflineStore {
    /// All entries, in the order in which they were made.
    func entries() throws(OfflineError) -> [OutboxEntry] {
        try outboxRows("ORDER BY number").map(\.entry)
    }

    /// An entry; nil where it is done or was dropped.
    func entry(_ number: UInt64) throws(OfflineError) -> OutboxEntry? {
        try outboxRows("WHERE number = ?", [.id(number)]).first?.entry
    }

    /// Adds a change, which lists show from now on.
    ///
    /// The deletion of a post that no service has yet is done at once: the post's entries are forgotten.
    ///
    /// - Parameters:
    ///   - request: The change; it may name posts by their local ids.
    ///   - userID: The account as which it is made; 0 is the device.
    ///   - limit: The most entries.
    ///   - milliseconds: The time, which a new post shows.
    /// - Returns: The entry.
    /// - Throws: `outboxFull`, `unknownPost` for 0 and for a local id that there is not, or an error of
    ///   the file.
    func add(
        _ request: Request,
        as userID: UInt64,
        limit: Int,
        at milliseconds: Int64
    ) throws(OfflineError) -> OutboxEntry {
        try database.transaction { () throws(OfflineError) in
            let request = try resolve(request)
            guard !request.namedPosts.contains(0) else { throw .unknownPost(0) }
            let draft = try draft(deletedBy: request, as: userID)
            if draft == nil, try number("SELECT count(*) FROM outbox") >= Int64(limit) {
                throw .outboxFull(limit: limit)
            }
            // The number is above that of each entry, also where the stored one is damaged.
            let next = try self.number(
                "SELECT max(next_entry, (SELECT coalesce(max(number), 0) + 1 FROM outbox)) FROM identity"
            )
            let number = UInt64(bitPattern: next)
            try database.run("UPDATE identity SET next_entry = ?", [.int(next + 1)])
            let row = OutboxRow(
                number: number,
                request: request,
                instanceID: try instanceID(of: request),
                userID: userID
            )
            if let draft {
                try forget(draft)
                return row.entry
            }
            try write(row)
            if row.entry.localPostID != 0 {
                try takeLocal(row.entry, at: milliseconds)
            } else {
                try refreshPosts(of: [row.entry])
            }
            return row.entry
        }
    }

    /// The instance whose posts a change names: that of the chain which copies their feed.
    ///
    /// A program that names a post which the copy has not knows its id from elsewhere, lately as it seems:
    /// from the instance that was greeted last. 0 is none yet; the next greeting gives its own.
    private func instanceID(of request: Request) throws(OfflineError) -> UInt64 {
        let feed: String?
        if case .createPost(let creation) = request {
            feed = creation.feed
        } else {
            let id = OfflineDatabase.Value.id(request.namedPosts.first ?? 0)
            let sql = "SELECT feed FROM posts WHERE id = ?"
            feed = try database.first(sql, [id], { $0.text(0) }) ?? nil
        }
        let chain = try database.first(
            "SELECT instance FROM chains WHERE (feed = ? OR feed = '') AND instance <> 0",
            [.text(feed ?? "")]
        ) { $0.uint64(0) }
        if let chain { return chain }
        return try identity().instanceID
    }

    /// Forgets an entry, and with a post that it would have created all changes of that post.
    ///
    /// An entry that may have been executed can be dropped too: what it did stays done.
    func drop(_ number: UInt64) throws(OfflineError) {
        try database.transaction { () throws(OfflineError) in
            guard let entry = try entry(number) else { throw .unknownEntry(number) }
            try forget(entry)
        }
    }

    private func forget(_ entry: OutboxEntry) throws(OfflineError) {
        try remove(entry)
        guard entry.localPostID != 0 else { return }
        for row in try outboxRows("ORDER BY number")
        where row.request.namedPosts.contains(entry.localPostID) {
            try remove(row.entry)
        }
    }

    /// The entry of a post that a change deletes and no service has; nil of any other change.
    ///
    /// A post that was sent may be there, and is one of its account alone.
    private func draft(
        deletedBy request: Request,
        as userID: UInt64
    ) throws(OfflineError) -> OutboxEntry? {
        guard case .deletePost(let deletion) = request, LocalPostID.isLocal(deletion.id),
            let entry = try entry(LocalPostID.entry(deletion.id)), entry.userID == userID
        else { return nil }
        switch entry.state {
        case .waiting, .failed: return entry
        case .sent, .inDoubt: return nil
        }
    }

    /// Lets an entry that failed, is in doubt or waits for another account be sent as a new change of
    /// an account.
    ///
    /// - Throws: `unknownEntry`, `unknownPost` where its post was made here and is gone, or an error of
    ///   the file.
    func resend(_ number: UInt64, as userID: UInt64) throws(OfflineError) {
        try database.transaction { () throws(OfflineError) in
            guard var row = try outboxRows("WHERE number = ?", [.id(number)]).first else {
                throw .unknownEntry(number)
            }
            switch row.state {
            case .failed, .inDoubt: break
            case .waiting where row.userID != userID: break
            case .waiting, .sent: throw .unknownEntry(number)
            }
            var request = try resolve(row.request)
            if case .updatePost(var update) = request, let id = update.post?.id,
                update.post?.revision ?? 0 > 0, let base = try base(id)
            {
                update.post?.revision = base.revision
                request = .updatePost(update)
            }
            try removeTargets(of: row.entry)
            row.request = request
            row.state = .waiting
            row.sequence = 0
            row.userID = userID
            // The program has looked at it: its posts are those that the copy shows now, at their revisions.
            row.instanceID = try instanceID(of: request)
            try write(row)
            try refreshPosts(of: [row.entry])
        }
    }

    /// Rows that a condition selects.
    func outboxRows(
        _ condition: String,
        _ values: [OfflineDatabase.Value] = []
    ) throws(OfflineError) -> [OutboxRow] {
        var rows: [OutboxRow] = []
        let sql = "SELECT \(OutboxRow.columns) FROM outbox \(condition)"
        try database.rows(sql, values) { row throws(OfflineError) in
            rows.append(try OutboxRow(row, &blobs))
            return true
        }
        return rows
    }

    /// Writes an entry in place of what the file had of it; a part of a transaction.
    func write(_ row: OutboxRow) throws(OfflineError) {
        try database.run(
            "INSERT OR REPLACE INTO outbox(\(OutboxRow.columns)) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)",
            row.values()
        )
        for post in Set(row.request.shownPosts) {
            try database.run(
                "INSERT OR IGNORE INTO targets VALUES(?, ?)",
                [.id(post), .id(row.number)]
            )
        }
        change.hasOutboxChanged = true
    }

    /// Removes an entry, and shows its posts without it; a part of a transaction.
    func remove(_ entry: OutboxEntry) throws(OfflineError) {
        try database.run("DELETE FROM outbox WHERE number = ?", [.id(entry.number)])
        try removeTargets(of: entry)
        change.hasOutboxChanged = true
        try refreshPosts(of: [entry])
    }

    /// Lets no post show an entry, which is then removed or written anew; a part of a transaction.
    func removeTargets(of entry: OutboxEntry) throws(OfflineError) {
        for post in Set(entry.request.shownPosts) {
            try database.run(
                "DELETE FROM targets WHERE post = ? AND number = ?",
                [.id(post), .id(entry.number)]
            )
        }
    }

    /// The id of the service for the local id of a post that it has; else the id itself.
    func currentID(_ id: UInt64) throws(OfflineError) -> UInt64 {
        try database.first("SELECT post FROM made_posts WHERE local = ?", [.id(id)]) {
            $0.uint64(0)
        } ?? id
    }

    /// The change with the service's ids of the posts that were made here, where they have them.
    private func resolve(_ request: Request) throws(OfflineError) -> Request {
        var resolved = request
        for local in request.namedPosts where LocalPostID.isLocal(local) {
            let id = try currentID(local)
            if id != local {
                resolved = resolved.replacing(local, by: id)
            } else if try entry(LocalPostID.entry(local))?.localPostID != local {
                throw .unknownPost(local)
            }
        }
        return resolved
    }
}
