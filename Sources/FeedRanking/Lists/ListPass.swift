/// What the lists of a stripe share: the posts, the nodes of their indexes, and the working memory.
///
/// It is handed on to each call of `StandingLists` and `SideLists`, always `inout`: Swift 6.3 copies a
/// noncopyable value that a caller holds `inout` for each call that only borrows it.
struct ListPass: ~Copyable {
    /// The least rank of a head boundary.
    ///
    /// It is more than a page of the largest size takes from one of many stripes.
    private static let minimumHeadRank = 16

    let slots: SlotKeys
    let pace: RefreshPace
    /// The rank of the head boundary in an index of a long stripe.
    let headRank: Int
    /// The least rank of a head boundary in a short stripe: a first page of the largest size ends
    /// before it.
    let leastHeadRank: Int

    var posts = PostTable()
    var pool = NodePool()
    var scratch = ListScratch()

    init(_ slots: SlotKeys, _ pace: RefreshPace) {
        self.slots = slots
        self.pace = pace
        headRank = max(Self.minimumHeadRank, pace.headPostCount >> Int(slots.stripeBits))
        leastHeadRank = ListWalk.entryCount(
            ofWalk: RankingLimits.maximumPageSize + 1,
            stripeCount: 1 << Int(slots.stripeBits)
        )
    }

    /// The rank of the head boundary of a side list, so that a snapshot ends in its head.
    var sideHeadRank: Int { headRank * RankingLimits.sideHeadFactor }

    /// Whether so many moves change an index at less cost if it is rebuilt than one by one.
    static func rebuilds(_ index: RankedIndex, forMoves count: Int) -> Bool {
        count * 12 > index.count
    }

    /// Moves a key to its new place in an index; nil is no place; O(log n).
    mutating func move(_ old: RankKey?, to new: RankKey?, in index: inout RankedIndex) {
        if let old, let new {
            index.move(old, to: new, &pool, posts)
        } else if let new {
            index.insert(new, &pool, posts)
        } else if let old {
            let wasThere = index.remove(old, &pool, posts)
            precondition(wasThere, "An index has lost a post.")
        }
    }

    /// Merges the keys of the working memory into an index, and drops those of the dropped slots; O(n).
    mutating func rebuild(_ index: inout RankedIndex) {
        scratch.sorter.sort(&scratch.keys, posts)
        index.rebuild(
            dropping: scratch.dropped,
            droppedCount: scratch.droppedSlots.count,
            merging: scratch.keys,
            &pool,
            posts
        )
        scratch.endRebuild()
    }
}

/// The working memory of a refresh, kept between refreshes so that a refresh rarely allocates.
///
/// Between two refreshes no bit of `dropped` is set; the other parts have no meaning.
struct ListScratch: ~Copyable {
    /// The posts that were taken off the stale head and tail, as their records were.
    var posts = Slab<StalePost>()
    var moves = Slab<SideMove>()
    var keys = Slab<RankKey>()
    var sorter = KeySort()
    /// The slots whose old keys a rebuild drops from an index, as a set and one after another.
    private(set) var dropped = SlotSet()
    private(set) var droppedSlots = Slab<UInt32>()

    mutating func beginRebuild(slotLimit: Int) {
        keys.removeAll()
        dropped.reserve(slotLimit)
    }

    mutating func drop(_ slot: UInt32) {
        dropped.insert(slot)
        droppedSlots.append(slot)
    }

    mutating func endRebuild() {
        for place in 0..<droppedSlots.count { dropped.remove(droppedSlots[place]) }
        droppedSlots.removeAll()
    }

    /// Frees the memory that grows with a refresh, where it had many posts.
    mutating func free(afterPosts count: Int = .max) {
        guard count > RankingLimits.refreshMemoryCount else { return }
        posts = Slab()
        moves = Slab()
        keys = Slab()
        droppedSlots = Slab()
        sorter = KeySort()
    }

    /// Groups the posts by feed; each feed's posts keep their order.
    mutating func groupByFeed(_ table: borrowing PostTable) {
        let first = posts[0].feed
        var isMixed = false
        for index in 0..<posts.count where posts[index].feed != first { isMixed = true }
        guard isMixed else { return }
        keys.removeAll()
        for index in 0..<posts.count {
            // A secondary part that ends in a zero byte is no title.
            let feed = UInt64(posts[index].feed.rawValue)
            keys.append(RankKey(primary: feed, secondary: 0, slot: UInt32(index)))
        }
        sorter.sort(&keys, table)
        var grouped = Slab<StalePost>()
        for index in 0..<keys.count { grouped.append(posts[Int(keys[index].slot)]) }
        posts = grouped
    }

    /// Orders the posts by slot, where the search wrapped from the last slot to the first.
    ///
    /// `RefreshJob` searches them by slot.
    mutating func orderBySlot() {
        var first = 1
        while first < posts.count, posts[first - 1].slot < posts[first].slot { first += 1 }
        guard first < posts.count else { return }
        var ordered = Slab<StalePost>()
        for index in 0..<posts.count { ordered.append(posts[(first + index) % posts.count]) }
        posts = ordered
    }

    mutating func takePosts() -> Slab<StalePost> {
        var taken = Slab<StalePost>()
        swap(&posts, &taken)
        return taken
    }
}
