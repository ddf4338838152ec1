/// A share of the posts, with their orders and ballots; whoever holds its lock owns it.
///
/// A post is in the stripe of its id's low bits, in the slot of the other bits. A vote changes the
/// record and marks the post dirty, once; who reads an order settles the dirty posts into the
/// indexes first. Invariants (`checkInvariants`): an index built holds exactly the indexed posts of
/// its feed, at their settled scores, save for what `job` is about; a post whose score is not the
/// settled one, or that is in no index, is in the near or the far list; a far post lies behind the
/// floor of every index, with its settled score and with its own.
package struct Stripe: ~Copyable {
    /// More than a page of the largest size takes from one of many stripes.
    static let minimumFloorRank = 16

    /// The low bits of its posts' ids.
    let number: UInt64
    /// How many low bits of an id are not its slot.
    let stripeBits: UInt64

    /// The records by slot, beside the texts they own.
    var posts = PostTable()
    /// The nodes of all indexes.
    var pool = NodePool()
    /// The ballots on posts of feeds that keep them.
    var ballots = BallotTable()
    /// Posts that recovery has deleted, which nothing older may bring back.
    var deleted = SlotSet()
    /// By feed number.
    var feeds = Slab<FeedIndexes>()
    /// Over all feeds.
    var front = FeedIndexes()

    /// How deep below the first key of an index its floor lies.
    let floorRank: Int
    /// Dirty posts that first pages may show; some may have gone since.
    var near = Slab<UInt32>()
    /// Dirty posts behind all floors.
    var far = SlotSet()
    /// How many slots `far` has.
    var farCount = 0
    /// How many dirty posts are in no index: created, or under a new title.
    var unindexedCount = 0

    /// When settling is due, and how much is done at once.
    let pace: SettlingPace
    /// Settling that is under way.
    var job = SettlingJob()
    /// Working memory of settling, kept between calls.
    var dirty = Slab<DirtyPost>()
    var keys = Slab<RankKey>()
    var sorter = KeySort()
    var dropped = SlotSet()

    /// An empty stripe of a store with 2 to the power of `stripeBits` stripes.
    package init(number: Int, stripeBits: Int, pace: SettlingPace = SettlingPace()) {
        self.pace = pace
        self.number = UInt64(number)
        self.stripeBits = UInt64(stripeBits)
        floorRank = max(Self.minimumFloorRank, pace.floorPostCount >> stripeBits)
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

    /// The slot of a post that lives; nil where none does.
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

    /// Writes an index back after a change: it is a value.
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

    /// A dirty post's key in an order, at its old score or its new one.
    @inline(__always)
    func key(_ kind: IndexKind, _ post: DirtyPost, _ score: Int64) -> RankKey {
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

    /// A key not behind the post's, and cheaper: to be compared with a floor.
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
