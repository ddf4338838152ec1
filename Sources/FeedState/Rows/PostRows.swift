import FeedLog
import FeedRanking
import FeedSQLite

/// A row of `posts`: all of a post but its votes, which ``CountsRow`` has.
struct PostRow: StateRow {
    static let table = StateTable.posts

    var post: PostState

    init() {
        self.init(
            PostState(
                counts: PostCounts(
                    id: PostID(rawValue: 0),
                    upvoteCount: 0,
                    downvoteCount: 0,
                    revision: 0
                ),
                feed: FeedID(rawValue: 0),
                keepsBallots: false,
                createTimeMilliseconds: 0,
                updateTimeMilliseconds: 0,
                editRevision: 0,
                content: PostContent()
            )
        )
    }

    init(_ post: PostState) {
        self.post = post
    }

    /// Inlined, as a start reads a million of them.
    @inline(__always)
    mutating func visit(_ columns: inout Columns) {
        columns.number("id", &post.counts.id, as: .key)
        columns.number("feed", &post.feed)
        columns.number("keeps_ballots", &post.keepsBallots)
        columns.number("create_time", &post.createTimeMilliseconds)
        columns.number("update_time", &post.updateTimeMilliseconds)
        columns.number("edit_revision", &post.editRevision)
        columns.number("comment_count", &post.content.commentCount)
        columns.sumColumn()
        columns.text("author", &post.content.authorName)
        columns.text("title", &post.content.title)
        columns.text("text", &post.content.text)
        columns.text("link_url", &post.content.linkURL)
        columns.text("thumbnail_url", &post.content.thumbnailURL)
        columns.text("image_url", &post.content.imageURL)
        columns.number("author_id", &post.content.authorID, as: Columns.Use(format: 2))
    }

    static func load(with loader: inout StateLoader) throws(StorageError) {
        try loader.loadPosts()
    }
}

extension PostRow: PendingRow {
    var key: UInt64 { post.counts.id.rawValue }

    var textByteCount: Int { post.content.textByteCount }

    /// Unless the old one is of a newer edit.
    func replaces(_ old: PostRow) -> Bool { old.post.editRevision <= post.editRevision }
}

struct CountsRow: StateRow {
    static let table = StateTable.counts
    static let unfit = "the counts are no chunk"

    var chunk: UInt64 = 0
    var newestRevision: UInt64 = 0
    var counts = CountsChunk()

    mutating func visit(_ columns: inout Columns) {
        columns.number("chunk", &chunk, as: .key)
        columns.number("newest_revision", &newestRevision)
        columns.sumColumn()
        columns.packed("packed", &counts)
        columns.require(fit: newestRevision == counts.newestRevision && newestRevision != 0)
    }
}

/// The counts of 128 posts with consecutive ids, as one row keeps them.
///
/// Four columns after four widths: all ups, all downs, all revisions, all sums of RISING, each number
/// in as many bytes as the widest of its column needs, least byte first. A row of format 1 has no
/// sums, and no mark in its first byte. A post that is not there has revision 0: no post has that one.
struct CountsChunk: PackedColumn {
    static let postCount = 128

    private static let columnCount = 4
    /// The bit of the first byte that says that there is a fourth column.
    private static let sumsMark: UInt8 = 0x80

    struct Entry: Equatable {
        var upvoteCount: UInt64 = 0
        var downvoteCount: UInt64 = 0
        var revision: UInt64 = 0
        /// 0 where the sum follows from the ups and the creation.
        var risingSum: UInt64 = 0

        func counts(of id: PostID) -> PostCounts {
            PostCounts(
                id: id,
                upvoteCount: upvoteCount,
                downvoteCount: downvoteCount,
                revision: revision,
                risingSum: RisingSum(rawValue: risingSum)
            )
        }
    }

    private var numbers = [UInt64](repeating: 0, count: columnCount * postCount)

    static func number(_ id: UInt64) -> UInt64 { id / UInt64(postCount) }

    static func place(_ id: UInt64) -> Int { Int(id % UInt64(postCount)) }

    subscript(place: Int) -> Entry {
        get {
            Entry(
                upvoteCount: numbers[place],
                downvoteCount: numbers[Self.postCount + place],
                revision: numbers[2 * Self.postCount + place],
                risingSum: numbers[3 * Self.postCount + place]
            )
        }
        set {
            numbers[place] = newValue.upvoteCount
            numbers[Self.postCount + place] = newValue.downvoteCount
            numbers[2 * Self.postCount + place] = newValue.revision
            numbers[3 * Self.postCount + place] = newValue.risingSum
        }
    }

    /// The greatest revision; 0 where no post is there.
    var newestRevision: UInt64 { numbers[Self.places(of: 2)].reduce(0, max) }

    private static func places(of column: Int) -> Range<Int> {
        column * postCount..<(column + 1) * postCount
    }

    mutating func clear() {
        for index in numbers.indices { numbers[index] = 0 }
    }

    mutating func read(_ bytes: Span<UInt8>) -> Bool {
        clear()
        guard bytes.count > 0 else { return false }
        let columnCount = bytes[0] & Self.sumsMark == 0 ? 3 : Self.columnCount
        guard bytes.count >= columnCount else { return false }
        var offset = columnCount
        for column in 0..<columnCount {
            let width = Int(column == 0 ? bytes[0] & ~Self.sumsMark : bytes[column])
            guard width <= 8, bytes.count - offset >= width * Self.postCount else { return false }
            for place in Self.places(of: column) {
                var number: UInt64 = 0
                for byte in 0..<width {
                    number |= UInt64(bytes[offset + byte]) << UInt64(8 * byte)
                }
                numbers[place] = number
                offset += width
            }
        }
        // Counts of no post would come back with the next one of that id.
        return offset == bytes.count
            && (0..<Self.postCount).allSatisfy { self[$0].revision != 0 || self[$0] == Entry() }
    }

    func write(into bytes: inout [UInt8]) {
        bytes.removeAll(keepingCapacity: true)
        for column in 0..<Self.columnCount {
            let all = numbers[Self.places(of: column)].reduce(0, |)
            bytes.append(UInt8((64 - all.leadingZeroBitCount + 7) / 8))
        }
        for column in 0..<Self.columnCount {
            let width = Int(bytes[column])
            for number in numbers[Self.places(of: column)] {
                for byte in 0..<width {
                    bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(8 * byte)))
                }
            }
        }
        bytes[0] |= Self.sumsMark
    }
}

struct BallotRow: StateRow {
    static let table = StateTable.ballots
    static let unfit = "it is no chunk"

    var post: UInt64 = 0
    var chunk: UInt64 = 0
    var ballots = BallotChunk()

    mutating func visit(_ columns: inout Columns) {
        columns.number("post", &post, as: .key)
        columns.number("chunk", &chunk, as: .key)
        columns.sumColumn()
        columns.packed("packed", &ballots)
        let greatest = UInt64(UInt32.max) / UInt64(BallotChunk.voterCount)
        columns.require(fit: ballots.count > 0 && chunk <= greatest)
    }
}

/// The ballots of 1024 voters with consecutive numbers on one post, as one row keeps them.
///
/// Fewer than 128: two bytes each, the voter's place times four plus the direction, in the order of
/// places. Otherwise 256 bytes, two bits a voter.
struct BallotChunk: PackedColumn {
    static let voterCount = 1_024
    /// From so many on, bits take less than numbers.
    private static let sparseLimit = 128
    private static let denseByteCount = voterCount / 4

    /// The raw direction at each place; 0 is none.
    private var directions = [UInt8](repeating: 0, count: voterCount)
    /// The places that have a ballot, a bit each: most rows have few.
    private var words: [16 of UInt64] = .init(repeating: 0)
    private(set) var count = 0

    static func number(_ voter: VoterID) -> UInt32 { voter.rawValue / UInt32(voterCount) }

    static func place(_ voter: VoterID) -> Int { Int(voter.rawValue) % voterCount }

    /// The ballot at a place; nil where none stands.
    subscript(place: Int) -> VoteDirection? {
        get { VoteDirection(rawValue: directions[place]) }
        set {
            let new = newValue?.rawValue ?? 0
            count += (new == 0 ? 0 : 1) - (directions[place] == 0 ? 0 : 1)
            set(place, new)
        }
    }

    mutating func clear() {
        for index in words.indices {
            while words[index] != 0 { set(index * 64 + words[index].trailingZeroBitCount, 0) }
        }
        count = 0
    }

    /// Calls `body` with each ballot, in the order of places; O(ballots).
    func visit(_ body: (Int, VoteDirection) -> Void) {
        for index in words.indices {
            var rest = words[index]
            while rest != 0 {
                let place = index * 64 + rest.trailingZeroBitCount
                if let direction = self[place] { body(place, direction) }
                rest &= rest - 1
            }
        }
    }

    private mutating func set(_ place: Int, _ direction: UInt8) {
        directions[place] = direction
        let bit: UInt64 = 1 << UInt64(place & 63)
        if direction == 0 { words[place >> 6] &= ~bit } else { words[place >> 6] |= bit }
    }

    mutating func read(_ bytes: Span<UInt8>) -> Bool {
        clear()
        if bytes.count == Self.denseByteCount {
            for place in directions.indices {
                let bits = bytes[place / 4] >> UInt8(place % 4 * 2) & 3
                if bits == VoteDirection.clear.rawValue { return false }
                set(place, bits)
                count += bits == 0 ? 0 : 1
            }
            return count >= Self.sparseLimit
        }
        guard bytes.count < Self.denseByteCount, bytes.count % 2 == 0 else { return false }
        var next = 0
        for offset in stride(from: 0, to: bytes.count, by: 2) {
            let number = Int(bytes[offset]) | Int(bytes[offset + 1]) << 8
            let place = number >> 2
            let bits = UInt8(number & 3)
            guard place >= next, place < Self.voterCount, bits == 1 || bits == 2 else {
                return false
            }
            set(place, bits)
            count += 1
            next = place + 1
        }
        return true
    }

    func write(into bytes: inout [UInt8]) {
        bytes.removeAll(keepingCapacity: true)
        guard count < Self.sparseLimit else {
            for place in stride(from: 0, to: Self.voterCount, by: 4) {
                var byte: UInt8 = 0
                for voter in 0..<4 { byte |= directions[place + voter] << UInt8(2 * voter) }
                bytes.append(byte)
            }
            return
        }
        visit { place, direction in
            let number = place << 2 | Int(direction.rawValue)
            bytes.append(UInt8(truncatingIfNeeded: number))
            bytes.append(UInt8(truncatingIfNeeded: number >> 8))
        }
    }
}
