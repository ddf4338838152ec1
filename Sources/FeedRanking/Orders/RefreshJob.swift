/// A refresh of many posts of the stale tail, list by list and step by step between votes.
///
/// The records of its posts count as refreshed from the start. The job passes the lists in the
/// order of feeds and kinds, and the lists of all feeds last. The lists before `(feedNumber, kind)`
/// have the new keys of the job's posts, and the lists behind it have the old keys. The list at
/// `(feedNumber, kind)` may be split. Then its index has the keys that are merged. `back` has the
/// keys that are not merged, which all lie behind the index. `keys` from `nextKey` on has the new
/// keys to come, which lie behind the index's last key.
///
/// All old and new keys lie behind the head boundaries, so first pages do not see the job. A deeper
/// read finishes the job first. A post that is deleted, retitled, given another time or moved to
/// the stale head leaves the job (`StripeOrders.takeOut`).
struct RefreshJob: ~Copyable {
    /// The number that stands for the lists over all feeds, behind every feed.
    static let frontNumber = Int.max

    /// Whether work is left.
    var isActive = false
    /// The job's posts in the order of feeds, and of slots in a feed; some may have left.
    var posts = Slab<StalePost>()
    /// The posts that have not left the job.
    var members = SlotSet()
    /// The posts of the current list, as a range of `posts`.
    var range = 0..<0
    /// The feed of the current list.
    var feedNumber = 0
    /// The order of the current list.
    var kind = IndexKind.top
    /// Whether the current list is split.
    var isSplit = false
    /// The new keys of the current list, sorted.
    var keys = Slab<RankKey>()
    /// The place in `keys` of the first key that is not merged.
    var nextKey = 0
    /// The keys of the split index that are not merged.
    var back = RankedIndex()
    /// The slot at which the search for the next job's posts begins, so that each post gets its
    /// turn.
    var nextSlot = 0

    /// The progress of the job with a list.
    enum Stage {
        case refreshed
        case split
        case waiting
    }

    /// The progress of the job with the list of a feed, or of all feeds for nil.
    func stage(_ feed: FeedID?, _ kind: IndexKind) -> Stage {
        guard isActive else { return .refreshed }
        let number = feed.map { Int($0.rawValue) } ?? Self.frontNumber
        if number != feedNumber { return number < feedNumber ? .refreshed : .waiting }
        if kind != self.kind { return kind.rawValue < self.kind.rawValue ? .refreshed : .waiting }
        return isSplit ? .split : .waiting
    }

    /// The post of a slot as it was when the job began; O(log n).
    func post(_ slot: UInt32, _ feed: FeedID) -> StalePost? {
        var low = 0
        var high = posts.count
        while low < high {
            let middle = (low + high) / 2
            let post = posts[middle]
            if (post.feed.rawValue, post.slot) < (feed.rawValue, slot) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        guard low < posts.count, posts[low].slot == slot, members.bit(slot) == 1 else { return nil }
        return posts[low]
    }

    /// Moves to the next list; ends the job behind the last list.
    mutating func advance() {
        isSplit = false
        keys.removeLast()
        if let next = IndexKind(rawValue: kind.rawValue + 1) {
            kind = next
            return
        }
        kind = .top
        if feedNumber == Self.frontNumber {
            isActive = false
        } else if range.upperBound < posts.count {
            start(at: range.upperBound)
        } else {
            range = 0..<posts.count
            feedNumber = Self.frontNumber
        }
    }

    /// Begins with the lists of the feed whose posts begin at a place of `posts`.
    mutating func start(at place: Int) {
        let feed = posts[place].feed
        var end = place + 1
        while end < posts.count, posts[end].feed == feed {
            end += 1
        }
        range = place..<end
        feedNumber = Int(feed.rawValue)
    }
}
