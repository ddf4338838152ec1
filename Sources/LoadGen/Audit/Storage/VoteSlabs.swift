import CPrefetch

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

/// The ballots of the voters of one thread: for each voter and post, which ballots may stand.
///
/// A voter has one ballot on a post. An acknowledged vote leaves one possibility, and a vote without
/// an answer adds one. Four bits a voter and post hold them, so the memory is known before the run.
/// A place with the bits 0 was never voted on.
@safe package struct BallotSlab: ~Copyable {
    private let bytes: UnsafeMutablePointer<UInt8>
    private let rowByteCount: Int
    private let rowCount: Int
    private let postCount: Int

    package init(voterCount: Int, postCount: Int) {
        rowCount = voterCount
        rowByteCount = BallotSet.byteCount(postCount: postCount)
        self.postCount = postCount
        unsafe bytes = .allocate(capacity: max(1, rowCount * rowByteCount))
        unsafe bytes.initialize(repeating: 0, count: rowCount * rowByteCount)
    }

    deinit {
        unsafe bytes.deallocate()
    }

    /// The ballots of which one stands, of a voter on a post.
    package subscript(voter: Int, post: UInt32) -> BallotSet {
        get {
            let bits = unsafe bytes[place(voter, post)] >> Self.shift(post) & 0xF
            return bits == 0 ? .none : BallotSet(rawValue: bits)
        }
        nonmutating set {
            let place = place(voter, post)
            let others = unsafe bytes[place] & ~(0xF << Self.shift(post))
            unsafe bytes[place] = others | newValue.rawValue << Self.shift(post)
        }
    }

    /// For each post, how many ballots up and down stand, and how many more may.
    ///
    /// O(voters × posts).
    package func tallies() -> [BallotTally] {
        var tallies = [BallotTally](repeating: BallotTally(), count: postCount)
        for voter in 0..<rowCount {
            for place in 0..<rowByteCount where unsafe bytes[voter * rowByteCount + place] != 0 {
                for post in 2 * place..<min(2 * place + 2, postCount) {
                    tallies[post].add(self[voter, UInt32(post)])
                }
            }
        }
        return tallies
    }

    private func place(_ voter: Int, _ post: UInt32) -> Int {
        precondition(voter >= 0 && voter < rowCount && post < postCount, "No such ballot.")
        return voter * rowByteCount + Int(post / 2)
    }

    private static func shift(_ post: UInt32) -> UInt8 { post % 2 == 0 ? 0 : 4 }
}

/// What a run knows of the ballots on one post.
package struct BallotTally: Sendable, Equatable {
    /// Ballots up that stand.
    package private(set) var upCount: UInt64 = 0
    /// More ballots up that may stand.
    package private(set) var possibleUpCount: UInt64 = 0
    /// Ballots down that stand.
    package private(set) var downCount: UInt64 = 0
    /// More ballots down that may stand.
    package private(set) var possibleDownCount: UInt64 = 0

    package init() {}

    package mutating func add(_ ballots: BallotSet) {
        if ballots == .up { upCount += 1 } else if ballots.contains(.up) { possibleUpCount += 1 }
        if ballots == .down {
            downCount += 1
        } else if ballots.contains(.down) {
            possibleDownCount += 1
        }
    }
}
