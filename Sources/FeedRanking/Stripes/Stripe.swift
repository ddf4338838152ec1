/// A share of the posts, with their orders and ballots; the holder of its lock owns it.
///
/// The low bits of a post's id are its stripe, and the other bits are its slot. A vote changes the
/// record and marks the post stale, once. A reader of an order refreshes the indexes with the stale
/// posts first.
///
/// Invariants (`checkInvariants`): A built index holds exactly the indexed posts of its feed, at
/// their indexed scores, except for the posts of `job`. A post is in the stale head or the stale
/// tail if its score is not the indexed score, or if no index has it. A post of the stale tail lies
/// behind the head boundary of every index, with its indexed score and with its own score.
package struct Stripe: ~Copyable {
    /// The least rank of a head boundary.
    ///
    /// It is more than a page of the largest size takes from one of many stripes.
    static let minimumHeadBoundaryRank = 16

    /// The low bits of its posts' ids.
    let number: UInt64
    /// The number of low bits of an id that are not its slot.
    let stripeBits: UInt64

    /// The records by slot, and the texts that they own.
    var posts = PostTable()
    /// The nodes of all indexes.
    var pool = NodePool()
    /// The ballots on posts of feeds that keep them.
    var ballots = BallotTable()
    /// The posts that recovery has deleted; no older change may bring them back.
    var deleted = SlotSet()
    /// The lists of each feed, by feed number.
    var feeds = Slab<FeedIndexes>()
    /// The lists over all feeds.
    var front = FeedIndexes()

    /// The rank of the head boundary in an index.
    let headBoundaryRank: Int
    /// The stale posts that first pages may show; some may have been deleted since.
    var staleHead = Slab<UInt32>()
    /// The stale posts behind all head boundaries.
    var staleTail = SlotSet()
    /// The number of slots in `staleTail`.
    var staleTailCount = 0
    /// The number of stale posts in no index: created, or under a new title.
    var unindexedCount = 0

    /// When a refresh is due, and how much of it is done at once.
    let pace: RefreshPace
    /// The refresh in steps that is under way.
    var job = RefreshJob()
    /// The working memory of a refresh, kept between calls: the posts taken, and their keys.
    var stalePosts = Slab<StalePost>()
    var keys = Slab<RankKey>()
    var sorter = KeySort()
    var dropped = SlotSet()

    /// An empty stripe of a store with 2 to the power of `stripeBits` stripes.
    package init(number: Int, stripeBits: Int, pace: RefreshPace = RefreshPace()) {
        self.pace = pace
        self.number = UInt64(number)
        self.stripeBits = UInt64(stripeBits)
        headBoundaryRank = max(Self.minimumHeadBoundaryRank, pace.headPostCount >> stripeBits)
    }

    /// The id of the post in a slot.
    @inline(__always)
    func id(_ slot: UInt32) -> PostID {
        PostID(rawValue: UInt64(slot) << stripeBits | number)
    }

    /// The slot of an id of this stripe; nil where it lies beyond any slot.
    @inline(__always)
    func slot(_ id: PostID) -> UInt32? {
        UInt32(exactly: id.rawValue >> stripeBits)
    }

    /// The slot of a live post; nil where the id has none.
    @inline(__always)
    func liveSlot(_ id: PostID) -> UInt32? {
        guard let slot = slot(id), posts.contains(slot) else { return nil }
        return slot
    }

    /// The lists of a feed, or of all feeds for nil.
    func indexes(_ feed: FeedID?) -> FeedIndexes {
        guard let feed else { return front }
        let number = Int(feed.rawValue)
        return number < feeds.count ? feeds[number] : FeedIndexes()
    }

    /// Writes an index back after a change, because an index is a value.
    mutating func setIndex(_ index: RankedIndex, _ kind: IndexKind, _ feed: FeedID?) {
        guard let feed else {
            front[kind] = index
            return
        }
        feeds.extend(to: Int(feed.rawValue) + 1, with: FeedIndexes())
        feeds[Int(feed.rawValue)][kind] = index
    }

    /// A post's key in an order, at a score.
    @inline(__always)
    func key(_ kind: IndexKind, _ slot: UInt32, _ record: PostRecord, _ score: Int64) -> RankKey {
        key(kind, slot, record.titlePrefix, record.createTimeMilliseconds, score)
    }

    /// A stale post's key in an order, at its old score or its new one.
    @inline(__always)
    func key(_ kind: IndexKind, _ post: StalePost, _ score: Int64) -> RankKey {
        key(kind, post.slot, post.titlePrefix, post.createTimeMilliseconds, score)
    }

    @inline(__always)
    private func key(
        _ kind: IndexKind,
        _ slot: UInt32,
        _ titlePrefix: UInt64,
        _ createTimeMilliseconds: Int64,
        _ score: Int64
    ) -> RankKey {
        switch kind {
        case .top:
            return RankKey(
                primary: RankKey.descending(score),
                secondary: titlePrefix,
                slot: slot
            )
        case .new:
            return RankKey(
                primary: RankKey.descending(createTimeMilliseconds),
                secondary: RankKey.newestFirst(id(slot)),
                slot: slot
            )
        case .hot:
            let time = createTimeMilliseconds
            let rank = HotRank.key(score: score, createTimeMilliseconds: time)
            return RankKey(primary: RankKey.descending(rank), secondary: 0, slot: slot)
        }
    }

    /// A cheaper key that is not behind the post's key, for a comparison with a head boundary.
    @inline(__always)
    func boundKey(
        _ kind: IndexKind,
        _ slot: UInt32,
        _ record: PostRecord,
        _ score: Int64
    ) -> RankKey {
        guard kind == .hot else { return key(kind, slot, record, score) }
        let time = record.createTimeMilliseconds
        let bound = HotRank.upperBound(score: score, createTimeMilliseconds: time)
        return RankKey(primary: RankKey.descending(bound), secondary: 0, slot: slot)
    }
}
