import FeedProto
import FeedSQLite

/// The chains of syncs, by which the copy of each feed follows the service.
extension OfflineStore {
    /// The next request of a feed's chain.
    func nextRequest(_ feed: String) throws(OfflineError) -> SyncPostsRequest {
        let sql = "SELECT next_revision, copy_revision, instance FROM chains WHERE feed = ?"
        let request = try database.first(sql, [.text(feed)]) { row in
            SyncPostsRequest(
                feed: feed,
                sinceRevision: row.uint64(0),
                copyRevision: row.uint64(1),
                instanceID: row.uint64(2)
            )
        }
        return request ?? SyncPostsRequest(feed: feed)
    }

    /// Lets all chains begin anew; a part of a transaction.
    ///
    /// The posts stay until the new copies are complete.
    func beginChainsAnew() throws(OfflineError) {
        try database.run("UPDATE chains SET next_revision = 0, copy_revision = 0")
    }

    /// Drops the posts that cannot be read; O(posts).
    func mendCopy() throws(OfflineError) {
        _ = try database.transaction { () throws(OfflineError) in try dropDamagedPosts() }
    }

    /// Drops the posts that cannot be read, and lets the chains begin anew where there are some; a part of
    /// a transaction, O(posts).
    ///
    /// The other posts are shown until the new copies are complete. A post that was made here is computed
    /// from its entry, so nothing of the outbox is lost.
    ///
    /// - Returns: Whether there was one.
    func dropDamagedPosts() throws(OfflineError) -> Bool {
        var damaged: [UInt64] = []
        try database.rows("SELECT id, base, shown FROM posts") { row in
            let isReadable = (1...2).allSatisfy { column in
                row.isNull(column) || (try? blobs.post(row.bytes(column))) != nil
            }
            if !isReadable { damaged.append(row.uint64(0)) }
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
            let isOtherState = answer.isReset && chain?.instance != answer.instanceID
            if isOtherState { try forget(before: generation, feed, &counts) }
            for post in answer.posts { try take(post, generation, &counts) }
            // Until a copy is complete its answers have the revision at which it was begun.
            let endsCopy =
                answer.copyRevision == 0 && (answer.isReset || chain?.copyRevision != 0)
            if endsCopy { try forget(before: generation, feed, &counts) }
            try database.run(
                """
                UPDATE chains SET next_revision = ?, copy_revision = ?, instance = ?, generation = ?
                WHERE feed = ?
                """,
                [
                    .id(answer.nextRevision), .id(answer.copyRevision), .id(answer.instanceID),
                    .int(generation), .text(feed),
                ]
            )
        }
        report = counts
    }

    private func take(
        _ post: Post,
        _ generation: Int64,
        _ report: inout SyncReport
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
        try take(post, generation: generation)
        report.changedPostCount += 1
    }

    private func forget(
        before generation: Int64,
        _ feed: String,
        _ report: inout SyncReport
    ) throws(OfflineError) {
        var ids: [UInt64] = []
        let sql = """
            SELECT id FROM posts
            WHERE generation < ? AND base IS NOT NULL AND (? = '' OR feed = ?)
            """
        try database.rows(sql, [.int(generation), .text(feed), .text(feed)]) {
            ids.append($0.uint64(0))
            return true
        }
        for id in ids { try remove(id) }
        report.removedPostCount += ids.count
    }
}
