import FeedOrders
internal import FeedSpans

/// The orders of one list of posts within a stripe: of a feed, or of all feeds together.
struct FeedIndexes: BitwiseCopyable {
    /// The number of live posts, in an index or not.
    var postCount = 0
    /// The number of posts that were ever created here, or restored by the start of the process.
    var createdCount: UInt64 = 0
    /// What a post needs to be in the head of TOP, HOT or NEW, and whether NEW is built.
    private(set) var headThreshold = HeadThreshold()
    private var top = RankedIndex()
    private var new = RankedIndex()
    private var hot = RankedIndex()

    private static func refuse(_ kind: KeyKind) -> Never {
        preconditionFailure("A list of \(kind) does not stand.")
    }

    mutating func countCreation() {
        postCount += 1
        createdCount += 1
    }

    /// The index of a standing order; it is built when a reader first asks for it.
    subscript(kind: KeyKind) -> RankedIndex {
        @inline(__always) get {
            switch kind {
            case .top: top
            case .new: new
            case .hot: hot
            case .best, .controversial, .rising, .discussed: Self.refuse(kind)
            }
        }
        @inline(__always) set {
            switch kind {
            case .top: top = newValue
            case .new: new = newValue
            case .hot: hot = newValue
            case .best, .controversial, .rising, .discussed: Self.refuse(kind)
            }
            headThreshold.update(kind, newValue)
        }
    }
}

/// The least score and the least hot rank at which a post may be in the head of a list.
///
/// A vote compares them with the new score of its post. Almost all posts lie behind both, and so
/// behind the head boundaries; only the others are compared with the boundaries themselves. A post
/// that no index has may also be in the head of NEW, where NEW is built; a vote on one that it has moves
/// nothing there, and shows.
struct HeadThreshold: BitwiseCopyable {
    private var score = Int64.max
    private var hotRank = Double.infinity
    /// The least time of the head of NEW.
    private var time = Int64.max
    private(set) var hasNew = false

    init() {}

    /// Takes in an index of the list after a change of its boundary.
    mutating func update(_ kind: KeyKind, _ index: RankedIndex) {
        let least = OrderKey.value(descending: index.headBoundary.primary)
        switch kind {
        case .top: score = index.isBuilt ? least : .max
        case .hot: hotRank = index.isBuilt ? Double(least) : .infinity
        case .new:
            hasNew = index.isBuilt
            time = index.isBuilt ? least : .max
        case .best, .controversial, .rising, .discussed: break
        }
    }

    @inline(__always)
    func mayBeReached(byScore score: Int64) -> Bool { score >= self.score }

    @inline(__always)
    func mayBeReached(byTime time: Int64) -> Bool { time >= self.time }

    /// Whether a post may be in the head of HOT by an upper bound of its rank.
    @inline(__always)
    func mayBeReached(byHotRank bound: Double) -> Bool { bound >= hotRank }
}

/// The slots of a stripe's stale posts: those that first pages may show, and all others.
struct StaleSlots: ~Copyable {
    /// The posts that first pages may show; some may have been deleted since.
    var head = Slab<UInt32>()
    /// The posts behind all head boundaries.
    private(set) var tail = SlotSet()
    private(set) var tailCount = 0
    /// The slot at which the search for the next job's posts begins, so that each post is taken
    /// some time.
    var nextJobSlot = 0

    /// The number of stale posts, with those of the head that have been deleted since.
    var count: Int { head.count + tailCount }

    mutating func reserve(_ slotLimit: Int) { tail.reserve(slotLimit) }

    /// Adds a post to the tail, which does not have it; O(1).
    @inline(__always)
    mutating func insertIntoTail(_ slot: UInt32) {
        tail.insert(slot)
        tailCount += 1
    }

    /// Removes a post from the tail, which has it; O(1).
    mutating func removeFromTail(_ slot: UInt32) {
        tail.remove(slot)
        tailCount -= 1
    }

    /// The next post of the tail; the search wraps from the last slot to the first.
    func nextInTail(from slot: Int) -> UInt32? { tail.next(from: slot) ?? tail.next(from: 0) }
}

/// The part of a stale post that a refresh needs, read from its record once.
package struct StalePost: BitwiseCopyable {
    package var slot: UInt32
    package var feed: FeedID
    /// The time of its creation, by which NEW, OLD and HOT place it.
    package var createTimeMilliseconds: Int64
    /// The first eight bytes of its title, by which TOP places it.
    package var titlePrefix: UInt64
    /// The score under which the indexes have the post; valid where `wasIndexed`.
    package var oldScore: Int64
    package var newScore: Int64
    package var wasIndexed: Bool

    /// Copies a post from its record, before the record counts as refreshed.
    @inline(__always)
    package init(_ slot: UInt32, _ record: PostRecord) {
        self.slot = slot
        feed = record.feed
        createTimeMilliseconds = record.createTimeMilliseconds
        titlePrefix = record.titlePrefix
        oldScore = record.indexedScore
        newScore = record.score
        wasIndexed = record.flags.contains(.isIndexed)
    }
}

/// The ids and the keys of a stripe's posts, computed from their slots.
///
/// The low bits of an id are its stripe, and the other bits are its slot.
struct SlotKeys: BitwiseCopyable {
    /// The low bits of the posts' ids.
    let stripeNumber: UInt64
    /// The number of low bits of an id that are not its slot.
    let stripeBits: UInt64

    @inline(__always)
    func id(_ slot: UInt32) -> PostID {
        PostID(rawValue: UInt64(slot) << stripeBits | stripeNumber)
    }

    /// The slot of an id of this stripe; nil where it lies beyond any slot.
    @inline(__always)
    func slot(_ id: PostID) -> UInt32? { UInt32(exactly: id.rawValue >> stripeBits) }

    /// The first slot whose id is at least an id of any stripe.
    private func firstSlot(atOrBehind id: UInt64) -> UInt32 {
        guard id > stripeNumber else { return 0 }
        return UInt32(clamping: (id - stripeNumber - 1) >> stripeBits + 1)
    }

    /// A stale post's key in a standing list, at its old score or its new one.
    @inline(__always)
    func key(_ kind: KeyKind, _ post: StalePost, at score: Int64) -> RankKey {
        switch kind {
        case .top:
            let primary = OrderKey.descending(score)
            return RankKey(primary: primary, secondary: post.titlePrefix, slot: post.slot)
        case .new:
            let primary = OrderKey.descending(post.createTimeMilliseconds)
            let secondary = RankKey.newestFirst(id(post.slot))
            return RankKey(primary: primary, secondary: secondary, slot: post.slot)
        case .hot:
            let time = post.createTimeMilliseconds
            let rank = HotRank.key(score: score, createTimeMilliseconds: time)
            return RankKey(primary: OrderKey.descending(rank), secondary: 0, slot: post.slot)
        case .best, .controversial, .rising, .discussed:
            preconditionFailure("A list of \(kind) does not stand.")
        }
    }

    /// A post's key in an order, with its votes and its comments as they are; O(1).
    @inline(__always)
    func key(_ kind: KeyKind, _ slot: UInt32, _ record: PostRecord) -> RankKey {
        if kind.isStanding { return key(kind, StalePost(slot, record), at: record.score) }
        return RankKey(primary: sidePrimary(kind, record), secondary: 0, slot: slot)
    }

    /// The first part of a key that no standing list has.
    private func sidePrimary(_ kind: KeyKind, _ record: PostRecord) -> UInt64 {
        let (ups, downs) = (record.upvoteCount, record.downvoteCount)
        switch kind {
        case .best:
            let value = ConfidenceRank.value(upvoteCount: ups, downvoteCount: downs)
            return OrderKey.descending(notNegative: value)
        case .controversial:
            let value = ControversyRank.value(upvoteCount: ups, downvoteCount: downs)
            return OrderKey.descending(notNegative: value)
        case .rising:
            return record.risingKey
        case .discussed:
            return ~min(record.content.commentCount, .max - 1)
        case .top, .new, .hot:
            preconditionFailure("A standing list of \(kind) has a key of its own.")
        }
    }

    // The places of posts in an order, computed from their records without an index.
    //
    // They are functions of `SlotKeys` and not of `StandingLists`, because `SlotKeys` is cheap to copy.
    // Swift 6.3 copies a noncopyable value for each call that does not change it, where the caller
    // holds it `inout`.

    /// The place that a post has in an order, or will have after a refresh.
    func position(of slot: UInt32, _ kind: KeyKind, _ posts: borrowing PostTable) -> ListPosition {
        position(of: key(kind, slot, posts[slot]), posts)
    }

    /// The key just before which a walk begins; nil for an end of the list.
    func probe(_ walk: ListWalk, _ posts: inout PostTable) -> RankKey? {
        switch walk.start {
        case .end:
            return nil
        case .position(let position, let isIncluded):
            return probe(position, isBehind: walk.isDescending == isIncluded, &posts)
        case .entry(let entry):
            return probe(position(of: entry, posts), isBehind: !walk.isDescending, &posts)
        }
    }

    /// A key that lies just before a place of the list, or just behind it.
    func probe(_ position: ListPosition, isBehind: Bool, _ posts: inout PostTable) -> RankKey {
        posts.setProbeTitle(position.title.span)
        let bound = position.id.rawValue &+ (isBehind ? 1 : 0)
        return RankKey(
            primary: position.primary,
            secondary: position.secondary,
            slot: firstSlot(atOrBehind: bound),
            isProbe: true
        )
    }

    /// The place of an entry, with its full title where the title decides.
    func position(of entry: MergeEntry, _ posts: borrowing PostTable) -> ListPosition {
        var title: [UInt8] = []
        if RankKey.titleDecides(entry.secondary) { appendTitle(of: entry, to: &title, posts) }
        return ListPosition(entry, title: title)
    }

    /// Appends the title of an entry's post, or where that has changed what the key has of it.
    func appendTitle(of entry: MergeEntry, to titles: inout [UInt8], _ posts: borrowing PostTable) {
        if let slot = slot(entry.id), posts.contains(slot),
            posts[slot].titlePrefix == entry.secondary
        {
            posts[slot].content.appendTitle(to: &titles)
        } else {
            titles.append(contentsOf: RankKey.titleBytes(prefix: entry.secondary))
        }
    }

    func position(of key: RankKey, _ posts: borrowing PostTable) -> ListPosition {
        let title = RankKey.titleDecides(key.secondary) ? posts[key.slot].content.titleBytes : []
        return ListPosition(
            primary: key.primary,
            secondary: key.secondary,
            id: id(key.slot),
            title: title
        )
    }
}
