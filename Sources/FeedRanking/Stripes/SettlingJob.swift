/// The settling of many far posts, done list by list and step by step while votes go on.
///
/// Its posts count as settled in their records from the start. Of the lists, in the order of feeds
/// and kinds with the lists of all feeds last, those before `(feedNumber, kind)` have the new keys
/// of the job's posts and those behind it the old ones. The list there may be split: then its index
/// has the keys that are merged, `back` those that are not, all behind, and `keys` from `nextKey`
/// on are the new ones to come, behind the index's last. Because all old and new keys lie behind
/// the floors, first pages see nothing of it; whoever reads deeper finishes the job first. A post
/// that is deleted, retitled, given another time or becomes near leaves the job (`Stripe.takeOut`).
struct SettlingJob: ~Copyable {
    /// Stands for the lists over all feeds, behind every feed.
    static let frontNumber = Int.max

    /// Whether there is something left to do.
    var isActive = false
    /// The job's posts by feed, and by slot in a feed; some may have left.
    var posts = Slab<DirtyPost>()
    /// The posts that have not left.
    var members = SlotSet()
    /// The posts of the list that is worked on.
    var range = 0..<0
    /// The feed of that list.
    var feedNumber = 0
    /// What that list is sorted by.
    var kind = IndexKind.top
    /// Whether that list is split.
    var isSplit = false
    /// Its new keys, sorted.
    var keys = Slab<RankKey>()
    /// The first of them that is not merged.
    var nextKey = 0
    /// The keys it had and that are not merged.
    var back = RankedIndex()
    /// Where the search for the next job's posts begins, so that each gets its turn.
    var nextSlot = 0

    /// How far the job is with a list.
    enum Stage {
        case settled
        case split
        case waiting
    }

    /// How far the job is with the list of a feed, or of all for nil.
    func stage(_ feed: FeedID?, _ kind: IndexKind) -> Stage {
        guard isActive else { return .settled }
        let number = feed.map { Int($0.rawValue) } ?? Self.frontNumber
        if number != feedNumber { return number < feedNumber ? .settled : .waiting }
        if kind != self.kind { return kind.rawValue < self.kind.rawValue ? .settled : .waiting }
        return isSplit ? .split : .waiting
    }

    /// The post of a slot as it was when the job began; O(log n).
    func post(_ slot: UInt32, _ feed: FeedID) -> DirtyPost? {
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

    /// Goes on to the next list; ends the job behind the last.
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

    /// Begins with the lists of the feed whose posts begin at a place.
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
