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
    /// The place of a post in NEW.
    init(createTimeMilliseconds: Int64, id: PostID) {
        self.init(
            primary: RankKey.descending(createTimeMilliseconds),
            secondary: RankKey.newestFirst(id),
            id: id,
            title: []
        )
    }

    /// A place behind all posts, in the order of the list.
    static func behindAll(_ order: Order) -> ListPosition { end(ofKeys: order == .old ? 0 : .max) }

    /// A place before all posts, in the order of the list.
    static func beforeAll(_ order: Order) -> ListPosition { end(ofKeys: order == .old ? .max : 0) }

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

    /// Whether the entry was collected with a key.
    func hasKey(_ key: RankKey) -> Bool { primary == key.primary && secondary == key.secondary }
}

extension ListPosition {
    /// The place of an entry.
    init(_ entry: MergeEntry, title: [UInt8]) {
        self.init(primary: entry.primary, secondary: entry.secondary, id: entry.id, title: title)
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
    /// The list of the walk.
    var list: ListID
    /// Whether the walk runs against the order of the keys.
    var isDescending: Bool
    /// The start of the walk.
    var start: WalkStart
    /// The number of entries after which the walk ends.
    var limit: Int
}

extension ListWalk {
    /// The entries that each of several stripes is asked for at once: its share and a little more.
    static func entryCount(ofWalk limit: Int, stripeCount: Int) -> Int {
        stripeCount == 1 ? limit : 2 * limit / stripeCount + 4
    }
}

/// The counts of a walk in a stripe, beside the entries that it collected.
struct WalkSummary {
    /// The number of posts in the list.
    var postCount = 0
    /// The number of posts in the list before the start of the walk.
    var skippedCount = 0
    /// Whether each change of the entries counts as shown (``ChangeCounts``).
    var isShown = true
    /// When the first post leaves the list's window, in Unix milliseconds.
    var endTime = Int64.max

    /// Takes in the counts of another stripe.
    mutating func add(_ other: WalkSummary) {
        postCount += other.postCount
        skippedCount += other.skippedCount
        isShown = isShown && other.isShown
        endTime = min(endTime, other.endTime)
    }
}

/// The part of an index that a walk has passed.
struct WalkReach {
    /// The number of keys before the start of the walk.
    var startRank: Int
    /// The key that lies furthest behind of those the walk depends on; nil for the whole index.
    var last: RankKey?
}

extension RankedIndex {
    /// Appends the next entries of a walk, as the index has them; O(log n + limit).
    func collect(
        _ walk: ListWalk,
        from probe: RankKey?,
        into entries: inout [MergeEntry],
        _ pass: inout ListPass
    ) -> WalkReach {
        var startRank = walk.isDescending ? count : 0
        if let probe { startRank = position(of: probe, pass.pool, pass.posts).rank }
        var position = position(atRank: startRank, pass.pool)
        var last = probe
        var found = 0
        if walk.isDescending { retreat(&position, pass.pool) }
        while found < walk.limit, let key = key(at: position, pass.pool) {
            entries.append(MergeEntry(key, pass.slots.id(key.slot)))
            found += 1
            if walk.isDescending {
                retreat(&position, pass.pool)
            } else {
                last = key
                advance(&position, pass.pool)
            }
        }
        let isBounded = walk.isDescending || found == walk.limit
        return WalkReach(startRank: startRank, last: isBounded ? last : nil)
    }
}
