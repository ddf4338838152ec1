/// A refresh of many posts of the stale tail, list by list and step by step between votes.
///
/// The job has no index: `StandingLists` reads the current list, and moves the keys. It passes the
/// lists in the order of feeds and kinds, and the lists of all feeds last. Each of them waits, is
/// split between its index and the job, and is left. The lists before the current one have the new
/// keys of the job's posts, and the lists behind it have the old keys. The records of the posts count
/// as refreshed from the start. Behind the last list the job is idle.
///
/// All old and new keys lie behind the head boundaries, so first pages do not see the job. A deeper
/// read finishes the job first. A post that is deleted, retitled, given another time or moved to
/// the stale head leaves the job (`StandingLists.takeOut`).
package struct RefreshJob: ~Copyable {
    package struct List: Equatable {
        /// The feed of the list; nil for the list of all feeds.
        package var feed: FeedID?
        package var kind: KeyKind
        /// The posts of the list, as a range of places in the job.
        package var places: Range<Int>

        /// Whether the job passes the list of a feed, or of all feeds for nil, before this list.
        func isBehind(_ other: FeedID?, _ otherKind: KeyKind) -> Bool {
            if other == feed { return otherKind.rawValue < kind.rawValue }
            guard let other else { return false }
            return feed.map { other.rawValue < $0.rawValue } ?? true
        }
    }

    package enum Progress {
        /// The list has the new keys.
        case refreshed
        case split
        /// The list has the old keys.
        case waiting
    }

    /// The current list; nil while the job is idle.
    package private(set) var list: List?
    /// The posts as they were when the job began, in the order of feeds, and of slots in a feed.
    private var posts = Slab<StalePost>()
    /// The slots of the posts that have not left.
    private var members = SlotSet()
    private var isSplit = false
    /// The keys that a split list had before, and keys that were inserted since; all of them lie
    /// behind the last key of the list's index.
    private var back = RankedIndex()
    /// The new keys of the posts of a split list, sorted.
    private var keys = Slab<RankKey>()
    /// The place in `keys` of the first key that is not merged.
    private var nextPlace = 0

    package init() {}

    package var isIdle: Bool { list == nil }

    /// The number of posts that the job began with; 0 while it is idle.
    package var postCount: Int { posts.count }

    /// The progress of the job with the list of a feed, or of all feeds for nil.
    package func progress(_ feed: FeedID?, _ kind: KeyKind) -> Progress {
        guard let list else { return .refreshed }
        if list.isBehind(feed, kind) { return .refreshed }
        return isSplit && list.feed == feed && list.kind == kind ? .split : .waiting
    }

    /// Whether a post is in the job and has not left; any slot may be asked for.
    package func hasMember(_ slot: UInt32) -> Bool { members.contains(slot) }

    /// The post of a slot as it was when the job began; nil where it is not in the job or has left; O(log n).
    package func member(_ slot: UInt32, _ feed: FeedID) -> StalePost? {
        guard hasMember(slot) else { return nil }
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
        return low < posts.count && posts[low].slot == slot ? posts[low] : nil
    }

    /// The post at a place of the job as it was when the job began; nil where it has left.
    package func member(at place: Int) -> StalePost? {
        hasMember(posts[place].slot) ? posts[place] : nil
    }

    /// Begins a job with its first list; traps unless the job is idle.
    ///
    /// There is a post at least, and they are in the order of feeds, and of slots in a feed.
    package mutating func begin(_ posts: consuming Slab<StalePost>) {
        precondition(isIdle, "A refresh job begins while one is under way.")
        precondition(posts.count > 0, "A refresh job begins without posts.")
        for place in 0..<posts.count {
            members.reserve(Int(posts[place].slot) + 1)
            members.insert(posts[place].slot)
        }
        self.posts = posts
        list = firstList(from: 0)
    }

    /// Moves to the next list, and ends the job behind the last list.
    ///
    /// Traps while the job is idle, and while keys of a split list are not merged.
    package mutating func leaveList() {
        guard var next = list else {
            preconditionFailure("A list is left while no refresh job is under way.")
        }
        precondition(isMerged, "A list is left before all of its keys are merged.")
        isSplit = false
        if let kind = next.kind.nextStanding {
            next.kind = kind
        } else if next.feed == nil {
            self = RefreshJob()
            return
        } else if next.places.upperBound < posts.count {
            next = firstList(from: next.places.upperBound)
        } else {
            next = List(feed: nil, kind: .top, places: 0..<posts.count)
        }
        list = next
    }

    /// Removes a member; traps where the post is not in the job.
    package mutating func remove(_ slot: UInt32) {
        precondition(hasMember(slot), "A post leaves a refresh job that does not have it.")
        members.remove(slot)
    }

    /// The first list of the feed whose posts begin at a place.
    private func firstList(from place: Int) -> List {
        let feed = posts[place].feed
        var end = place + 1
        while end < posts.count, posts[end].feed == feed { end += 1 }
        return List(feed: feed, kind: .top, places: place..<end)
    }

    // The list that is split: its first keys are in its index, and the others here.

    private var isMerged: Bool { back.count == 0 && nextPlace == keys.count }

    /// Splits the current list, whose keys are the job's from now on; the new keys of its members are sorted.
    ///
    /// Traps unless the list waits.
    package mutating func split(_ index: RankedIndex, merging keys: consuming Slab<RankKey>) {
        precondition(list != nil && !isSplit, "A list is split that does not wait.")
        isSplit = true
        back = index
        self.keys = keys
        nextPlace = 0
    }

    /// Merges leaves of the split list into its index until so many keys are merged, or all; whether all are.
    ///
    /// New keys of posts that have left are left out, and so are old keys of members. Traps unless the
    /// current list is split. O(keys merged).
    package mutating func merge(
        _ limit: Int,
        into index: inout RankedIndex,
        _ pool: inout NodePool,
        _ posts: borrowing PostTable
    ) -> Bool {
        precondition(isSplit, "Keys of a list are merged before the list is split.")
        members.reserve(posts.slotLimit)
        var appender = LeafAppender()
        var next = nextPlace
        let countBefore = index.count
        while index.count - countBefore < limit {
            let leaf = back.takeFirstLeaf(&pool)
            guard leaf != .none else { break }
            if list?.kind.followsVotes == true { _ = pool.compact(leaf, dropping: members) }
            appender.append(leaf, merging: keys, from: &next, to: &index, &pool, posts) { key in
                members.bit(key.slot) == 1
            }
        }
        while back.count == 0, next < keys.count {
            let key = keys[next]
            if members.bit(key.slot) == 1 { appender.append(key, to: &index, &pool) }
            next += 1
        }
        nextPlace = next
        appender.finish(&index, &pool)
        return isMerged
    }

    /// Inserts a key behind the merged part of the split list; traps unless the list is split.
    package mutating func insertBehindMerged(
        _ key: RankKey,
        _ pool: inout NodePool,
        _ posts: borrowing PostTable
    ) {
        precondition(isSplit, "A key is inserted behind a list that is not split.")
        back.insert(key, &pool, posts)
    }

    /// Removes a key behind the merged part of the split list; returns whether it was there.
    ///
    /// Traps unless the list is split.
    package mutating func removeBehindMerged(
        _ key: RankKey,
        _ pool: inout NodePool,
        _ posts: borrowing PostTable
    ) -> Bool {
        precondition(isSplit, "A key is removed behind a list that is not split.")
        return back.remove(key, &pool, posts)
    }

    /// Traps where an invariant of the keys that are not merged does not hold; O(n).
    func checkInvariants(_ pool: borrowing NodePool, _ posts: borrowing PostTable) {
        if isSplit { back.checkInvariants(pool, posts) }
    }
}
