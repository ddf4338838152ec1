import FeedOrders

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// The side lists of a feed, or of all feeds, in a stripe.
///
/// A new group takes in the posts of its feed by steps: those with slots below `joinedLimit` are
/// members.
final class SideGroup {
    private(set) var members: SideMembers
    private(set) var lists: [SideList] = []
    /// The posts of each window that has a list.
    private var queues: [SideQueue] = []
    /// All posts with slots below are members; later ones join when it is behind all slots.
    private var joinedLimit = 0
    /// The votes since a side list of the stripe was read.
    private var votes = SideVotes()

    init(_ feed: FeedID?) { members = SideMembers(feed) }

    var followsVotes: Bool { lists.contains { $0.keys.kind.followsVotes } }

    /// Whether a post of the feed in a slot is a member, and not left to `join`.
    @inline(__always)
    func hasJoined(_ slot: UInt32) -> Bool { Int(slot) < joinedLimit }

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

    /// Takes a post out of all lists, before its title or time changes or it is deleted; O(log n) a list.
    func takeOut(_ member: UInt32, at slot: UInt32, _ pass: inout ListPass) {
        for list in lists { list.keys.takeOut(member, at: slot, &pass) }
        for queue in queues { queue.posts.remove(member) }
    }

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

    /// Takes in posts that are not members yet, as many as a step allows; `didAppend` gets the number of
    /// each.
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

/// The members of a side group: the posts of a feed, or all posts of the stripe, by number.
///
/// A feed's posts are numbered in the order in which they joined, so its lists take memory for its
/// own posts only. In the group of all feeds the pieces of `PostTable` are numbered so, and a post
/// has the place in its piece that its slot has: slots that were skipped take no numbers.
struct SideMembers: ~Copyable {
    let feed: FeedID?
    /// The slots of a feed's members; for all feeds, the pieces that have members.
    private var slots = Slab<UInt32>()
    /// The number of each piece, for all feeds; `noPiece` has none.
    private var pieceNumbers = Slab<UInt32>()
    private static let noPiece = UInt32.max
    /// No member has this number or a higher one.
    private(set) var limit = 0

    init(_ feed: FeedID?) { self.feed = feed }

    @inline(__always)
    func slot(_ member: UInt32) -> UInt32 {
        guard feed == nil else { return slots[Int(member)] }
        let piece = slots[Int(member >> UInt32(PostTable.pieceBits))]
        return piece << UInt32(PostTable.pieceBits) | Self.place(member)
    }

    /// Takes a post in, and returns its number; O(1).
    mutating func append(_ slot: UInt32) -> UInt32 {
        guard feed == nil else {
            slots.append(slot)
            limit = slots.count
            return UInt32(limit - 1)
        }
        let piece = slot >> UInt32(PostTable.pieceBits)
        pieceNumbers.extend(to: Int(piece) + 1, with: Self.noPiece)
        if pieceNumbers[Int(piece)] == Self.noPiece {
            pieceNumbers[Int(piece)] = UInt32(slots.count)
            slots.append(piece)
        }
        let number = pieceNumbers[Int(piece)] << UInt32(PostTable.pieceBits) | Self.place(slot)
        limit = max(limit, Int(number) + 1)
        return number
    }

    /// The place of a slot or a number in its piece.
    @inline(__always)
    static func place(_ number: UInt32) -> UInt32 {
        number & (1 << UInt32(PostTable.pieceBits) - 1)
    }
}

/// The members of a side group that were voted on.
///
/// Noting looks at plain values only. A list is a reference, and each access to its keys would be
/// checked for exclusivity, for each member and list.
struct SideVotes: ~Copyable {
    /// The head of a list that follows votes, as of the begin of noting.
    struct Head: BitwiseCopyable {
        var kind: KeyKind
        /// The place of the list among those of the group.
        var list: Int
        var start: Int64
        var boundary: RankedIndex.HeadBoundary
    }

    /// A member that comes into the head of a list.
    struct Arrival: BitwiseCopyable {
        var member: UInt32
        var list: Int
    }

    /// Tells which votes may reach a head.
    var filter = HeadFilter()
    /// The heads of the lists, those of a kind one after the other.
    var heads = Slab<Head>()
    /// The members that were in a head before; empty but for the time of noting.
    private(set) var inHead = Slab<UInt32>()
    /// The members that come into a head; empty but for the time of noting.
    private(set) var arrivals = Slab<Arrival>()
    /// The members that were in no head, since the tails got them.
    private(set) var behind = SlotSet()
    private(set) var hasBehind = false

    init() {}

    mutating func reserve(_ limit: Int) { behind.reserve(limit) }

    /// Notes that a member was voted on; O(1), and O(lists) where it may come into a head.
    @inline(__always)
    mutating func note(_ member: UInt32, at slot: UInt32, _ record: PostRecord, _ slots: SlotKeys) {
        guard !record.flags.contains(.isInSideHead) else {
            inHead.append(member)
            return
        }
        behind.insert(member)
        hasBehind = true
        if filter.mayReachHead(record) { findHeads(member, at: slot, record, slots) }
    }

    /// Finds the lists into whose heads a member comes; O(lists).
    private mutating func findHeads(
        _ member: UInt32,
        at slot: UInt32,
        _ record: PostRecord,
        _ slots: SlotKeys
    ) {
        var known: (kind: KeyKind, key: RankKey)?
        for place in 0..<heads.count {
            let head = heads[place]
            guard record.createTimeMilliseconds > head.start else { continue }
            if known?.kind != head.kind { known = (head.kind, slots.key(head.kind, slot, record)) }
            if let known, known.key.primary != 0, head.boundary.covers(known.key) {
                arrivals.append(Arrival(member: member, list: head.list))
            }
        }
    }

    /// Forgets the members of heads, which the lists have.
    mutating func endNoting() {
        inHead.removeAll()
        arrivals.removeAll()
    }

    /// Forgets the members behind the heads.
    mutating func removeAll() {
        behind.removeAll()
        hasBehind = false
    }
}

/// Tells cheaply that a vote cannot have brought a post into the head of a list of a side group.
///
/// It has the loosest head boundary of each kind, in the terms of the votes: neither a root nor a
/// power is computed for a post. It errs on one side only: where it says no, the post's key lies
/// behind all of the boundaries.
struct HeadFilter: ~Copyable {
    /// The loosest boundaries of the kinds with windows, for posts that are in one window and all
    /// longer ones.
    struct Level: BitwiseCopyable {
        /// The start of the window; no post is in a window without lists.
        var start = Int64.max
        /// The least score that reaches the head of a list of TOP.
        var score = Int64.max
        /// The logarithm of the controversy at the boundary of CONTROVERSIAL, to the base 2.
        var controversyLog = Double.infinity
    }

    /// The levels by the number of the window; 0 is all time.
    private var levels = Slab<Level>()
    private var hasWindows = false
    /// The confidence at the boundary of BEST; above 1 there is no list.
    private var confidence = 2.0
    private var confidenceSpread = 0.0
    /// The last key of RISING in the head; 0 is none.
    private var risingKey: UInt64 = 0
    /// Doubles are compared with so much room for their rounding.
    private static let margin = 1 - 1e-9

    init() { levels.extend(to: Window.allCases.count + 1, with: Level()) }

    mutating func removeAll() {
        for number in 0..<levels.count { levels[number] = Level() }
        hasWindows = false
        confidence = 2
        risingKey = 0
    }

    /// Takes in the boundary of a list; `start` is that of its window.
    mutating func add(_ keys: borrowing SideIndex, _ window: Window?, start: Int64) {
        let boundary = keys.index.headBoundary.primary
        let isWhole = keys.index.headBoundary == .lowest
        let number = Int(window?.rawValue ?? 0)
        if window != nil {
            hasWindows = true
            levels[number].start = start
        }
        switch keys.kind {
        case .top:
            let score = OrderKey.value(descending: boundary)
            levels[number].score = min(levels[number].score, score)
        case .controversial:
            let least = isWhole ? 0 : Double(bitPattern: ~boundary)
            let logarithm = least > 1 ? log2(least) * Self.margin : 0
            levels[number].controversyLog = min(levels[number].controversyLog, logarithm)
        case .best:
            let least = isWhole ? 0 : Double(bitPattern: ~boundary) * Self.margin
            confidence = least
            confidenceSpread = ConfidenceRank.spread(at: least) * Self.margin
        case .rising: risingKey = boundary
        case .discussed, .new, .hot: break
        }
    }

    /// Loosens each level by the longer windows, in which its posts are too.
    mutating func finish() {
        var longer = levels[0]
        for number in stride(from: levels.count - 1, to: 0, by: -1) {
            longer.score = min(longer.score, levels[number].score)
            longer.controversyLog = min(longer.controversyLog, levels[number].controversyLog)
            levels[number].score = longer.score
            levels[number].controversyLog = longer.controversyLog
        }
    }

    /// Whether a post may be in the head of a list by its votes; O(windows).
    @inline(__always)
    func mayReachHead(_ record: PostRecord) -> Bool {
        let level = levels[level(of: record.createTimeMilliseconds)]
        if record.score >= level.score { return true }
        if risingKey > 0, record.risingKey <= risingKey { return true }
        let (ups, downs) = (Double(record.upvoteCount), Double(record.downvoteCount))
        let count = ups + downs
        let distance = ups - confidence * count
        if distance >= 0, distance * distance >= confidenceSpread * count { return true }
        let bound = LogarithmBound.log2(max(count, 1))
        return min(ups, downs) * bound >= max(ups, downs) * level.controversyLog
    }

    /// The shortest window that a post is in.
    @inline(__always)
    private func level(of createTimeMilliseconds: Int64) -> Int {
        guard hasWindows else { return 0 }
        for number in 1..<levels.count where createTimeMilliseconds > levels[number].start {
            return number
        }
        return 0
    }
}
