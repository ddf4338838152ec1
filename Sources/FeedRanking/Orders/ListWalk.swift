/// A place in an order; it does not change when its post moves or is deleted.
package struct ListPosition: Equatable, Sendable {
    /// The key's first part, ascending in the order of the list.
    package var primary: UInt64
    /// The key's second part: for `top` the first eight bytes of the title.
    package var secondary: UInt64
    /// The id, which decides last; the post may be deleted.
    package var id: PostID
    /// The title's UTF-8, for `top` only: it decides between equal scores.
    package var title: [UInt8]

    /// A place from a post's key, or from a page token.
    package init(primary: UInt64, secondary: UInt64, id: PostID, title: [UInt8]) {
        self.primary = primary
        self.secondary = secondary
        self.id = id
        self.title = title
    }
}

extension ListPosition {
    /// A place behind all posts, in the order of the list.
    static func behindAll(_ order: Order) -> ListPosition {
        end(ofKeys: order == .old ? 0 : .max)
    }

    /// A place before all posts, in the order of the list.
    static func beforeAll(_ order: Order) -> ListPosition {
        end(ofKeys: order == .old ? .max : 0)
    }

    private static func end(ofKeys part: UInt64) -> ListPosition {
        // A secondary part that ends in a zero byte needs no title.
        let id = PostID(rawValue: part)
        return ListPosition(primary: part, secondary: part & ~0xFF, id: id, title: [])
    }
}

/// A post's key as a merge over the stripes compares it.
struct MergeEntry {
    /// The key's first part, which almost always decides.
    var primary: UInt64
    /// The key's second part: for `top` the first eight bytes of the title.
    var secondary: UInt64
    /// The id of the key's slot, since a slot means nothing outside its stripe.
    var id: PostID
    /// The full title in the buffer of the merge; nil until a tie needs it.
    var title: TextRange?

    /// The entry of a key that a stripe has for a post.
    init(_ key: RankKey, _ id: PostID) {
        primary = key.primary
        secondary = key.secondary
        self.id = id
    }
}

/// The start of a walk through an index.
enum WalkStart {
    /// The end of the list at which the walk starts.
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
