/// The ballots of crowded chunks: 1,024 voters with consecutive numbers, many of whom have a ballot on
/// one post.
///
/// Open addressing by the post's slot and the chunk's number. A chunk takes 256 bytes, two bits a voter,
/// and 8 for its key, however many of its voters have a ballot. A chunk stays when its ballots are
/// withdrawn; those of deleted posts are dropped when the table next grows.
struct CrowdedBallots: ~Copyable {
    /// A chunk has 2 to the power of this many voters.
    static let chunkBits: UInt32 = 10
    /// The words of a chunk, each with the ballots of 32 voters.
    static let wordCount = 32
    /// From so many ballots on, a chunk takes less here than as many words of a `BallotTable`, even
    /// where the places are only three eighths used.
    static let leastCount = 64
    private static let minimumCapacity = 4
    private static let directionMask: UInt64 = 3

    /// The chunk at each place; 0 is free.
    private var keys = HugeWords(count: 0)
    /// The ballots of the chunk at each place.
    private var words = HugeWords(count: 0)
    private var usedCount = 0

    /// No chunks, which take next to no memory.
    init() {}

    /// Whether no chunk is crowded.
    var isEmpty: Bool {
        @inline(__always) get { usedCount == 0 }
    }

    /// The number of places, and where the keys and the ballots are, for prefetching only.
    var addresses: (count: Int, keys: UInt, words: UInt) {
        (keys.count, keys.address, words.address)
    }

    /// The bytes the chunks take.
    var byteCount: Int { keys.count * 8 + words.count * 8 }

    /// The key of the chunk that a voter on the post in a slot is in; never 0, which is a free place.
    @inline(__always)
    static func key(_ slot: UInt32, _ voter: VoterID) -> UInt64 {
        UInt64(slot) << 32 | (UInt64(voter.rawValue >> chunkBits) + 1)
    }

    /// The word of a chunk that has a voter's ballot.
    @inline(__always)
    static func word(_ voter: VoterID) -> Int { Int(voter.rawValue >> 5) & (wordCount - 1) }

    /// The place of a chunk; nil where it is not crowded; O(1).
    @inline(__always)
    func place(of key: UInt64) -> Int? {
        guard usedCount > 0 else { return nil }
        let place = freePlace(of: key)
        return keys[place] == key ? place : nil
    }

    /// A voter's ballot in the chunk at a place; nil where there is none.
    @inline(__always)
    func ballot(_ place: Int, _ voter: VoterID) -> VoteDirection? {
        let word = words[place * Self.wordCount + Self.word(voter)]
        let bits = word >> Self.shift(voter) & Self.directionMask
        return VoteDirection(rawValue: UInt8(truncatingIfNeeded: bits))
    }

    /// Sets a voter's ballot in the chunk at a place, or withdraws it with nil; returns the ballot before.
    @inline(__always)
    mutating func set(
        _ direction: VoteDirection?,
        _ place: Int,
        _ voter: VoterID
    ) -> VoteDirection? {
        let index = place * Self.wordCount + Self.word(voter)
        let shift = Self.shift(voter)
        let old = words[index]
        let bits = UInt64(direction?.rawValue ?? 0)
        words[index] = old & ~(Self.directionMask << shift) | bits << shift
        return VoteDirection(rawValue: UInt8(truncatingIfNeeded: old >> shift & Self.directionMask))
    }

    /// Makes a place for a chunk, without ballots, unless it has one; O(1) on average.
    mutating func insert(_ key: UInt64, _ posts: borrowing PostTable) {
        guard place(of: key) == nil else { return }
        if (usedCount + 1) * 4 > keys.count * 3 { grow(posts) }
        keys[freePlace(of: key)] = key
        usedCount += 1
    }

    /// Calls the body with each ballot on a live post; O(places).
    func forEach(_ posts: borrowing PostTable, _ body: (UInt32, VoterID, VoteDirection) -> Void) {
        for place in 0..<keys.count where Self.isLive(keys[place], posts) {
            let slot = UInt32(keys[place] >> 32)
            let first = (UInt32(truncatingIfNeeded: keys[place]) - 1) << Self.chunkBits
            for number in 0..<UInt32(1 << Self.chunkBits) {
                let voter = VoterID(rawValue: first + number)
                if let direction = ballot(place, voter) { body(slot, voter, direction) }
            }
        }
    }

    @inline(__always)
    private static func shift(_ voter: VoterID) -> UInt64 { UInt64(voter.rawValue & 31) * 2 }

    /// The place of a chunk, or the free place that it would take.
    @inline(__always)
    private func freePlace(of key: UInt64) -> Int {
        var place = BallotTable.firstPlace(of: key, among: keys.count)
        while keys[place] != 0, keys[place] != key {
            place = place + 1 == keys.count ? 0 : place + 1
        }
        return place
    }

    /// Moves the chunks of live posts into a table with room for as many again.
    private mutating func grow(_ posts: borrowing PostTable) {
        var kept = 0
        for place in 0..<keys.count where Self.isLive(keys[place], posts) { kept += 1 }
        let capacity = max(Self.minimumCapacity, kept * 2)
        var oldKeys = HugeWords(count: capacity)
        var oldWords = HugeWords(count: capacity * Self.wordCount)
        swap(&keys, &oldKeys)
        swap(&words, &oldWords)
        usedCount = kept
        for old in 0..<oldKeys.count where Self.isLive(oldKeys[old], posts) {
            let place = freePlace(of: oldKeys[old])
            keys[place] = oldKeys[old]
            for word in 0..<Self.wordCount {
                words[place * Self.wordCount + word] = oldWords[old * Self.wordCount + word]
            }
        }
    }

    private static func isLive(_ key: UInt64, _ posts: borrowing PostTable) -> Bool {
        key != 0 && posts.contains(UInt32(key >> 32))
    }
}
