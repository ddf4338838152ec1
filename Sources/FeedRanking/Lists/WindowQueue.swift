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
    /// The number of posts in the window.
    private(set) var count = 0
    /// The members in the window.
    private var members = SlotSet()
    /// The queue has looked at the members below.
    private var filledLimit = 0
    private var heap = Slab<Entry>()
    private var heapCount = 0

    /// A queue that has looked at no member.
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
