/// The side lists of a stripe: the lists of all orders and windows that `StripeOrders` has no index
/// of.
///
/// A list exists from its first read on. A vote then puts its post into `touched`, once until the
/// next read of a side list. That read notes the touched posts in all lists, and refreshes the list
/// that it reads. Without side lists a vote only looks at `followsVotes`.
struct SideLists: ~Copyable {
    /// Whether there is a list in which a vote moves its post.
    private(set) var followsVotes = false
    /// The posts that were voted on since a side list was read; some may have been deleted since.
    private var touched = Slab<UInt32>()
    /// The groups by feed; all feeds are `nil`.
    private var groups: [FeedID?: SideGroup] = [:]
    /// The number that each slot's post has in the group of its feed, where there is one.
    private var numbers = Slab<UInt32>()

    /// The nodes of all indexes.
    var pool = NodePool()
    /// The working memory of a refresh.
    var scratch = SideScratch()

    /// No lists.
    init() {}

    /// Whether no list exists.
    var isEmpty: Bool { groups.isEmpty }

    /// Notes a vote on a post; O(1).
    @inline(__always)
    mutating func touch(_ slot: UInt32, _ record: inout PostRecord) {
        guard followsVotes, !record.flags.contains(.isTouched) else { return }
        record.flags.insert(.isTouched)
        touched.append(slot)
    }

    /// Takes in a new post; O(lists).
    mutating func add(_ slot: UInt32, _ record: PostRecord) {
        guard !isEmpty else { return }
        _ = groups[nil]?.append(slot, record.createTimeMilliseconds)
        guard let group = groups[record.feed] else { return }
        setNumber(group.append(slot, record.createTimeMilliseconds), slot)
    }

    /// Takes a post out of all lists before it is deleted or changes its title or time; O(log n) a
    /// list.
    mutating func takeOut(_ slot: UInt32, _ posts: borrowing PostTable) {
        guard !isEmpty else { return }
        groups[nil]?.takeOut(slot, slot, &pool, posts)
        let feed = posts[slot].feed
        guard let group = groups[feed] else { return }
        group.takeOut(numbers[Int(slot)], slot, &pool, posts)
    }

    /// Notes that a post that was taken out is back; O(lists).
    mutating func putBack(_ slot: UInt32, _ record: PostRecord) {
        guard !isEmpty else { return }
        groups[nil]?.noteChange(slot, record.createTimeMilliseconds)
        guard let group = groups[record.feed] else { return }
        group.noteChange(numbers[Int(slot)], record.createTimeMilliseconds)
    }

    /// Notes another number of comments; O(lists).
    mutating func noteComments(_ slot: UInt32, _ feed: FeedID) {
        guard !isEmpty else { return }
        groups[nil]?.noteComments(slot)
        guard let group = groups[feed] else { return }
        group.noteComments(numbers[Int(slot)])
    }

    /// The group of a feed, with all of its posts in it; O(posts) where it is new.
    mutating func group(_ feed: FeedID?, _ posts: borrowing PostTable) -> SideGroup {
        if let group = groups[feed] { return group }
        let group = SideGroup(feed)
        var next = posts.nextSlot(from: 0)
        while let found = next {
            let slot = UInt32(found)
            if posts.contains(slot), feed == nil || posts[slot].feed == feed {
                let number = group.append(slot, posts[slot].createTimeMilliseconds)
                if feed != nil { setNumber(number, slot) }
            }
            next = posts.nextSlot(from: found + 1)
        }
        groups[feed] = group
        return group
    }

    /// Notes the posts that were voted on in the lists that votes move; O(touched * lists).
    mutating func noteVotes(_ posts: inout PostTable) {
        let front = groups[nil]
        for place in 0..<touched.count {
            let slot = touched[place]
            guard posts.contains(slot) else { continue }
            posts[slot].flags.remove(.isTouched)
            front?.collectVoted(slot)
            groups[posts[slot].feed]?.collectVoted(numbers[Int(slot)])
        }
        touched.removeAll()
        for group in groups.values { group.noteVotes() }
    }

    /// Learns whether there are lists that follow votes, after a list was added or dropped.
    mutating func countLists(_ posts: inout PostTable) {
        groups = groups.filter { !$0.value.lists.isEmpty }
        followsVotes = groups.values.contains { $0.followsVotes }
        if !followsVotes { noteVotes(&posts) }
    }

    /// Drops the lists that were not read for long, as of a time; O(lists).
    mutating func dropIdleLists(at time: Int64, _ posts: inout PostTable) {
        let oldest = time - RankingLimits.sideListIdleTime
        var isAnyIdle = false
        for group in groups.values where group.lists.contains(where: { $0.readTime < oldest }) {
            group.dropLists(&pool) { $0.readTime < oldest }
            isAnyIdle = true
        }
        if isAnyIdle { countLists(&posts) }
    }

    /// The list that is asked for; nil where no reader has asked for it yet.
    func existingList(_ list: ListID) -> SideList? { groups[list.feed]?.list(list) }

    /// Traps where an invariant of a list does not hold; O(n log n) a list.
    ///
    /// The lists do not know of touched posts yet, so they are checked where there are none.
    func checkInvariants(_ slots: SlotKeys, _ posts: borrowing PostTable) {
        for place in 0..<touched.count where posts.contains(touched[place]) {
            let isMarked = posts[touched[place]].flags.contains(.isTouched)
            precondition(isMarked, "A touched post lacks its flag.")
        }
        guard touched.count == 0 else { return }
        for group in groups.values {
            group.forEachList { list, id in
                list.keys.checkInvariants(id, group.members, slots, pool, posts)
            }
        }
    }

    private mutating func setNumber(_ number: UInt32, _ slot: UInt32) {
        numbers.extend(to: Int(slot) + 1, with: 0)
        numbers[Int(slot)] = number
    }
}
