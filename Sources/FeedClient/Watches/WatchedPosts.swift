public import FeedProto

/// The posts of a watch as a reader sees them: the numbers are those of now, and the rows stay.
///
/// No row moves, comes or goes until the program asks for the new order, with
/// ``WatchSequence/refresh()`` or with ``refresh()`` on a value of its own.
public struct WatchedPosts: Sendable, Equatable {
    /// The rows, in the order of the last refresh.
    ///
    /// A row that is watched no more keeps its last numbers; ``removedIDs`` has its id.
    public private(set) var rows: [Post]
    /// The rows that are watched no more, in their order: those posts were deleted, or others have taken
    /// their places among the first.
    public private(set) var removedIDs: [UInt64] = []

    private var copy: WatchCopy
    /// The new posts that the rows already show or have passed over.
    private var seenNewPostCount: UInt64

    /// The first rows.
    package init(_ copy: WatchCopy) {
        self.copy = copy
        rows = copy.rows
        seenNewPostCount = copy.newPostCount
    }

    /// The ids of the watched posts in the order of now: what the rows are after a refresh.
    public var ranking: [UInt64] { copy.ranking }

    /// Whether a refresh would move, add or remove rows; O(rows).
    public var hasNewOrder: Bool { !rows.lazy.map(\.id).elementsEqual(ranking) }

    /// How many posts were created in the list's feed since the last refresh, whether or not they are
    /// among the first.
    ///
    /// Posts that were created while the connection was lost are not counted.
    public var newPostCount: UInt64 { copy.newPostCount - seenNewPostCount }

    /// The state that the numbers are of: they show every change up to this revision.
    ///
    /// A row with a higher `revision` shows a later change, too.
    public var revision: UInt64 { copy.revision }

    /// Puts the rows into the order of now, with posts that have come and without those that are
    /// watched no more; O(rows).
    public mutating func refresh() { self = Self(copy) }

    /// Brings the numbers of the rows up to date; O(rows).
    package mutating func follow(_ copy: WatchCopy) {
        self.copy = copy
        removedIDs = []
        for place in rows.indices {
            if let post = copy[rows[place].id] {
                rows[place] = post
            } else {
                removedIDs.append(rows[place].id)
            }
        }
    }
}

extension WatchCopy {
    fileprivate var rows: [Post] { ranking.compactMap { self[$0] } }
}
