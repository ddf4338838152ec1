/// The start of a walk through an index.
enum WalkStart {
    /// The end from which the walk comes.
    case end
    /// A place, with the post there or without it.
    case position(ListPosition, isIncluded: Bool)
    /// The place behind a post that an earlier part of the walk collected.
    case entry(MergeEntry)
}

/// A part of a walk through one order of one list.
struct ListWalk {
    /// The list of a feed, or of all feeds for nil.
    var feed: FeedID?
    /// The index of the walk.
    var kind: IndexKind
    /// Whether the walk runs against the order of the keys.
    var isDescending: Bool
    /// The start of the walk.
    var start: WalkStart
    /// The number of entries after which the walk ends.
    var limit: Int
}

/// The counts of a walk in a stripe, beside the entries that it collected.
struct WalkSummary {
    /// The number of posts in the list.
    var postCount = 0
    /// The number of posts in the list before the start of the walk.
    var skippedCount = 0
}
