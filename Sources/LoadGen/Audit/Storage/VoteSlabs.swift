internal import CPrefetch

/// The posts of a run as one thread sees them: one read when a vote is sent, two additions when its
/// answer arrives.
///
/// With many posts each tally is a cache miss, which costs more than all the rest of a vote. Ids that
/// follow each other, as those of posts that one client has created, have no memory; others have a
/// table of their own, so that tallies lie close together.
@safe package struct PostSlab: ~Copyable {
    // Not buffer pointers: the thread sanitizer of Swift 6.3 cannot compile a change through one.
    private let postTallies: UnsafeMutablePointer<VoteTally>
    /// The id of each post; nil where they follow each other.
    private let postIDs: UnsafeMutablePointer<UInt64>?
    private let firstID: UInt64
    private let count: Int
    /// Whether a processor's caches near it have no room for all posts.
    let isLarge: Bool

    /// The bytes that `count` posts take at most.
    static func byteCount(count: Int) -> Int {
        count * (MemoryLayout<VoteTally>.stride + MemoryLayout<UInt64>.stride)
    }

    /// The posts with these ids and no vote.
    package init(ids: [UInt64]) {
        count = ids.count
        let first = ids.first ?? 0
        firstID = first
        unsafe postTallies = .allocate(capacity: count)
        unsafe postTallies.initialize(repeating: VoteTally(), count: count)
        let areConsecutive = ids.enumerated().allSatisfy { $1 == first &+ UInt64($0) }
        let tallyByteCount = count * MemoryLayout<VoteTally>.stride
        let byteCount = areConsecutive ? tallyByteCount : Self.byteCount(count: count)
        isLarge = byteCount > Self.nearByteCount
        guard !areConsecutive else {
            unsafe postIDs = nil
            return
        }
        let memory = UnsafeMutablePointer<UInt64>.allocate(capacity: count)
        unsafe ids.withUnsafeBufferPointer { source in
            if let base = source.baseAddress {
                unsafe memory.initialize(from: base, count: ids.count)
            }
        }
        unsafe postIDs = memory
    }

    deinit {
        unsafe postTallies.deallocate()
        unsafe postIDs?.deallocate()
    }

    /// The id of post number `post`.
    @inline(__always)
    package func id(_ post: UInt32) -> UInt64 {
        let index = index(post)
        return unsafe postIDs.map { unsafe $0[index] } ?? firstID &+ UInt64(post)
    }

    /// Asks for the memory that has the id of post number `post`, where it may be far away.
    @inline(__always)
    func prefetchID(_ post: UInt32) {
        if isLarge, let ids = unsafe postIDs { unsafe cprefetch_for_read(ids + index(post)) }
    }

    /// Asks for the memory of post number `post`.
    @inline(__always)
    func prefetch(_ post: UInt32) {
        prefetchID(post)
        unsafe cprefetch_for_write(postTallies + index(post))
    }

    /// Counts a vote on post number `post` that was answered with `score`.
    @inline(__always)
    package func acknowledge(_ post: UInt32, score: Int64) {
        unsafe postTallies[index(post)].acknowledge(score: score)
    }

    /// All tallies, by the post's number.
    package func tallies() -> [VoteTally] {
        (0..<count).map { unsafe postTallies[$0] }
    }

    /// What a second-level cache has room for beside all else.
    private static var nearByteCount: Int { 256 << 10 }

    @inline(__always)
    private func index(_ post: UInt32) -> Int {
        precondition(post < count, "No such post.")
        return Int(post)
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
