internal import CPrefetch
import Synchronization

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// The ballots of a stripe's posts: open addressing in words of slot, voter and direction, and two bits
/// for each voter where many of a chunk of voters have a ballot on one post.
///
/// The table of words grows by half when three quarters are used, so a ballot costs 10.7 to 16 bytes.
/// When it grows, the ballots of chunks that have become crowded move to ``CrowdedBallots``, where a
/// ballot costs less. The ballots of a deleted post are dropped when the table next grows. No lookup
/// finds them until then, because a slot is never used again.
package struct BallotTable: ~Copyable {
    private static let directionMask: UInt64 = 3
    private static let minimumCapacity = 16

    /// 0 is free; a word with direction 0 is a withdrawn ballot, whose place its voter may reuse.
    private var words = HugeWords(count: 0)
    private var usedCount = 0
    /// The ballots of crowded chunks, which have no words.
    private var crowded = CrowdedBallots()
    /// Where the ballots are, also for threads without the stripe's lock.
    let directory = BallotDirectory()

    package init() {}

    deinit { directory.free() }

    /// The ballot of a voter on a post; nil where there is none; O(1).
    package func ballot(_ slot: UInt32, _ voter: VoterID) -> VoteDirection? {
        if let place = crowded.place(of: CrowdedBallots.key(slot, voter)) {
            return crowded.ballot(place, voter)
        }
        guard words.count > 0 else { return nil }
        return Self.direction(words[place(of: Self.key(slot, voter))])
    }

    /// Sets a voter's ballot, or withdraws it with nil; returns the ballot before; O(1) on average.
    package mutating func set(
        _ direction: VoteDirection?,
        _ slot: UInt32,
        _ voter: VoterID,
        _ posts: borrowing PostTable
    ) -> VoteDirection? {
        let chunk = CrowdedBallots.key(slot, voter)
        if let place = crowded.place(of: chunk) { return crowded.set(direction, place, voter) }
        if direction != nil, (usedCount + 1) * 4 > words.count * 3 {
            grow(posts)
            // The voter's own chunk may have become crowded.
            if let place = crowded.place(of: chunk) { return crowded.set(direction, place, voter) }
        }
        let key = Self.key(slot, voter)
        guard words.count > 0 else { return nil }
        let place = place(of: key)
        let old = words[place]
        if old == 0 {
            guard let direction else { return nil }
            usedCount += 1
            words[place] = key | UInt64(direction.rawValue)
            return nil
        }
        words[place] = key | UInt64(direction?.rawValue ?? 0)
        return Self.direction(old)
    }

    /// Calls the body with each ballot on a live post, in no order; O(capacity).
    package func forEach(
        _ posts: borrowing PostTable,
        _ body: (UInt32, VoterID, VoteDirection) -> Void
    ) {
        crowded.forEach(posts, body)
        for index in 0..<words.count where Self.isLive(words[index], posts) {
            let word = words[index]
            if let direction = Self.direction(word) {
                body(UInt32(word >> 32), Self.voter(word), direction)
            }
        }
    }

    package var byteCount: Int { words.count * 8 + crowded.byteCount }

    /// The key of a voter's ballot on the post in a slot.
    ///
    /// Never 0, which distinguishes a withdrawn ballot from a free place.
    @inline(__always)
    fileprivate static func key(_ slot: UInt32, _ voter: VoterID) -> UInt64 {
        UInt64(slot) << 32 | (UInt64(voter.rawValue) + 1) << 2
    }

    private static func voter(_ word: UInt64) -> VoterID {
        VoterID(rawValue: UInt32(truncatingIfNeeded: word) >> 2 - 1)
    }

    /// The chunk of a word's voter on the word's post.
    private static func chunk(_ word: UInt64) -> UInt64 {
        CrowdedBallots.key(UInt32(word >> 32), voter(word))
    }

    private static func direction(_ word: UInt64) -> VoteDirection? {
        VoteDirection(rawValue: UInt8(truncatingIfNeeded: word & directionMask))
    }

    /// The place at which the search for a key begins in a table of so many places.
    @inline(__always)
    fileprivate static func firstPlace(of key: UInt64, among count: Int) -> Int {
        // Fibonacci hashing, then a multiplication in place of a division by the capacity.
        var hash = key &* 0x9E37_79B9_7F4A_7C15
        hash ^= hash >> 32
        hash = hash &* 0xD6E8_FEB8_6659_FD93
        return Int(hash.multipliedFullWidth(by: UInt64(count)).high)
    }

    /// The place of a key, or the free place that it would take.
    private func place(of key: UInt64) -> Int {
        var place = Self.firstPlace(of: key, among: words.count)
        while words[place] != 0, words[place] & ~Self.directionMask != key {
            place = place + 1 == words.count ? 0 : place + 1
        }
        return place
    }

    /// Moves the ballots of live posts into a table with room for as many again, and those of crowded
    /// chunks out of it.
    private mutating func grow(_ posts: borrowing PostTable) {
        insertCrowdedChunks(posts)
        var kept = 0
        for index in 0..<words.count where Self.isLive(words[index], posts) {
            if crowded.place(of: Self.chunk(words[index])) == nil { kept += 1 }
        }
        var old = HugeWords(count: max(Self.minimumCapacity, kept * 2))
        swap(&words, &old)
        usedCount = kept
        for index in 0..<old.count where Self.isLive(old[index], posts) {
            let word = old[index]
            if let place = crowded.place(of: Self.chunk(word)) {
                _ = crowded.set(Self.direction(word), place, Self.voter(word))
            } else {
                words[place(of: word & ~Self.directionMask)] = word
            }
        }
        directory.set(words: words, crowded)
    }

    /// Makes places for the chunks that have many ballots among the words.
    private mutating func insertCrowdedChunks(_ posts: borrowing PostTable) {
        var candidateCount = 0
        for index in 0..<words.count where Self.mayBeCrowded(words[index], posts) {
            candidateCount += 1
        }
        guard candidateCount >= CrowdedBallots.leastCount else { return }
        var counts = ChunkCounts(chunkCount: candidateCount)
        for index in 0..<words.count where Self.mayBeCrowded(words[index], posts) {
            let chunk = Self.chunk(words[index])
            if counts.add(chunk) == CrowdedBallots.leastCount { crowded.insert(chunk, posts) }
        }
    }

    /// Whether a word's post has ballots enough for a crowded chunk.
    private static func mayBeCrowded(_ word: UInt64, _ posts: borrowing PostTable) -> Bool {
        guard isLive(word, posts) else { return false }
        let post = posts[UInt32(truncatingIfNeeded: word >> 32)]
        return post.upvoteCount &+ post.downvoteCount >= UInt64(CrowdedBallots.leastCount)
    }

    private static func isLive(_ word: UInt64, _ posts: borrowing PostTable) -> Bool {
        word & directionMask != 0 && posts.contains(UInt32(truncatingIfNeeded: word >> 32))
    }
}

/// How many ballots each chunk of voters has, while a `BallotTable` grows: open addressing in words of
/// chunk and count.
struct ChunkCounts: ~Copyable {
    private static let minimumCapacity = 16
    /// A chunk has at most 1,024 ballots: 11 bits.
    private static let countBits: UInt64 = 11
    private static let countMask: UInt64 = (1 << countBits) - 1

    private var words: HugeWords

    init(chunkCount: Int) { words = HugeWords(count: max(Self.minimumCapacity, chunkCount * 2)) }

    /// Counts a ballot of a chunk; returns the count with it; O(1).
    mutating func add(_ key: UInt64) -> Int {
        // The slot and the chunk's number have 32 and 20 bits, and 0 is a free place.
        let packed = ((key >> 32) << 20 | (key & 0xFFFF_FFFF)) << Self.countBits
        var place = BallotTable.firstPlace(of: packed, among: words.count)
        while words[place] != 0, words[place] & ~Self.countMask != packed {
            place = place + 1 == words.count ? 0 : place + 1
        }
        let word = words[place] == 0 ? packed | 1 : words[place] + 1
        words[place] = word
        return Int(word & Self.countMask)
    }
}

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

    init() {}

    /// The number of places, and where the keys and the ballots are, for prefetching only.
    var addresses: (count: Int, keys: UInt, words: UInt) {
        (keys.count, keys.address, words.address)
    }

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

/// The addresses and the sizes of a stripe's tables of ballots, for prefetching without the stripe's
/// lock.
///
/// A thread without the lock may read them while a table grows, and ask for an address that no table
/// has. Such a prefetch is wasted and harmless. `Sendable` because the words are atomic, and nobody
/// reads the tables through them.
@safe
struct BallotDirectory: BitwiseCopyable, @unchecked Sendable {
    /// A table's number of places, and the addresses of what the places have.
    private enum Word {
        static let count = 0
        static let words = 1
        static let crowdedCount = 2
        static let crowdedKeys = 3
        static let crowdedWords = 4
        static let total = 5
    }

    private let base: UnsafeMutablePointer<Atomic<UInt>>

    /// The directory of tables without places, to be freed by `free()`.
    init() {
        guard let block = unsafe calloc(Word.total, MemoryLayout<UInt>.stride) else {
            fatalError("No memory for the directory of a table of ballots.")
        }
        unsafe base = block.bindMemory(to: Atomic<UInt>.self, capacity: Word.total)
    }

    /// Sets where the tables are, and how many places they have.
    func set(words: borrowing HugeWords, _ crowded: borrowing CrowdedBallots) {
        set(Word.words, words.address)
        set(Word.count, UInt(words.count))
        let addresses = crowded.addresses
        set(Word.crowdedKeys, addresses.keys)
        set(Word.crowdedWords, addresses.words)
        set(Word.crowdedCount, UInt(addresses.count))
    }

    /// Prefetches the places at which the search for a voter's ballot begins; does nothing for empty
    /// tables.
    @inline(__always)
    func prefetch(_ slot: UInt32, _ voter: VoterID) {
        let count = get(Word.count)
        if count > 0 {
            let key = BallotTable.key(slot, voter)
            let place = BallotTable.firstPlace(of: key, among: Int(bitPattern: count))
            prefetch(get(Word.words), place)
        }
        let crowdedCount = get(Word.crowdedCount)
        if crowdedCount > 0 {
            let key = CrowdedBallots.key(slot, voter)
            let place = BallotTable.firstPlace(of: key, among: Int(bitPattern: crowdedCount))
            prefetch(get(Word.crowdedKeys), place)
            prefetch(
                get(Word.crowdedWords),
                place &* CrowdedBallots.wordCount &+ CrowdedBallots.word(voter)
            )
        }
    }

    /// Frees the directory, but not the tables.
    func free() { unsafe Pages.free(base) }

    @inline(__always)
    private func get(_ word: Int) -> UInt { unsafe base[word].load(ordering: .relaxed) }

    private func set(_ word: Int, _ value: UInt) {
        unsafe base[word].store(value, ordering: .relaxed)
    }

    @inline(__always)
    private func prefetch(_ address: UInt, _ index: Int) {
        let word = address &+ UInt(bitPattern: index &* MemoryLayout<UInt64>.stride)
        unsafe cprefetch_for_write(UnsafeRawPointer(bitPattern: word))
    }
}
