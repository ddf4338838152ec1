import FeedRanking

/// The newest counts of each post that changed: open addressing on the id, 32 bytes a place.
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

    /// How many posts have counts.
    private(set) var count = 0

    /// Keeps the counts unless newer ones of the post are there; O(1).
    @inline(__always)
    mutating func set(_ counts: PostCounts) {
        if count * 8 >= places.count * 5 { grow() }
        let place = place(of: counts.id.rawValue)
        let old = places[place]
        if old.id.rawValue == 0 {
            count += 1
        } else if old.revision > counts.revision {
            return
        }
        places[place] = counts
    }

    /// The counts of a post; O(1).
    subscript(id: UInt64) -> PostCounts? {
        guard !places.isEmpty else { return nil }
        let counts = places[place(of: id)]
        return counts.id.rawValue == 0 ? nil : counts
    }

    /// The posts that have counts, in no order; O(places).
    func ids() -> [UInt64] {
        var ids: [UInt64] = []
        ids.reserveCapacity(count)
        for counts in places where counts.id.rawValue != 0 { ids.append(counts.id.rawValue) }
        return ids
    }

    /// The bytes that the table takes.
    var byteCount: Int { places.count * MemoryLayout<PostCounts>.stride }

    /// The place that has the post, or the free one that it would take.
    @inline(__always)
    private func place(of id: UInt64) -> Int {
        // Fibonacci hashing: the high bits of the product depend on all bits of the id.
        var place = Int(truncatingIfNeeded: (id &* 0x9E37_79B9_7F4A_7C15) >> shift)
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
