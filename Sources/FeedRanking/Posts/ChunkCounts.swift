/// How many ballots each chunk of voters has, while a `BallotTable` grows: open addressing in words of
/// chunk and count.
struct ChunkCounts: ~Copyable {
    private static let minimumCapacity = 16
    /// A chunk has at most 1,024 ballots: 11 bits.
    private static let countBits: UInt64 = 11
    private static let countMask: UInt64 = (1 << countBits) - 1

    private var words: HugeWords

    /// Counts for at most so many chunks.
    init(chunkCount: Int) {
        words = HugeWords(count: max(Self.minimumCapacity, chunkCount * 2))
    }

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
