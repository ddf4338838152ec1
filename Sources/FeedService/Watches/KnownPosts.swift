internal import FeedRanking

/// The first posts of a list, and the revisions of them that a client has been sent.
///
/// Clients that have been sent the same share one value, so that the next event is encoded once for all
/// of them.
final class KnownPosts {
    /// A post, as of a revision.
    struct Entry: Equatable {
        /// The post.
        var id: PostID
        /// The revision that was sent; 0 where none was.
        var revision: UInt64
    }

    /// The posts in the order of the list.
    let entries: [Entry]
    /// The posts that had been created in the list's feed by then.
    let createdCount: UInt64

    /// What a client knows from now on.
    init(_ entries: [Entry], createdCount: UInt64) {
        self.entries = entries
        self.createdCount = createdCount
    }
}
