/// A list at a moment: the ids and the keys of its first posts, in order.
///
/// Rows of a page are read from the posts as they are now; only the order is of the moment.
final class ListSnapshot: Sendable {
    /// A post's id, and its key as it was.
    struct Entry: BitwiseCopyable, Sendable {
        var primary: UInt64
        var secondary: UInt64
        var id: PostID
    }

    /// A list that may have snapshots.
    struct List: Hashable, Sendable {
        /// The feed; nil is the front page over all feeds.
        var feed: FeedID?
        /// The order.
        var order: Order
        /// The window; nil is all time.
        var window: Window?
    }

    /// The number that page tokens name; no two snapshots have the same.
    let id: UInt64
    /// The list.
    let list: List
    /// A revision that every change of the list's posts up to it is in the snapshot.
    let revision: UInt64
    /// The first posts of the list.
    let entries: [Entry]
    /// The number of posts that the list had.
    let postCount: Int
    /// The place in NEW from which a refresh of the list begins.
    let refreshPlace: ListPosition

    /// A snapshot of a list.
    init(
        id: UInt64,
        list: List,
        revision: UInt64,
        entries: [Entry],
        postCount: Int,
        refreshPlace: ListPosition
    ) {
        self.id = id
        self.list = list
        self.revision = revision
        self.entries = entries
        self.postCount = postCount
        self.refreshPlace = refreshPlace
    }

    /// Whether the snapshot has all posts that the list had.
    var isWhole: Bool { entries.count >= postCount }

    /// The bytes that the snapshot takes, its places in tables included.
    var byteCount: Int {
        RankingLimits.snapshotOverheadByteCount + entries.count * MemoryLayout<Entry>.stride
    }
}

extension MergeEntry {
    /// The entry that a merge had of a post.
    init(_ entry: ListSnapshot.Entry) {
        self.init(RankKey(primary: entry.primary, secondary: entry.secondary, slot: 0), entry.id)
    }
}
