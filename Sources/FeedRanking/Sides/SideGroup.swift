/// The side lists of a feed, or of all feeds, in a stripe.
final class SideGroup {
    /// The posts of the group.
    private(set) var members: SideMembers
    /// The lists that readers have asked for.
    private(set) var lists: [SideList] = []
    /// The posts of each window that a list needs, by the window's number.
    private var queues: [UInt8: Queue] = [:]
    /// Working memory: the members that have been voted on.
    private var voted = Slab<UInt32>()

    /// A window's queue, as a reference.
    private final class Queue {
        var posts: WindowQueue
        /// The era of the clock in which the queue was made.
        let era: UInt64

        init(_ span: WindowSpan) {
            posts = WindowQueue(start: span.start)
            era = span.era
        }
    }

    /// A group without lists and members.
    init(_ feed: FeedID?) {
        members = SideMembers(feed)
    }

    /// Whether a vote moves posts in one of the lists.
    var followsVotes: Bool { lists.contains { $0.keys.kind.followsVotes } }

    /// Takes a post in; O(lists).
    func append(_ slot: UInt32, _ createTimeMilliseconds: Int64) -> UInt32 {
        let member = members.append(slot)
        for list in lists {
            list.keys.reserve(members.limit)
        }
        noteChange(member, createTimeMilliseconds)
        return member
    }

    /// Notes in all lists that a post is there, or is there again with another title or time.
    func noteChange(_ member: UInt32, _ createTimeMilliseconds: Int64) {
        for list in lists { list.keys.noteChange(member) }
        for queue in queues.values {
            queue.posts.remove(member)
            queue.posts.add(member, createTimeMilliseconds)
        }
    }

    /// Notes another number of comments; O(lists).
    func noteComments(_ member: UInt32) {
        for list in lists where list.keys.kind == .discussed { list.keys.noteChange(member) }
    }

    /// Collects a member that has been voted on, until `noteVotes`; O(1).
    @inline(__always)
    func collectVoted(_ member: UInt32) {
        voted.append(member)
    }

    /// Notes the collected members in the lists that votes move; O(members * lists).
    func noteVotes() {
        for list in lists where list.keys.kind.followsVotes {
            list.keys.noteChanges(voted)
        }
        voted.removeAll()
    }

    /// Takes a post out of all lists, before its title or time changes or it is deleted.
    ///
    /// O(log n) a list.
    func takeOut(
        _ member: UInt32,
        _ slot: UInt32,
        _ pool: inout NodePool,
        _ posts: borrowing PostTable
    ) {
        let record = posts[slot]
        for list in lists { list.keys.takeOut(member, slot, record, &pool, posts) }
        for queue in queues.values { queue.posts.remove(member) }
    }

    /// The list that is asked for; nil where no reader has asked for it yet.
    func list(_ list: ListID) -> SideList? {
        lists.first { $0.isList(list) }
    }

    /// The number of posts in a window that has a list.
    func count(_ window: Window) -> Int {
        queues[window.rawValue]?.posts.count ?? 0
    }

    /// Makes a list whose posts are all fresh, and the queue of its window; O(members).
    func addList(_ id: ListID, _ posts: borrowing PostTable) -> SideList {
        let list = SideList(id)
        list.keys.reserve(members.limit)
        var queue: Queue?
        if let span = id.span, queues[span.window.rawValue] == nil {
            queue = Queue(span)
            queues[span.window.rawValue] = queue
        }
        for member in 0..<UInt32(members.limit) where posts.contains(members.slot(member)) {
            list.keys.noteChange(member)
            queue?.posts.add(member, posts[members.slot(member)].createTimeMilliseconds)
        }
        lists.append(list)
        return list
    }

    /// Lets the posts leave that are in a window no more; returns the window as the lists have it.
    ///
    /// Where the clock has gone back, the window's lists are dropped, since posts may be within it
    /// again.
    func expire(_ span: WindowSpan, _ pool: inout NodePool) -> WindowSpan {
        guard let queue = queues[span.window.rawValue] else { return span }
        if queue.era < span.era {
            dropLists(&pool) { $0.window == span.window }
            return span
        }
        queue.posts.expire(to: span.start) { member in
            for list in lists where list.window == span.window { list.keys.noteChange(member) }
        }
        var expired = span
        expired.start = queue.posts.start
        return expired
    }

    /// Drops lists, and the queues that no list needs then; O(n) a list.
    func dropLists(_ pool: inout NodePool, where isDropped: (SideList) -> Bool) {
        for list in lists where isDropped(list) { list.keys.index.removeAll(&pool) }
        lists.removeAll(where: isDropped)
        queues = queues.filter { window, _ in lists.contains { $0.window?.rawValue == window } }
    }

    /// Calls the body with each list and its window as the queue has it.
    func forEachList(_ body: (SideList, ListID) -> Void) {
        for list in lists {
            var id = ListID(feed: members.feed, kind: list.keys.kind)
            if let window = list.window, let queue = queues[window.rawValue] {
                let end = queue.posts.start + window.milliseconds
                id.span = WindowSpan(window, endingAt: end, queue.era)
            }
            body(list, id)
        }
    }
}
