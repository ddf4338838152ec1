/// The side lists of a feed, or of all feeds, in a stripe.
///
/// A new group takes in the posts of its feed by steps: those with slots below `joinedLimit` are
/// members.
final class SideGroup {
    /// The posts of the group.
    private(set) var members: SideMembers
    /// The lists that readers have asked for.
    private(set) var lists: [SideList] = []
    /// The posts of each window that has a list.
    private var queues: [SideQueue] = []
    /// All posts with slots below are members; later ones join when it is behind all slots.
    private var joinedLimit = 0
    /// The votes since a side list of the stripe was read.
    private var votes = SideVotes()

    /// A group without lists and members.
    init(_ feed: FeedID?) { members = SideMembers(feed) }

    /// Whether a vote moves posts in one of the lists.
    var followsVotes: Bool { lists.contains { $0.keys.kind.followsVotes } }

    /// Whether a post of the feed in a slot is a member, and not left to `join`.
    @inline(__always)
    func hasJoined(_ slot: UInt32) -> Bool { Int(slot) < joinedLimit }

    /// Whether all posts are members.
    var isWhole: Bool { joinedLimit == .max }

    /// Takes a post in; O(lists).
    func append(_ slot: UInt32, _ createTimeMilliseconds: Int64) -> UInt32 {
        let member = members.append(slot)
        votes.reserve(members.limit)
        for list in lists {
            list.keys.reserve(members.limit)
            list.keys.noteChange(member)
        }
        for queue in queues { queue.posts.noteChange(member, createTimeMilliseconds) }
        return member
    }

    /// Notes in all lists that a post is there again with another title or time.
    func noteChange(_ member: UInt32, _ createTimeMilliseconds: Int64) {
        for list in lists { list.keys.noteChange(member) }
        for queue in queues { queue.posts.noteChange(member, createTimeMilliseconds) }
    }

    /// Notes another number of comments; O(lists).
    func noteComments(_ member: UInt32) {
        for list in lists where list.keys.kind == .discussed { list.keys.noteChange(member) }
    }

    /// Takes a post out of all lists, before its title or time changes or it is deleted.
    ///
    /// O(log n) a list.
    func takeOut(_ member: UInt32, at slot: UInt32, _ pass: inout ListPass) {
        for list in lists { list.keys.takeOut(member, at: slot, &pass) }
        for queue in queues { queue.posts.remove(member) }
    }

    /// The list that is asked for; nil where no reader has asked for it yet.
    func list(_ list: ListID) -> SideList? { lists.first { $0.isList(list) } }

    /// Makes a list whose posts are all fresh, and the queue of its window; O(members / 64).
    func addList(_ id: ListID) -> SideList {
        let list = SideList(id, id.span.map { queue(of: $0) })
        list.keys.reserve(members.limit)
        list.keys.noteAll(below: members.limit)
        lists.append(list)
        return list
    }

    /// The queue of a window, which is made where it is not there.
    private func queue(of span: WindowSpan) -> SideQueue {
        let known = queues.first { $0.posts.span.window == span.window }
        if let known { return known }
        let queue = SideQueue(span)
        queues.append(queue)
        return queue
    }

    /// Takes in posts that are not members yet, as many as a step allows.
    ///
    /// - Parameters:
    ///   - allowance: What may still be done.
    ///   - posts: The posts of the stripe.
    ///   - didAppend: Called with each post that became a member, and its number.
    func join(
        _ allowance: inout RefreshAllowance,
        _ posts: borrowing PostTable,
        didAppend: (_ slot: UInt32, _ member: UInt32) -> Void
    ) {
        while joinedLimit < .max {
            guard let found = posts.nextSlot(from: joinedLimit) else {
                joinedLimit = .max
                break
            }
            guard allowance.take(1) == 1 else { return }
            let slot = UInt32(found)
            joinedLimit = found + 1
            guard posts.contains(slot), members.feed == nil || posts[slot].feed == members.feed
            else { continue }
            didAppend(slot, append(slot, posts[slot].createTimeMilliseconds))
        }
    }

    /// Drops the lists of a window after the clock has gone back: posts may be within it again.
    func dropLists(ofEraBefore span: WindowSpan, _ pass: inout ListPass) {
        let isEarlier = queues.contains {
            $0.posts.span.window == span.window && $0.posts.span.era < span.era
        }
        if isEarlier { dropLists(&pass) { $0.window == span.window } }
    }

    /// Lets posts leave that are in a list's window no more, as many as a step allows.
    func expire(
        _ list: SideList,
        to span: WindowSpan,
        _ allowance: inout RefreshAllowance,
        _ pass: inout ListPass
    ) {
        guard let queue = list.queue else { return }
        queue.posts.fill(members, &allowance, pass.posts)
        guard !allowance.isCut else { return }
        queue.posts.expire(to: span.start, &allowance) { member in
            for list in lists where list.queue === queue { list.keys.noteChange(member) }
        }
    }

    /// Drops lists, and the queues that no list needs then; O(n) a list.
    func dropLists(_ pass: inout ListPass, where isDropped: (SideList) -> Bool) {
        for list in lists where isDropped(list) { list.keys.index.removeAll(&pass.pool) }
        lists.removeAll(where: isDropped)
        queues.removeAll { queue in !lists.contains { $0.queue === queue } }
    }

    /// Traps where an invariant of a list does not hold; O(n log n) a list.
    func checkInvariants(_ pass: borrowing ListPass) {
        for list in lists {
            var id = ListID(feed: members.feed, kind: list.keys.kind)
            id.span = list.queue?.posts.span
            list.keys.checkInvariants(id, members, behind: votes.behind, pass)
        }
    }
}

/// Votes.
extension SideGroup {
    /// Prepares for the votes that are to be noted; O(lists).
    func beginVotes() {
        votes.filter.removeAll()
        votes.heads.removeAll()
        for kind in KeyKind.allCases where kind.followsVotes {
            for (place, list) in lists.enumerated() where list.keys.kind == kind {
                votes.filter.add(list.keys, list.window, start: list.start)
                votes.heads.append(
                    SideVotes.Head(
                        kind: kind,
                        list: place,
                        start: list.start,
                        boundary: list.keys.index.headBoundary
                    )
                )
            }
        }
        votes.filter.finish()
    }

    /// Notes that a member was voted on since a side list was read; O(1), and O(lists) where it may
    /// come into a head.
    @inline(__always)
    func noteVotes(_ member: UInt32, at slot: UInt32, _ record: PostRecord, _ slots: SlotKeys) {
        votes.note(member, at: slot, record, slots)
    }

    /// Hands the noted votes to the lists; O(lists * members of heads).
    func endVotes() {
        for list in lists where list.keys.kind.followsVotes {
            list.keys.noteChanges(votes.inHead)
            list.keys.hasTail = list.keys.hasTail || votes.hasBehind
        }
        for place in 0..<votes.arrivals.count {
            let arrival = votes.arrivals[place]
            lists[arrival.list].keys.noteChange(arrival.member)
        }
        votes.endNoting()
    }

    /// Puts the members that wait behind the heads into the tails; O(members / 64) a list.
    func fillTails() {
        guard votes.hasBehind else { return }
        for list in lists where list.keys.kind.followsVotes {
            list.keys.tail.formUnion(votes.behind)
        }
        votes.removeAll()
    }
}
