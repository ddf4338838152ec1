/// The counts of 128 posts with consecutive ids, as one row keeps them.
///
/// Four columns after four widths: all ups, all downs, all revisions, all sums of RISING, each number
/// in as many bytes as the widest of its column needs, least byte first. A row of format 1 has no
/// sums, and no mark in its first byte. A post that is not there has revision 0: no post has that
/// one.
struct CountsChunk {
    /// How many posts share a row.
    static let postCount = 128
    /// The bit of the first byte that says that there is a fourth column.
    private static let sumsMark: UInt8 = 0x80

    /// What a row keeps of one post.
    struct Entry: Equatable {
        var upvoteCount: UInt64 = 0
        var downvoteCount: UInt64 = 0
        var revision: UInt64 = 0
        /// 0 where the sum follows from the ups and the creation.
        var risingSum: UInt64 = 0
    }

    private var entries = [Entry](repeating: Entry(), count: postCount)

    /// The chunk that a post is in.
    static func number(_ id: UInt64) -> UInt64 { id / UInt64(postCount) }

    /// The post's place in its chunk.
    static func place(_ id: UInt64) -> Int { Int(id % UInt64(postCount)) }

    /// The counts at a place.
    subscript(place: Int) -> Entry {
        get { entries[place] }
        set { entries[place] = newValue }
    }

    /// The greatest revision; 0 where no post is there.
    var newestRevision: UInt64 {
        entries.reduce(0) { max($0, $1.revision) }
    }

    /// Takes all posts out.
    mutating func clear() {
        for place in entries.indices { entries[place] = Entry() }
    }

    /// Fills the chunk from a row's bytes; false where no chunk is written so.
    mutating func read(_ bytes: Span<UInt8>) -> Bool {
        guard let first = bytes.count > 0 ? bytes[0] : nil else { return false }
        let columnCount = first & Self.sumsMark == 0 ? 3 : 4
        guard bytes.count >= columnCount else { return false }
        var widths: [4 of Int] = [Int(first & ~Self.sumsMark), 0, 0, 0]
        for column in 1..<columnCount { widths[column] = Int(bytes[column]) }
        let width = widths[0] + widths[1] + widths[2] + widths[3]
        guard (0..<4).allSatisfy({ widths[$0] <= 8 }),
            bytes.count == columnCount + Self.postCount * width
        else { return false }
        var offset = columnCount
        func next(_ width: Int) -> UInt64 {
            var number: UInt64 = 0
            for byte in 0..<width {
                number |= UInt64(bytes[offset + byte]) << UInt64(8 * byte)
            }
            offset += width
            return number
        }
        for place in entries.indices { entries[place].upvoteCount = next(widths[0]) }
        for place in entries.indices { entries[place].downvoteCount = next(widths[1]) }
        for place in entries.indices { entries[place].revision = next(widths[2]) }
        for place in entries.indices { entries[place].risingSum = next(widths[3]) }
        // Counts of no post would come back with the next one of that id.
        return entries.allSatisfy { $0.revision != 0 || $0 == Entry() }
    }

    /// Writes the chunk in place of what the array held.
    func write(into bytes: inout [UInt8]) {
        var all = Entry()
        for entry in entries {
            all.upvoteCount |= entry.upvoteCount
            all.downvoteCount |= entry.downvoteCount
            all.revision |= entry.revision
            all.risingSum |= entry.risingSum
        }
        let widths: [4 of Int] = [
            Self.width(all.upvoteCount), Self.width(all.downvoteCount), Self.width(all.revision),
            Self.width(all.risingSum),
        ]
        bytes.removeAll(keepingCapacity: true)
        for column in 0..<4 { bytes.append(UInt8(widths[column])) }
        bytes[0] |= Self.sumsMark
        func add(_ number: UInt64, _ width: Int) {
            for byte in 0..<width {
                bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(8 * byte)))
            }
        }
        for entry in entries { add(entry.upvoteCount, widths[0]) }
        for entry in entries { add(entry.downvoteCount, widths[1]) }
        for entry in entries { add(entry.revision, widths[2]) }
        for entry in entries { add(entry.risingSum, widths[3]) }
    }

    /// How many bytes a number needs.
    private static func width(_ number: UInt64) -> Int {
        (64 - number.leadingZeroBitCount + 7) / 8
    }
}
