/// A refresh of many posts of the stale tail, list by list and step by step between votes.
///
/// The job is a state machine. It has no index: `StripeOrders` reads the current list, and moves
/// the keys.
///
/// ```
/// idle ──begin──► waiting ──split──► merging
///                    ▲                  │
///                    └────leaveList─────┘      behind the last list: idle
/// ```
///
/// The records of the job's posts count as refreshed from the start. The job passes the lists in
/// the order of feeds and kinds, and the lists of all feeds last. The lists before the current list
/// have the new keys of the job's posts, and the lists behind it have the old keys.
///
/// All old and new keys lie behind the head boundaries, so first pages do not see the job. A deeper
/// read finishes the job first. A post that is deleted, retitled, given another time or moved to
/// the stale head leaves the job (`StripeOrders.takeOut`).
package enum RefreshJob: ~Copyable {
    /// No refresh in steps is under way.
    case idle
    /// The current list has the old keys of the members.
    case waiting(Waiting)
    /// The current list is split between its index and the merge.
    case merging(Merging)

    /// A job whose current list has the old keys of its members.
    package struct Waiting: ~Copyable {
        var members: Members
        var list: List
    }

    /// A job whose current list is split.
    package struct Merging: ~Copyable {
        var members: Members
        var list: List
        var merge: ListMerge
    }

    /// The posts of a job; some may have left.
    package struct Members: ~Copyable {
        /// The posts as they were when the job began, in the order of feeds, and of slots in a feed.
        let posts: Slab<StalePost>
        /// The slots of the posts that have not left.
        var slots = SlotSet()
    }

    /// One of the lists that a job passes.
    package struct List: Equatable {
        /// The feed of the list; nil for the list of all feeds.
        package var feed: FeedID?
        /// The order of the list.
        package var kind: IndexKind
        /// The posts of the list, as a range of places in the job.
        package var places: Range<Int>
    }

    /// The progress of a job with a list.
    package enum Progress {
        /// The list has the new keys.
        case refreshed
        /// The list is split.
        case split
        /// The list has the old keys.
        case waiting
    }
}

extension RefreshJob {
    /// Whether no refresh in steps is under way.
    package var isIdle: Bool {
        @inline(__always) get {
            switch self {
            case .idle: true
            case .waiting: false
            case .merging: false
            }
        }
    }

    /// The number of posts that the job began with; 0 while it is idle.
    package var postCount: Int {
        switch self {
        case .idle: 0
        case .waiting(let state): state.members.posts.count
        case .merging(let state): state.members.posts.count
        }
    }

    /// The current list; nil while the job is idle.
    package var list: List? {
        switch self {
        case .idle: nil
        case .waiting(let state): state.list
        case .merging(let state): state.list
        }
    }

    /// The progress of the job with the list of a feed, or of all feeds for nil.
    package func progress(_ feed: FeedID?, _ kind: IndexKind) -> Progress {
        switch self {
        case .idle: .refreshed
        case .waiting(let state): state.list.isBehind(feed, kind) ? .refreshed : .waiting
        case .merging(let state):
            if state.list.feed == feed && state.list.kind == kind {
                .split
            } else {
                state.list.isBehind(feed, kind) ? .refreshed : .waiting
            }
        }
    }

    /// Whether a post is in the job and has not left; any slot may be asked for.
    package func hasMember(_ slot: UInt32) -> Bool {
        switch self {
        case .idle: false
        case .waiting(let state): state.members.slots.contains(slot)
        case .merging(let state): state.members.slots.contains(slot)
        }
    }

    /// The post of a slot as it was when the job began; nil where it is not in the job or has left.
    ///
    /// O(log n).
    package func member(_ slot: UInt32, _ feed: FeedID) -> StalePost? {
        switch self {
        case .idle: nil
        case .waiting(let state): state.members.post(slot, feed)
        case .merging(let state): state.members.post(slot, feed)
        }
    }

    /// The post at a place of the job as it was when the job began; nil where it has left.
    package func member(at place: Int) -> StalePost? {
        switch self {
        case .idle: nil
        case .waiting(let state): state.members.post(at: place)
        case .merging(let state): state.members.post(at: place)
        }
    }
}

extension RefreshJob {
    /// Traps where an invariant of the keys that are not merged does not hold; O(n).
    func checkInvariants(_ pool: borrowing NodePool, _ posts: borrowing PostTable) {
        switch self {
        case .idle: break
        case .waiting: break
        case .merging(let state): state.merge.back.checkInvariants(pool, posts)
        }
    }
}

extension RefreshJob.List {
    /// Whether the job passes the list of a feed, or of all feeds for nil, before this list.
    fileprivate func isBehind(_ other: FeedID?, _ otherKind: IndexKind) -> Bool {
        if other == feed { return otherKind.rawValue < kind.rawValue }
        guard let other else { return false }
        return feed.map { other.rawValue < $0.rawValue } ?? true
    }
}

extension RefreshJob.Members {
    /// All of some posts, which are in the order of feeds, and of slots in a feed.
    init(_ posts: consuming Slab<StalePost>) {
        var slots = SlotSet()
        for place in 0..<posts.count {
            slots.reserve(Int(posts[place].slot) + 1)
            slots.insert(posts[place].slot)
        }
        self.posts = posts
        self.slots = slots
    }

    /// The first list of the feed whose posts begin at a place.
    func firstList(from place: Int) -> RefreshJob.List {
        let feed = posts[place].feed
        var end = place + 1
        while end < posts.count, posts[end].feed == feed { end += 1 }
        return RefreshJob.List(feed: feed, kind: .top, places: place..<end)
    }

    /// The post at a place; nil where it has left.
    fileprivate func post(at place: Int) -> StalePost? {
        slots.contains(posts[place].slot) ? posts[place] : nil
    }

    /// The post of a slot; nil where it is not in the job or has left.
    fileprivate func post(_ slot: UInt32, _ feed: FeedID) -> StalePost? {
        guard slots.contains(slot) else { return nil }
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
}
