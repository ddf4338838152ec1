import FeedLog
import FeedRanking
import FeedSQLite

struct MarkRow: StateRow {
    static let table = StateTable.marks
    static let unfit = "it is no chunk"

    var viewer = VoterID(rawValue: 0)
    var chunk: UInt32 = 0
    var marks = MarkChunk()

    init() {}

    mutating func visit(_ columns: inout Columns) {
        columns.number("viewer", &viewer, as: .unsummedKey)
        columns.number("chunk", &chunk, as: .unsummedKey)
        columns.sum(key)
        columns.sumColumn()
        columns.packed("packed", &marks)
    }

    var key: UInt64 {
        get { UInt64(viewer.rawValue) << 32 | UInt64(chunk) }
        set {
            viewer = VoterID(rawValue: UInt32(truncatingIfNeeded: newValue >> 32))
            chunk = UInt32(truncatingIfNeeded: newValue)
        }
    }

    static func name(of row: Statement) -> String { "row (\(row.uint64(0)), \(row.uint64(1)))" }

    func visitEntries(_ body: (LogEntry) -> Void) {
        let first = UInt64(chunk) * MarkChunk.postCount
        for entry in marks.entries {
            let post = PostID(rawValue: first + UInt64(entry.place))
            let (marks, revision) = (entry.marks, entry.revision)
            body(.marks(PostMarks(viewer: viewer, post: post, marks: marks, revision: revision)))
        }
    }
}

/// The marks of a viewer on 1024 posts with consecutive ids, as one row keeps them.
///
/// Ten bytes a post that has marks, in the order of posts: two with the post's place times 16 plus
/// the marks, then the revision in eight. Each number has its least byte first.
struct MarkChunk: PackedColumn {
    static let postCount: UInt64 = 1_024
    private static let entryByteCount = 10

    struct Entry: Equatable {
        var place: UInt16
        var marks: MarkSet
        var revision: UInt64
    }

    private(set) var entries: [Entry] = []

    /// One number for a viewer and a chunk; nil for a post whose id no post can have.
    static func key(_ viewer: VoterID, _ post: UInt64) -> UInt64? {
        guard post / postCount <= UInt64(UInt32.max) else { return nil }
        return UInt64(viewer.rawValue) << 32 | post / postCount
    }

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

    func write(into bytes: inout [UInt8]) {
        bytes.removeAll(keepingCapacity: true)
        for entry in entries {
            bytes.append(littleEndian: entry.place << 4 | UInt16(entry.marks.rawValue))
            bytes.append(littleEndian: entry.revision)
        }
    }
}

/// A row of `mark_throughs`: a viewer's mark on all posts up to one.
struct MarkThroughRow: StateRow {
    static let table = StateTable.markThroughs

    var mark: MarkThrough

    init() {
        self.init(
            MarkThrough(
                viewer: VoterID(rawValue: 0),
                feed: nil,
                mark: .read,
                createTimeMilliseconds: 0,
                post: PostID(rawValue: 0),
                place: 0,
                revision: 0
            )
        )
    }

    init(_ mark: MarkThrough) {
        self.mark = mark
    }

    mutating func visit(_ columns: inout Columns) {
        columns.number("viewer", &mark.viewer, as: .key)
        columns.number("feed", &mark.feed, as: .key)
        // The mark says it, so it is not summed.
        var topic = topic
        columns.number("topic", &topic, as: .unsummedKey)
        columns.number("place", &mark.place, as: .unsummedKey)
        columns.number("mark", &mark.mark)
        columns.sum(UInt64(mark.place))
        columns.number("create_time", &mark.createTimeMilliseconds)
        columns.number("post", &mark.post)
        columns.number("revision", &mark.revision)
        columns.sumColumn()
        columns.require(topic == self.topic)
    }

    /// What the mark is about: 0 reading, 1 dismissal.
    private var topic: UInt8 {
        switch mark.mark.topic {
        case .reading: 0
        case .dismissal: 1
        }
    }

    func visitEntries(_ body: (LogEntry) -> Void) { body(.markThrough(mark)) }
}

extension MarkThroughRow: PendingRow {
    /// The place of a mark among all such marks.
    struct Key: Hashable {
        var viewer: VoterID
        var feed: FeedID?
        var topic: UInt8
        var place: UInt8
    }

    var key: Key {
        Key(viewer: mark.viewer, feed: mark.feed, topic: topic, place: mark.place)
    }

    func replaces(_ old: MarkThroughRow) -> Bool { old.mark.revision < mark.revision }
}
