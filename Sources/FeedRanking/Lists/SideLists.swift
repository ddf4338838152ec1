import FeedOrders

/// The side lists of a stripe: the lists of all orders and windows that are not in
/// `StandingLists`.
///
/// A list exists from its first read on. A vote then puts its post into `touched`, once until the
/// next read of a side list. That read notes the touched posts in the groups, and refreshes the list
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
    /// The number that each piece of slots has in the group of all feeds, as `SideMembers` has it too:
    /// a look into the group would be checked for exclusive access, for each vote.
    private var pieceNumbers = Slab<UInt32>()

    init() {}

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
        for group in [groups[nil], groups[record.feed]] {
            guard let group, group.hasJoined(slot) else { continue }
            setNumber(group.append(slot, record.createTimeMilliseconds), slot, group)
        }
    }

    /// Takes a post out of all lists before it is deleted or changes its title or time; O(log n) a
    /// list.
    mutating func takeOut(_ slot: UInt32, _ pass: inout ListPass) {
        let feed = pass.posts[slot].feed
        forEachGroup(of: slot, in: feed) { $0.takeOut($1, at: slot, &pass) }
    }

    /// Notes that a post that was taken out is back; O(lists).
    mutating func putBack(_ slot: UInt32, _ record: PostRecord) {
        let time = record.createTimeMilliseconds
        forEachGroup(of: slot, in: record.feed) { $0.noteChange($1, time) }
    }

    /// Notes another number of comments; O(lists).
    mutating func noteComments(_ slot: UInt32, _ feed: FeedID) {
        forEachGroup(of: slot, in: feed) { $0.noteComments($1) }
    }

    /// Calls the body with each group that has a post, and with the post's number there.
    private mutating func forEachGroup(
        of slot: UInt32,
        in feed: FeedID,
        _ body: (SideGroup, UInt32) -> Void
    ) {
        guard !isEmpty else { return }
        for group in [groups[nil], groups[feed]] {
            guard let group, group.hasJoined(slot) else { continue }
            body(group, group.members.feed == nil ? frontNumber(slot) : numbers[Int(slot)])
        }
    }

    /// Notes the posts that were voted on in the groups, as many as a step allows; O(posts), and
    /// O(lists) for those in a head.
    private mutating func noteVotes(_ allowance: inout RefreshAllowance, _ pass: inout ListPass) {
        let count = allowance.take(touched.count)
        guard count > 0 else { return }
        for group in groups.values { group.beginVotes() }
        let front = groups[nil]
        var last: (feed: FeedID, group: SideGroup?)?
        for place in stride(from: touched.count - 1, to: touched.count - 1 - count, by: -1) {
            if place >= RecordDirectory.prefetchDistance {
                pass.posts.directory.prefetch(touched[place - RecordDirectory.prefetchDistance])
            }
            let slot = touched[place]
            guard pass.posts.contains(slot) else { continue }
            let record = pass.posts[slot]
            pass.posts[slot].flags.subtract([.isTouched, .isInSideHead])
            if let front, front.hasJoined(slot) {
                front.noteVotes(frontNumber(slot), at: slot, record, pass.slots)
            }
            if last?.feed != record.feed { last = (record.feed, groups[record.feed]) }
            if let group = last?.group, group.hasJoined(slot) {
                group.noteVotes(numbers[Int(slot)], at: slot, record, pass.slots)
            }
        }
        touched.removeLast(count)
        for group in groups.values { group.endVotes() }
    }

    /// Learns whether there are lists that follow votes, after a list was added or dropped.
    ///
    /// Where there are none, nobody needs to know of the posts that were voted on.
    private mutating func countLists(_ posts: inout PostTable) {
        groups = groups.filter { !$0.value.lists.isEmpty }
        followsVotes = groups.values.contains { $0.followsVotes }
        guard !followsVotes else { return }
        for place in 0..<touched.count where posts.contains(touched[place]) {
            posts[touched[place]].flags.remove(.isTouched)
        }
        touched.removeAll()
    }

    /// Drops the lists that were not read for long, as of a time; O(lists).
    private mutating func dropIdleLists(at time: Int64, _ pass: inout ListPass) {
        let oldest = time - RankingLimits.sideListIdleTime
        var isAnyIdle = false
        for group in groups.values where group.lists.contains(where: { $0.readTime < oldest }) {
            group.dropLists(&pass) { $0.readTime < oldest }
            isAnyIdle = true
        }
        if isAnyIdle { countLists(&pass.posts) }
    }

    func existingList(_ list: ListID) -> SideList? { groups[list.feed]?.list(list) }

    /// Traps where an invariant of a list does not hold; O(n log n) a list.
    ///
    /// The lists do not know of touched posts yet, so they are checked where there are none.
    func checkInvariants(_ pass: borrowing ListPass) {
        for place in 0..<touched.count where pass.posts.contains(touched[place]) {
            let isMarked = pass.posts[touched[place]].flags.contains(.isTouched)
            precondition(isMarked, "A touched post lacks its flag.")
        }
        guard touched.count == 0 else { return }
        for group in groups.values { group.checkInvariants(pass) }
    }

    /// The number of a post in the group of all feeds.
    @inline(__always)
    private func frontNumber(_ slot: UInt32) -> UInt32 {
        let piece = pieceNumbers[Int(slot >> UInt32(PostTable.pieceBits))]
        return piece << UInt32(PostTable.pieceBits) | SideMembers.place(slot)
    }

    private mutating func setNumber(_ number: UInt32, _ slot: UInt32, _ group: SideGroup) {
        guard group.members.feed != nil else {
            let piece = Int(slot >> UInt32(PostTable.pieceBits))
            pieceNumbers.extend(to: piece + 1, with: 0)
            pieceNumbers[piece] = number >> UInt32(PostTable.pieceBits)
            return
        }
        numbers.extend(to: Int(slot) + 1, with: 0)
        numbers[Int(slot)] = number
    }

    /// Brings a list up to date but for its tail, and makes it where it is asked for first; nil when
    /// the allowance is used up.
    mutating func prepare(
        _ list: ListID,
        _ allowance: inout RefreshAllowance,
        _ pass: inout ListPass
    ) -> SideRead? {
        dropIdleLists(at: list.readTime, &pass)
        let group = groups[list.feed] ?? SideGroup(list.feed)
        groups[list.feed] = group
        if let span = list.span { group.dropLists(ofEraBefore: span, &pass) }
        let found = group.list(list)
        let kept = found ?? group.addList(list)
        kept.readTime = max(kept.readTime, list.readTime)
        if found == nil { countLists(&pass.posts) }
        let isReady = touched.count == 0 && group.isWhole && !kept.keys.hasFresh
        guard !allowance.isUsedUp || isReady else { return nil }
        allowance.startStep(pass.pace)
        noteVotes(&allowance, &pass)
        group.join(&allowance, pass.posts) { slot, number in setNumber(number, slot, group) }
        if let span = list.span, !allowance.isCut {
            group.expire(kept, to: span, &allowance, &pass)
        }
        var id = list
        id.span = kept.queue?.posts.span
        let read = SideRead(group: group, list: kept, id: id)
        return refresh(read, includingTail: false, &allowance, &pass) ? read : nil
    }

    /// Refreshes a list that is prepared; false where the step does not suffice.
    ///
    /// The keys that moved are charged, and each post that was looked at as a quarter of a key.
    func refresh(
        _ read: SideRead,
        includingTail: Bool,
        _ allowance: inout RefreshAllowance,
        _ pass: inout ListPass
    ) -> Bool {
        let (group, list) = (read.group, read.list)
        if includingTail { group.fillTails() }
        if !allowance.isCut {
            let movedCount =
                includingTail
                ? list.keys.refreshTail(read.id, of: group.members, &allowance, &pass)
                : list.keys.refresh(read.id, of: group.members, &allowance, &pass)
            allowance.charge(movedCount)
            pass.scratch.free(afterPosts: pass.scratch.moves.count)
        }
        return allowance.chargeLooks()
    }
}

struct SideRead {
    let group: SideGroup
    let list: SideList
    /// The list's name, with its window as the queue has it.
    let id: ListID
}

/// A side list of a stripe: a further order of a group's posts, or one of a window.
final class SideList {
    /// The posts of its window; nil is all time.
    let queue: SideQueue?
    var keys: SideIndex
    var readTime: Int64

    init(_ list: ListID, _ queue: SideQueue?) {
        self.queue = queue
        keys = SideIndex(list.kind)
        readTime = list.readTime
    }

    var window: Window? { queue?.posts.span.window }

    /// The time after which its posts were created.
    var start: Int64 { queue?.posts.span.start ?? .min }

    func isList(_ list: ListID) -> Bool { keys.kind == list.kind && window == list.span?.window }
}

/// A window's queue in a side group, as a reference, which the lists of the window share.
final class SideQueue {
    var posts: WindowQueue

    init(_ span: WindowSpan) { posts = WindowQueue(span) }
}

/// The posts of a side group that were created within a window, the earliest first.
///
/// A reader expires the queue: the posts that have left the window leave it. It is a binary heap,
/// because imported posts bring earlier times.
struct WindowQueue: ~Copyable {
    /// A post and the time by which it leaves.
    // Not private: Swift 6.3 then fails to compile a debug build, where other files hold a queue.
    struct Entry: BitwiseCopyable {
        var createTimeMilliseconds: Int64
        var member: UInt32
    }

    /// The window as the queue has it; its start never goes back.
    private(set) var span: WindowSpan
    private(set) var count = 0
    private var members = SlotSet()
    /// The queue has looked at the members below.
    private var filledLimit = 0
    private var heap = Slab<Entry>()
    private var heapCount = 0

    init(_ span: WindowSpan) { self.span = span }

    /// When the first post leaves, or an entry that a post has left behind, in Unix milliseconds.
    var endTime: Int64 {
        heapCount == 0 ? .max : heap[0].createTimeMilliseconds + span.window.milliseconds
    }

    /// Notes a member that is new, or has another time; O(log n).
    ///
    /// A member that the queue has not come to is left to `fill`. The queue begins anew where most of
    /// its entries are of posts that are gone or have changed: nobody may read it for long.
    mutating func noteChange(_ member: UInt32, _ createTimeMilliseconds: Int64) {
        if heapCount > 2 * count + RankingLimits.spentEntryCount { self = WindowQueue(span) }
        if member == filledLimit { filledLimit += 1 }
        guard member < filledLimit else { return }
        remove(member)
        add(member, createTimeMilliseconds)
    }

    /// Looks at the members that it has not looked at, as many as a step allows; O(log n) each.
    mutating func fill(
        _ all: borrowing SideMembers,
        _ allowance: inout RefreshAllowance,
        _ posts: borrowing PostTable
    ) {
        let count = allowance.take(all.limit - filledLimit)
        for member in UInt32(filledLimit)..<UInt32(filledLimit + count) {
            let slot = all.slot(member)
            if posts.contains(slot) { add(member, posts[slot].createTimeMilliseconds) }
        }
        filledLimit += count
    }

    /// Takes out a post that is deleted or gets another time; O(1).
    ///
    /// Its entry stays until its time comes, and is passed over then.
    mutating func remove(_ member: UInt32) {
        guard members.contains(member) else { return }
        members.remove(member)
        count -= 1
    }

    /// Lets the posts leave whose time is at a new start or before it, as many as a step allows, and
    /// calls the body with each; O(log n) a post.
    ///
    /// Where the step ends before, the start comes as far as the posts that have left.
    mutating func expire(
        to newStart: Int64,
        _ allowance: inout RefreshAllowance,
        _ body: (UInt32) -> Void
    ) {
        guard newStart > span.start else { return }
        while heapCount > 0, heap[0].createTimeMilliseconds <= newStart {
            let time = heap[0].createTimeMilliseconds
            // Posts of one time leave together.
            if time > span.start, allowance.take(1) == 0 { return }
            span.start = max(span.start, time)
            let member = pop().member
            guard members.contains(member) else { continue }
            remove(member)
            body(member)
        }
        span.start = newStart
    }

    /// Takes in a post that is not in the window, if its time is; O(log n).
    private mutating func add(_ member: UInt32, _ createTimeMilliseconds: Int64) {
        members.reserve(Int(member) + 1)
        guard createTimeMilliseconds > span.start else { return }
        members.insert(member)
        count += 1
        push(Entry(createTimeMilliseconds: createTimeMilliseconds, member: member))
    }

    private mutating func push(_ entry: Entry) {
        heap.extend(to: heapCount + 1, with: entry)
        var place = heapCount
        heapCount += 1
        while place > 0 {
            let parent = (place - 1) / 2
            guard heap[parent].createTimeMilliseconds > entry.createTimeMilliseconds else { break }
            heap[place] = heap[parent]
            place = parent
        }
        heap[place] = entry
    }

    private mutating func pop() -> Entry {
        let first = heap[0]
        heapCount -= 1
        let last = heap[heapCount]
        var place = 0
        while 2 * place + 1 < heapCount {
            var child = 2 * place + 1
            if child + 1 < heapCount,
                heap[child + 1].createTimeMilliseconds < heap[child].createTimeMilliseconds
            {
                child += 1
            }
            guard heap[child].createTimeMilliseconds < last.createTimeMilliseconds else { break }
            heap[place] = heap[child]
            place = child
        }
        heap[place] = last
        return first
    }
}
