internal import FeedRanking

/// Single posts that a client watches, and the revisions of them that it has been sent.
final class WatchedPosts {
    /// The revision of a post that is gone, which the client has been told.
    static let goneRevision = UInt64.max

    /// The posts, in the order of the request.
    let ids: [PostID]
    /// For each of them the revision that was sent; 0 where none was.
    var revisions: [UInt64]
    /// The revision of the store at the last look; nil before the first event.
    var lookRevision: UInt64?

    /// Posts of which a client knows everything up to a revision; 0 is nothing.
    init(_ ids: [PostID], knownUpTo revision: UInt64) {
        self.ids = ids
        revisions = Array(repeating: revision, count: ids.count)
    }
}
