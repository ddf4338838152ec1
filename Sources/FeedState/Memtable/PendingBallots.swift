import FeedRanking

/// The newest ballot of each voter on each post where it changed.
///
/// Open addressing on the post and the voter, over entries of 16 bytes. The ballots of a post are a
/// list through the entries, so that a checkpoint takes them post by post without sorting all of
/// them. Ballots wait until there are 64, or for ``flush()``: as in ``CountsTable``, all their
/// places are looked at before the first is written, so that the waits for memory overlap.
struct PendingBallots {
    /// A voter's ballot on a post, and the entry of the same post that came before.
    private struct Entry {
        var post: UInt64
        /// The voter's number, of 30 bits, times 4, plus the direction; 0 where none stands.
        var ballot: UInt32
        var next: Int32

        /// The voter's number times 4.
        var voter: UInt32 { ballot & ~3 }
    }

    private static let free: Int32 = -1

    private var entries: [Entry] = []
    /// The entry of a voter on a post; as many places as a power of two, at most five eighths used.
    private var places = HashedPlaces()
    /// The entry of a post that came last; the same.
    private var lastOfPost = HashedPlaces()

    private var waiting = [Entry](repeating: Entry(post: 0, ballot: 0, next: free), count: 64)
    private var waitingCount = 0
    /// Keeps the compiler from removing the loads.
    private var looks: Int32 = 0

    /// Keeps a ballot, or that none stands any more, in place of an earlier one, from the next flush
    /// on; O(1).
    @inline(__always)
    mutating func set(_ post: PostID, _ voter: VoterID, _ direction: VoteDirection?) {
        waiting[waitingCount] = Entry(
            post: post.rawValue,
            ballot: voter.rawValue << 2 | UInt32(direction?.rawValue ?? 0),
            next: Self.free
        )
        waitingCount += 1
        if waitingCount == waiting.count { flush() }
    }

    /// Puts the ballots that wait into their places.
    mutating func flush() {
        guard waitingCount > 0 else { return }
        reserve(waitingCount)
        for index in 0..<waitingCount {
            looks &+=
                places.first(Self.hash(waiting[index]))
                &+ lastOfPost.first(
                    Self.hash(waiting[index].post)
                )
        }
        for index in 0..<waitingCount { put(waiting[index]) }
        waitingCount = 0
    }

    private mutating func put(_ news: Entry) {
        let place = places.place(Self.hash(news)) { entry in
            entries[entry].post == news.post && entries[entry].voter == news.voter
        }
        let known = places[place]
        guard known == Self.free else {
            entries[Int(known)].ballot = news.ballot
            return
        }
        let number = Int32(entries.count)
        let last = lastOfPost.place(Self.hash(news.post)) { entries[$0].post == news.post }
        entries.append(Entry(post: news.post, ballot: news.ballot, next: lastOfPost[last]))
        places.set(place, to: number)
        lastOfPost.set(last, to: number)
    }

    /// Fills the array with a post's ballots, once flushed, in the order of voters; O(k log k).
    func read(_ post: UInt64, into ballots: inout [(voter: VoterID, direction: VoteDirection?)]) {
        ballots.removeAll(keepingCapacity: true)
        guard !entries.isEmpty else { return }
        var number = lastOfPost[lastOfPost.place(Self.hash(post)) { entries[$0].post == post }]
        while number != Self.free {
            let entry = entries[Int(number)]
            let direction = VoteDirection(rawValue: UInt8(entry.ballot & 3))
            ballots.append((VoterID(rawValue: entry.ballot >> 2), direction))
            number = entry.next
        }
        ballots.sort { $0.voter.rawValue < $1.voter.rawValue }
    }

    /// The bytes that the ballots take.
    var byteCount: Int {
        entries.capacity * MemoryLayout<Entry>.stride + places.byteCount + lastOfPost.byteCount
    }

    /// Makes room for so many ballots more.
    private mutating func reserve(_ count: Int) {
        let entryCount = entries.count + count
        if places.mustGrow(for: entryCount) {
            places.grow(for: entryCount)
            for index in entries.indices {
                let place = places.place(Self.hash(entries[index])) { _ in false }
                places.set(place, to: Int32(index))
            }
        }
        if lastOfPost.mustGrow(for: lastOfPost.usedCount + count) {
            lastOfPost.grow(for: lastOfPost.usedCount + count)
            // Later entries of a post come behind earlier ones, so the last one stays.
            for index in entries.indices {
                let post = entries[index].post
                let place = lastOfPost.place(Self.hash(post)) { entries[$0].post == post }
                lastOfPost.set(place, to: Int32(index))
            }
        }
    }

    @inline(__always)
    private static func hash(_ entry: Entry) -> UInt64 {
        hash(entry.post &+ UInt64(entry.voter) &* 0xD6E8_FEB8_6659_FD93)
    }

    @inline(__always)
    private static func hash(_ number: UInt64) -> UInt64 {
        // Fibonacci hashing: the high bits of the product depend on all bits of the number.
        (number ^ number >> 32) &* 0x9E37_79B9_7F4A_7C15
    }
}
