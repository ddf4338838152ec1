package import FeedClient
internal import FeedProto

/// What has changed in a watched list since the report before.
package struct WatchReport: Report, Equatable {
    /// The state that the report shows.
    let revision: UInt64
    /// The posts that have changed, or have come into the list.
    let changed: [PostReport]
    /// The ids of the list in order, where they have changed; else empty.
    let ranking: [UInt64]
    /// The posts that are no longer in the list.
    let removedIDs: [UInt64]
    /// How many posts were created in the feed.
    let newPostCount: UInt64

    private enum CodingKeys: String, CodingKey {
        case revision, changed, ranking
        case removedIDs = "removedIds"
        case newPostCount
    }

    /// The report of two elements of a watch that was not refreshed between them; `before` is nil for
    /// the first report, which has all posts.
    ///
    /// The result is nil where nothing has changed, as in the first element after a lost connection.
    package init?(_ posts: WatchedPosts, after before: WatchedPosts?) {
        var now = posts
        now.refresh()
        var earlier = before
        earlier?.refresh()
        var revisions: [UInt64: UInt64] = [:]
        for post in earlier?.rows ?? [] { revisions[post.id] = post.revision }
        revision = posts.revision
        changed = now.rows.filter { revisions[$0.id] != $0.revision }.map(PostReport.init)
        ranking = earlier?.ranking == now.ranking ? [] : now.ranking
        let current = Set(now.ranking)
        removedIDs = (earlier?.ranking ?? []).filter { !current.contains($0) }
        // Counts of the wire may also go down.
        let earlierCount = before?.newPostCount ?? posts.newPostCount
        newPostCount = posts.newPostCount - min(earlierCount, posts.newPostCount)
        if before != nil, changed.isEmpty, ranking.isEmpty, removedIDs.isEmpty, newPostCount == 0 {
            return nil
        }
    }

    /// One line: the scores that have changed, then the order; else that the list is empty.
    package func text(_ style: TextStyle) -> String {
        var parts = changed.map { "post \($0.id) has \($0.score)" }
        if !removedIDs.isEmpty { parts.append("gone: \(Self.list(removedIDs))") }
        if newPostCount > 0 { parts.append("new posts: \(newPostCount)") }
        if !ranking.isEmpty { parts.append("order: \(Self.list(ranking))") }
        return "\(revision): \(parts.isEmpty ? "no posts" : parts.joined(separator: "; "))\n"
    }

    private static func list(_ ids: [UInt64]) -> String {
        ids.map(String.init).joined(separator: " ")
    }
}
