internal import CPrefetch
import FeedRanking

/// The newest counts of each post that changed: open addressing on the id, 32 bytes a place.
///
/// Votes come in no order of posts, so nearly each would wait for memory. They are taken in runs
/// instead: a vote's place is asked for when it comes, and looked at when the run is full.
@safe
struct CountsTable: ~Copyable {
    private static let minimumCapacity = 1_024
    /// How many counts are on their way at once: as many as processors fetch lines for, about.
    private static let runCount = 16

    /// A place of post 0 is free: no post has that id.
    private static let free = PostCounts(
        id: PostID(rawValue: 0),
        upvoteCount: 0,
        downvoteCount: 0,
        revision: 0
    )

    /// As many as a power of two, at most five eighths used.
    private var places: UnsafeMutablePointer<PostCounts>
    private var capacity: Int
    /// By how much a hash is shifted to give a place.
    private var shift: UInt64
    /// The counts that came last and are not in their places yet.
    private var run = InlineArray<16, PostCounts>(repeating: CountsTable.free)
    private var runLength = 0
    private var placedCount = 0

    /// An empty table.
    init() {
        capacity = Self.minimumCapacity
        shift = Self.shift(Self.minimumCapacity)
        unsafe places = Self.makePlaces(Self.minimumCapacity)
    }

    deinit {
        unsafe places.deallocate()
    }

    /// Keeps the counts unless newer ones of the post are there; O(1).
    @inline(__always)
    mutating func set(_ counts: PostCounts) {
        unsafe cprefetch_for_write(places + start(of: counts.id.rawValue))
        run[runLength] = counts
        runLength &+= 1
        if runLength == Self.runCount { placeRun() }
    }

    /// How many posts have counts, but for those that are not in their places yet.
    var count: Int { placedCount }

    /// The counts of a post; O(1).
    subscript(id: UInt64) -> PostCounts? {
        precondition(runLength == 0, "Counts are looked up once all are in their places.")
        let counts = unsafe places[place(of: id)]
        return counts.id.rawValue == 0 ? nil : counts
    }

    /// The posts that have counts, in no order; O(places).
    func ids() -> [UInt64] {
        precondition(runLength == 0, "Posts are listed once all are in their places.")
        var ids: [UInt64] = []
        ids.reserveCapacity(count)
        for place in 0..<capacity {
            let id = unsafe places[place].id.rawValue
            if id != 0 { ids.append(id) }
        }
        return ids
    }

    /// The bytes that the table takes.
    var byteCount: Int { capacity * MemoryLayout<PostCounts>.stride }

    /// Puts the counts that came last into their places; O(run).
    mutating func placeRun() {
        let length = runLength
        runLength = 0
        for index in 0..<length {
            if placedCount &* 8 >= capacity &* 5 { grow() }
            let counts = run[index]
            let place = place(of: counts.id.rawValue)
            let old = unsafe places[place]
            if old.id.rawValue == 0 {
                placedCount += 1
            } else if old.revision > counts.revision {
                continue
            }
            unsafe places[place] = counts
        }
    }

    /// Where the search for a post begins.
    @inline(__always)
    private func start(of id: UInt64) -> Int {
        // Fibonacci hashing: the high bits of the product depend on all bits of the id.
        Int(truncatingIfNeeded: (id &* 0x9E37_79B9_7F4A_7C15) >> shift)
    }

    /// The place that has the post, or the free one that it would take; below the capacity.
    @inline(__always)
    private func place(of id: UInt64) -> Int {
        var place = start(of: id)
        let mask = capacity - 1
        while true {
            let found = unsafe places[place].id.rawValue
            if found == id || found == 0 { return place }
            place = (place &+ 1) & mask
        }
    }

    private mutating func grow() {
        let old = unsafe places
        let oldCapacity = capacity
        capacity *= 2
        shift = Self.shift(capacity)
        unsafe places = Self.makePlaces(capacity)
        for index in 0..<oldCapacity {
            let counts = unsafe old[index]
            guard counts.id.rawValue != 0 else { continue }
            unsafe places[place(of: counts.id.rawValue)] = counts
        }
        unsafe old.deallocate()
    }

    private static func shift(_ capacity: Int) -> UInt64 {
        UInt64(64 - capacity.trailingZeroBitCount)
    }

    private static func makePlaces(_ capacity: Int) -> UnsafeMutablePointer<PostCounts> {
        let places = UnsafeMutablePointer<PostCounts>.allocate(capacity: capacity)
        unsafe places.initialize(repeating: free, count: capacity)
        return unsafe places
    }
}
