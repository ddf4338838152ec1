import FeedRanking

/// The marks of a viewer on 1024 posts with consecutive ids, as one row keeps them.
///
/// Ten bytes a post that has marks, in the order of posts: two with the post's place times 16 plus
/// the marks, then the revision in eight. Each number has its least byte first.
struct MarkChunk {
    /// How many posts share a row of a viewer.
    static let postCount: UInt64 = 1_024
    private static let entryByteCount = 10

    /// What a row keeps of one post.
    struct Entry: Equatable {
        var place: UInt16
        var marks: MarkSet
        var revision: UInt64
    }

    /// The posts that have marks, in their order.
    private(set) var entries: [Entry] = []

    /// One number for a viewer and a chunk; nil for a post whose id no post can have.
    static func key(_ viewer: VoterID, _ post: UInt64) -> UInt64? {
        guard post / postCount <= UInt64(UInt32.max) else { return nil }
        return UInt64(viewer.rawValue) << 32 | post / postCount
    }

    /// The viewer of a key.
    static func viewer(of key: UInt64) -> VoterID {
        VoterID(rawValue: UInt32(truncatingIfNeeded: key >> 32))
    }

    /// The chunk of a key.
    static func number(of key: UInt64) -> UInt64 { key & UInt64(UInt32.max) }

    /// Takes all marks out.
    mutating func clear() { entries.removeAll(keepingCapacity: true) }

    /// Takes newer marks in, which are in the order of posts; empty ones take a post out.
    mutating func merge(_ news: [PostMarks]) {
        var merged: [Entry] = []
        merged.reserveCapacity(entries.count + news.count)
        var next = 0
        for marks in news {
            let place = UInt16(marks.post.rawValue % Self.postCount)
            while next < entries.count, entries[next].place < place {
                merged.append(entries[next])
                next += 1
            }
            var newest = Entry(place: place, marks: marks.marks, revision: marks.revision)
            if next < entries.count, entries[next].place == place {
                if entries[next].revision > newest.revision { newest = entries[next] }
                next += 1
            }
            if !newest.marks.isEmpty { merged.append(newest) }
        }
        merged += entries[next...]
        entries = merged
    }

    /// Fills the chunk from a row's bytes; false where no chunk is written so.
    mutating func read(_ bytes: Span<UInt8>) -> Bool {
        clear()
        guard bytes.count > 0, bytes.count % Self.entryByteCount == 0 else { return false }
        var reader = ByteReader()
        while reader.offset < bytes.count {
            guard let low = reader.byte(bytes), let high = reader.byte(bytes),
                let revision = reader.uint64(bytes)
            else { return false }
            let number = UInt16(high) << 8 | UInt16(low)
            let marks = MarkSet(rawValue: UInt8(number & 15))
            let entry = Entry(place: number >> 4, marks: marks, revision: revision)
            guard entry.place < Self.postCount,
                entries.last.map({ $0.place < entry.place }) ?? true,
                !marks.isEmpty, marks.isPossible
            else { return false }
            entries.append(entry)
        }
        return true
    }

    /// Writes the chunk in place of what the array held.
    func write(into bytes: inout [UInt8]) {
        bytes.removeAll(keepingCapacity: true)
        for entry in entries {
            bytes.append(littleEndian: entry.place << 4 | UInt16(entry.marks.rawValue))
            bytes.append(littleEndian: entry.revision)
        }
    }
}
