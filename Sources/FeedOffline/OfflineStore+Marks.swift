import FeedClient
import FeedProto
import FeedSQLite

/// The marks that the viewer makes on any device: they are no changes of posts, and have a chain beside that
/// of the posts. These functions are parts of transactions.
extension OfflineStore {
    /// Where the chain of the marks goes on.
    func markPosition(of chain: String) throws(OfflineError) -> MarkPosition {
        let sql = "SELECT revision, copy_revision FROM mark_chains WHERE feed = ?"
        return try database.first(sql, [.text(chain)]) {
            MarkPosition(revision: $0.uint64(0), copyRevision: $0.uint64(1))
        } ?? MarkPosition()
    }

    func keep(_ position: MarkPosition, of chain: String) throws(OfflineError) {
        try database.run(
            "INSERT OR REPLACE INTO mark_chains VALUES(?, ?, ?)",
            [.text(chain), .number(position.revision), .number(position.copyRevision)]
        )
    }

    /// Applies what has changed in the viewer's marks; O(posts) for each mark through a post.
    func apply(_ marks: MarkChanges, of chain: String) throws(OfflineError) {
        if marks.isReset {
            try changeViewers("(? = '' OR feed = ?)", [.text(chain), .text(chain)]) { viewer in
                viewer.isRead = false
                viewer.isDismissed = false
            }
        }
        for mark in marks.through {
            let feed = OfflineDatabase.Value.text(mark.feed.isEmpty ? chain : mark.feed)
            try changeViewers(
                "(created, id) <= (?, ?) AND (? = '' OR feed = ?)",
                [.int(mark.createTimeMilliseconds), .id(mark.postID), feed, feed]
            ) { viewer in
                viewer.take(mark.mark)
            }
        }
        for post in marks.posts {
            try changeViewers("id = ?", [.id(post.id)]) { viewer in
                viewer.isRead = post.isRead
                viewer.isDismissed = post.isDismissed
            }
        }
        if let next = marks.next { try keep(next, of: chain) }
    }

    private func changeViewers(
        _ condition: String,
        _ values: [OfflineDatabase.Value],
        _ body: (inout Viewer) -> Void
    ) throws(OfflineError) {
        let sql = "SELECT id FROM posts WHERE base IS NOT NULL AND \(condition)"
        for id in try database.all(sql, values, { $0.id(0) as PostID }) {
            try changeBase(id) { post in
                var viewer = post.viewer ?? Viewer()
                body(&viewer)
                post.viewer = viewer
            }
        }
    }
}

extension Viewer {
    /// Takes a mark of the post.
    mutating func take(_ mark: Mark) {
        switch mark {
        case .read: isRead = true
        case .unread: isRead = false
        case .dismissed: isDismissed = true
        case .restored: isDismissed = false
        default: break
        }
    }
}
