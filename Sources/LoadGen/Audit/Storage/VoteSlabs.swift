internal import CPrefetch

/// The posts of a run as one thread sees them: one read when a vote is sent, three additions when
/// its answer arrives.
///
/// The id and the tally of a post share a cache line. With many posts each of the two would be a
/// cache miss, which costs more than all the rest of a vote. Ids that follow each other, as those of
/// posts that one client has created, are not read at all.
@safe package struct PostSlab: ~Copyable {
    private struct Entry {
        let id: UInt64
        var tally = VoteTally()
    }

    // Not a buffer pointer: the thread sanitizer of Swift 6.3 cannot compile a change through one.
    private let entries: UnsafeMutablePointer<Entry>
    private let count: Int
    /// The id of the first post where the ids of all others follow it, one by one; else nil.
    private let firstID: UInt64?
    /// Whether a processor's caches near it have no room for all posts.
    let isLarge: Bool

    /// The bytes that `count` posts take.
    static func byteCount(count: Int) -> Int { count * MemoryLayout<Entry>.stride }

    /// The posts with these ids and no vote.
    package init(ids: [UInt64]) {
        count = ids.count
        let size = MemoryLayout<Entry>.stride
        isLarge = count * size > Self.nearByteCount
        let first = ids.first ?? 0
        let areConsecutive = ids.enumerated().allSatisfy { $1 == first &+ UInt64($0) }
        firstID = areConsecutive ? first : nil
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: max(1, count) * size,
            alignment: size
        )
        unsafe entries = memory.bindMemory(to: Entry.self, capacity: count)
        for (index, id) in ids.enumerated() {
            unsafe (entries + index).initialize(to: Entry(id: id))
        }
    }

    deinit {
        unsafe UnsafeMutableRawPointer(entries).deallocate()
    }

    /// The id of post number `post`.
    @inline(__always)
    package func id(_ post: UInt32) -> UInt64 {
        let entry = unsafe entry(post)
        return unsafe firstID.map { $0 &+ UInt64(post) } ?? entry.pointee.id
    }

    /// Asks for the memory that has the id of post number `post`, where it may be far away.
    @inline(__always)
    func prefetchID(_ post: UInt32) {
        if isLarge, firstID == nil { prefetch(post) }
    }

    /// Asks for the memory of post number `post`.
    @inline(__always)
    func prefetch(_ post: UInt32) {
        unsafe cprefetch_for_write(entry(post))
    }

    /// Counts a vote on post number `post` that was answered with `score`.
    @inline(__always)
    package func acknowledge(_ post: UInt32, score: Int64) {
        unsafe entry(post).pointee.tally.acknowledge(score: score)
    }

    /// All tallies, by the post's number.
    package func tallies() -> [VoteTally] {
        (0..<count).map { unsafe entry(UInt32($0)).pointee.tally }
    }

    /// What a second-level cache has room for beside all else.
    private static var nearByteCount: Int { 256 << 10 }

    @inline(__always)
    private func entry(_ post: UInt32) -> UnsafeMutablePointer<Entry> {
        precondition(post < count, "No such post.")
        return unsafe entries + Int(post)
    }
}

/// The last score that each connection saw of the posts it voted on most recently.
///
/// On one connection the scores of one post must rise with each vote up. Remembering every post of
/// every connection would take gigabytes where both are many, so each connection has 16 places: a
/// post takes the place of its number modulo 16 and replaces the post there. A forgotten post is
/// not checked; a remembered score is never wrong.
@safe package struct ScoreMemory: ~Copyable {
    private struct Place {
        var post: UInt32
        var score: Int64
    }

    private static let placeCount = 16
    private let places: UnsafeMutableBufferPointer<Place>
    private let count: Int

    /// Empty memories for `clientCount` connections.
    package init(clientCount: Int) {
        count = clientCount * Self.placeCount
        unsafe places = .allocate(capacity: count)
        unsafe places.initialize(repeating: Place(post: .max, score: 0))
    }

    deinit {
        unsafe places.deallocate()
    }

    /// Remembers `score` and returns whether it rose since this connection last saw the post.
    @inline(__always)
    package func rises(client: Int, post: UInt32, score: Int64) -> Bool {
        let last = replace(client, Place(post: post, score: score))
        return last.post != post || score > last.score
    }

    /// Remembers `score` and returns whether it fell since this connection last saw the post.
    ///
    /// The answer to a vote that had been executed before carries the current score, which may
    /// equal the score that was seen last.
    package func falls(client: Int, post: UInt32, score: Int64) -> Bool {
        let last = replace(client, Place(post: post, score: score))
        return last.post == post && score < last.score
    }

    @inline(__always)
    private func replace(_ client: Int, _ place: Place) -> Place {
        let index = client &* Self.placeCount &+ Int(place.post) & (Self.placeCount &- 1)
        precondition(index >= 0 && index < count, "No such connection.")
        defer { unsafe places[index] = place }
        return unsafe places[index]
    }
}
