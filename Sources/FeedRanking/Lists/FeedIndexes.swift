/// The orders of one list of posts within a stripe: of a feed, or of all feeds together.
struct FeedIndexes: BitwiseCopyable {
    /// The number of live posts, in an index or not.
    var postCount = 0
    /// The number of posts that were ever created here, or restored by the start of the process.
    var createdCount: UInt64 = 0
    /// What a post needs to be in the head of TOP, HOT or NEW, and whether NEW is built.
    private(set) var headThreshold = HeadThreshold()
    private var indexes = [3 of RankedIndex](repeating: RankedIndex())

    mutating func countCreation() {
        postCount += 1
        createdCount += 1
    }

    /// The index of a standing order; it is built when a reader first asks for it.
    subscript(kind: KeyKind) -> RankedIndex {
        @inline(__always) get { indexes[Int(kind.rawValue)] }
        @inline(__always) set {
            indexes[Int(kind.rawValue)] = newValue
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
        let least = RankKey.value(descending: index.headBoundary.primary)
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
