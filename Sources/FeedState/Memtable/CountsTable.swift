import FeedRanking

/// The newest counts of each post that changed: open addressing on the id, 40 bytes a place.
///
/// Counts wait until there are 64, or for ``flush()``: then all their places are looked at before
/// the first is written. The memory of each is far away, but those looks do not depend on one
/// another, so the processor has them all under way at once.
struct CountsTable {
    private static let minimumCapacity = 1_024

    /// A place of post 0 is free: no post has that id.
    private static let free = PostCounts(
        id: PostID(rawValue: 0),
        upvoteCount: 0,
        downvoteCount: 0,
        revision: 0
    )

    /// As many as a power of two, at most five eighths used.
    private var places: [PostCounts] = []
    /// By how much a hash is shifted to give a place.
    private var shift: UInt64 = 0
    /// How many posts have counts, those that wait not among them.
    private(set) var count = 0
    private var waiting = [PostCounts](repeating: free, count: 64)
    private var waitingCount = 0
    /// Keeps the compiler from removing the loads.
    private var looks: UInt64 = 0

    /// Keeps the counts, unless newer ones of the post are there, from the next flush on; O(1).
    @inline(__always)
    mutating func set(_ counts: PostCounts) {
        waiting[waitingCount] = counts
        waitingCount += 1
        if waitingCount == waiting.count { flush() }
    }

    mutating func flush() {
        while (count + waitingCount) * 8 > places.count * 5 { grow() }
        for index in 0..<waitingCount {
            looks &+= places[home(of: waiting[index].id.rawValue)].revision
        }
        for index in 0..<waitingCount { put(waiting[index]) }
        waitingCount = 0
    }

    @inline(__always)
    private mutating func put(_ counts: PostCounts) {
        let place = place(of: counts.id.rawValue)
        let old = places[place]
        if old.id.rawValue == 0 {
            count += 1
        } else if old.revision > counts.revision {
            return
        }
        places[place] = counts
        if counts.risingSum.isInitial { places[place].risingSum = old.risingSum }
    }

    /// The counts of a post, once flushed; O(1).
    subscript(id: UInt64) -> PostCounts? {
        guard !places.isEmpty else { return nil }
        let counts = places[place(of: id)]
        return counts.id.rawValue == 0 ? nil : counts
    }

    /// The posts that have counts, once flushed, in no order; O(places).
    func ids() -> [UInt64] {
        var ids: [UInt64] = []
        ids.reserveCapacity(count)
        for counts in places where counts.id.rawValue != 0 { ids.append(counts.id.rawValue) }
        return ids
    }

    /// Calls `body` with the counts of each post, once flushed, in no order; O(places).
    func visit<Failure: Error>(_ body: (PostCounts) throws(Failure) -> Void) throws(Failure) {
        for counts in places where counts.id.rawValue != 0 { try body(counts) }
    }

    var byteCount: Int { places.count * MemoryLayout<PostCounts>.stride }

    @inline(__always)
    private func home(of id: UInt64) -> Int {
        // Fibonacci hashing: the high bits of the product depend on all bits of the id.
        Int(truncatingIfNeeded: (id &* 0x9E37_79B9_7F4A_7C15) >> shift)
    }

    /// The place that has the post, or the free one that it would take.
    @inline(__always)
    private func place(of id: UInt64) -> Int {
        var place = home(of: id)
        let mask = places.count - 1
        while true {
            let found = places[place].id.rawValue
            if found == id || found == 0 { return place }
            place = (place &+ 1) & mask
        }
    }

    private mutating func grow() {
        let old = places
        let capacity = max(Self.minimumCapacity, old.count * 2)
        places = [PostCounts](repeating: Self.free, count: capacity)
        shift = UInt64(64 - capacity.trailingZeroBitCount)
        for counts in old where counts.id.rawValue != 0 {
            places[place(of: counts.id.rawValue)] = counts
        }
    }
}
