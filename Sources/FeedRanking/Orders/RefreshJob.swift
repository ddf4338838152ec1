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
package struct RefreshJob: ~Copyable {
    /// Whether no refresh in steps is under way.
    ///
    /// It is stored beside the state, because each vote reads it: Swift 6.3 copies the whole of an
    /// enum without copies to read its case.
    package private(set) var isIdle = true

    /// The state of the job; only transitions change it.
    private(set) var state = State.idle

    /// A job that is idle.
    package init() {}

    /// The states, each with its data.
    enum State: ~Copyable {
        /// No refresh in steps is under way.
        case idle
        /// The current list has the old keys of the members.
        case waiting(Waiting)
        /// The current list is split between its index and the merge.
        case merging(Merging)
    }

    /// A job whose current list has the old keys of its members.
    struct Waiting: ~Copyable {
        var members: Members
        var list: List
    }

    /// A job whose current list is split.
    struct Merging: ~Copyable {
        var members: Members
        var list: List
        var merge: ListMerge
    }

    /// The posts of a job; some may have left.
    struct Members: ~Copyable {
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
    /// Ends the state and returns it; the caller sets the next one.
    mutating func takeState() -> State {
        var taken = State.idle
        swap(&taken, &state)
        return taken
    }

    /// Begins a state.
    mutating func enter(_ next: consuming State) {
        state = next
        switch state {
        case .idle: isIdle = true
        case .waiting: isIdle = false
        case .merging: isIdle = false
        }
    }

    /// The number of posts that the job began with; 0 while it is idle.
    package var postCount: Int {
        switch state {
        case .idle: 0
        case .waiting(let waiting): waiting.members.posts.count
        case .merging(let merging): merging.members.posts.count
        }
    }

    /// The current list; nil while the job is idle.
    package var list: List? {
        switch state {
        case .idle: nil
        case .waiting(let waiting): waiting.list
        case .merging(let merging): merging.list
        }
    }

    /// The progress of the job with the list of a feed, or of all feeds for nil.
    package func progress(_ feed: FeedID?, _ kind: IndexKind) -> Progress {
        if isIdle { return .refreshed }
        return switch state {
        case .idle: .refreshed
        case .waiting(let waiting): waiting.list.isBehind(feed, kind) ? .refreshed : .waiting
        case .merging(let merging):
            if merging.list.feed == feed && merging.list.kind == kind {
                .split
            } else {
                merging.list.isBehind(feed, kind) ? .refreshed : .waiting
            }
        }
    }

    /// Whether a post is in the job and has not left; any slot may be asked for.
    package func hasMember(_ slot: UInt32) -> Bool {
        if isIdle { return false }
        return switch state {
        case .idle: false
        case .waiting(let waiting): waiting.members.slots.contains(slot)
        case .merging(let merging): merging.members.slots.contains(slot)
        }
    }

    /// The post of a slot as it was when the job began; nil where it is not in the job or has left.
    ///
    /// O(log n).
    package func member(_ slot: UInt32, _ feed: FeedID) -> StalePost? {
        if isIdle { return nil }
        return switch state {
        case .idle: nil
        case .waiting(let waiting): waiting.members.post(slot, feed)
        case .merging(let merging): merging.members.post(slot, feed)
        }
    }

    /// Calls the body with each member at some places of the job; O(places).
    package func forEachMember(_ places: Range<Int>, _ body: (StalePost) -> Void) {
        switch state {
        case .idle: break
        case .waiting(let waiting): waiting.members.forEachPost(places, body)
        case .merging(let merging): merging.members.forEachPost(places, body)
        }
    }

    /// The post at a place of the job as it was when the job began; nil where it has left.
    package func member(at place: Int) -> StalePost? {
        switch state {
        case .idle: nil
        case .waiting(let waiting): waiting.members.post(at: place)
        case .merging(let merging): merging.members.post(at: place)
        }
    }
}

extension RefreshJob {
    /// Traps where an invariant of the keys that are not merged does not hold; O(n).
    func checkInvariants(_ pool: borrowing NodePool, _ posts: borrowing PostTable) {
        switch state {
        case .idle: break
        case .waiting: break
        case .merging(let merging): merging.merge.back.checkInvariants(pool, posts)
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

    /// Calls the body with each post at some places that has not left.
    fileprivate func forEachPost(_ places: Range<Int>, _ body: (StalePost) -> Void) {
        for place in places where slots.bit(posts[place].slot) == 1 { body(posts[place]) }
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
