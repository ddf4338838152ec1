/// The working memory of a refresh, kept between refreshes so that a refresh rarely allocates.
///
/// Between two calls of `StripeOrders` no bit of `dropped` is set; the other parts have no meaning.
struct RefreshScratch: ~Copyable {
    /// The posts that were taken off the stale head and tail, as their records were.
    var posts = Slab<StalePost>()
    /// The new keys of an index.
    var keys = Slab<RankKey>()
    /// The working memory of the sort of `keys`.
    var sorter = KeySort()
    /// The slots whose old keys a rebuild drops from an index.
    var dropped = SlotSet()

    /// Frees the memory that grows with the posts of a refresh.
    mutating func free() {
        posts = Slab()
        keys = Slab()
        sorter = KeySort()
    }

    /// Groups the posts by feed; each feed's posts keep their order.
    mutating func groupByFeed(_ table: borrowing PostTable) {
        let first = posts[0].feed
        var isMixed = false
        for index in 0..<posts.count where posts[index].feed != first {
            isMixed = true
        }
        guard isMixed else { return }
        keys.removeAll()
        for index in 0..<posts.count {
            // A secondary part that ends in a zero byte is no title.
            let feed = UInt64(posts[index].feed.rawValue)
            keys.append(RankKey(primary: feed, secondary: 0, slot: UInt32(index)))
        }
        sorter.sort(&keys, table)
        var grouped = Slab<StalePost>()
        for index in 0..<keys.count {
            grouped.append(posts[Int(keys[index].slot)])
        }
        swap(&posts, &grouped)
    }

    /// Orders the posts by slot, where the search wrapped from the last slot to the first.
    ///
    /// `RefreshJob` searches them by slot.
    mutating func orderBySlot() {
        var first = 1
        while first < posts.count, posts[first - 1].slot < posts[first].slot {
            first += 1
        }
        guard first < posts.count else { return }
        var ordered = Slab<StalePost>()
        for index in 0..<posts.count {
            ordered.append(posts[(first + index) % posts.count])
        }
        swap(&posts, &ordered)
    }

    /// Takes the posts out, and leaves none.
    mutating func takePosts() -> Slab<StalePost> {
        var taken = Slab<StalePost>()
        swap(&posts, &taken)
        return taken
    }
}
