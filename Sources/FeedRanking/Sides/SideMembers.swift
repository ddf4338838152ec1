/// The members of a side group: the posts of a feed, or all posts of the stripe, by number.
///
/// A feed's posts are numbered in the order in which they joined, so its lists take memory for its
/// own posts only. In the group of all feeds a post's number is its slot.
struct SideMembers: ~Copyable {
    /// The feed; nil is all feeds.
    let feed: FeedID?
    /// The slots of a feed's members; empty for all feeds.
    private var slots = Slab<UInt32>()
    /// No member has this number or a higher one.
    private(set) var limit = 0

    /// No members.
    init(_ feed: FeedID?) {
        self.feed = feed
    }

    /// The slot of a member.
    @inline(__always)
    func slot(_ member: UInt32) -> UInt32 {
        feed == nil ? member : slots[Int(member)]
    }

    /// Takes a post in, and returns its number; O(1).
    mutating func append(_ slot: UInt32) -> UInt32 {
        guard feed != nil else {
            limit = max(limit, Int(slot) + 1)
            return slot
        }
        slots.append(slot)
        limit = slots.count
        return UInt32(limit - 1)
    }
}
