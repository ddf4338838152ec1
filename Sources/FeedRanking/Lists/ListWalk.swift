import FeedOrders

/// A list: the posts of a feed or of all feeds, in one order, of all time or of a window.
struct ListID {
    /// The feed; nil is all feeds.
    var feed: FeedID?
    var kind: KeyKind
    /// The window; nil is all time.
    var span: WindowSpan?
    /// The time of the read, in Unix milliseconds; it counts for side lists only.
    var readTime: Int64 = 0

    init(feed: FeedID?, kind: KeyKind) {
        self.feed = feed
        self.kind = kind
    }

    /// Whether the list is never dropped; all others are side lists.
    @inline(__always)
    var isStanding: Bool { span == nil && kind.isStanding }

    @inline(__always)
    func hasTime(_ createTimeMilliseconds: Int64) -> Bool {
        guard let span else { return true }
        return createTimeMilliseconds > span.start
    }
}

/// A window as of a time.
struct WindowSpan {
    var window: Window
    /// The Unix time after which a post of the window was created, in milliseconds.
    var start: Int64
    /// The era of the clock (`WindowClock`) that the start is of.
    var era: UInt64

    init(_ window: Window, endingAt time: Int64, _ era: UInt64) {
        self.window = window
        self.era = era
        start = time - window.milliseconds
    }
}

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

    package init(primary: UInt64, secondary: UInt64, id: PostID, title: [UInt8]) {
        self.primary = primary
        self.secondary = secondary
        self.id = id
        self.title = title
    }

    /// The place of a post in NEW.
    init(createTimeMilliseconds: Int64, id: PostID) {
        self.init(
            primary: OrderKey.descending(createTimeMilliseconds),
            secondary: RankKey.newestFirst(id),
            id: id,
            title: []
        )
    }

    static func behindAll(_ order: Order) -> ListPosition { end(ofKeys: order == .old ? 0 : .max) }

    static func beforeAll(_ order: Order) -> ListPosition { end(ofKeys: order == .old ? .max : 0) }

    private static func end(ofKeys part: UInt64) -> ListPosition {
        // A secondary part that ends in a zero byte needs no title.
        let id = PostID(rawValue: part)
        return ListPosition(primary: part, secondary: part & ~0xFF, id: id, title: [])
    }

    init(_ entry: MergeEntry, title: [UInt8]) {
        self.init(primary: entry.primary, secondary: entry.secondary, id: entry.id, title: title)
    }
}

/// A post's key as a merge over the stripes compares it.
struct MergeEntry {
    var primary: UInt64
    var secondary: UInt64
    /// The id of the key's slot, since a slot means nothing outside its stripe.
    var id: PostID
    /// The full title in the buffer of the merge; nil until a tie needs it.
    var title: TextRange?

    init(_ key: RankKey, _ id: PostID) {
        primary = key.primary
        secondary = key.secondary
        self.id = id
    }

    func hasKey(_ key: RankKey) -> Bool { primary == key.primary && secondary == key.secondary }
}

/// The start of a walk through an index.
enum WalkStart {
    case end
    /// A place, with the post there or without it.
    case position(ListPosition, isIncluded: Bool)
    /// The place behind a post that an earlier part of the walk collected.
    case entry(MergeEntry)
}

/// A part of a walk through one order of one list.
struct ListWalk {
    var list: ListID
    /// Whether the walk runs against the order of the keys.
    var isDescending: Bool
    var start: WalkStart
    var limit: Int

    /// The entries that each of several stripes is asked for at once: its share and a little more.
    static func entryCount(ofWalk limit: Int, stripeCount: Int) -> Int {
        stripeCount == 1 ? limit : 2 * limit / stripeCount + 4
    }
}

/// The counts of a walk in a stripe, beside the entries that it collected.
struct WalkSummary {
    var postCount = 0
    /// The number of posts in the list before the start of the walk.
    var skippedCount = 0
    /// Whether each change of the entries counts as shown (``ChangeCounts``).
    var isShown = true
    /// When the first post leaves the list's window, in Unix milliseconds.
    var endTime = Int64.max

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
