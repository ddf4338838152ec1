import FeedRanking

/// The ballots that have changed, in the rows of `ballots` that a checkpoint writes them into.
///
/// A ballot is appended with the number of its row, which open addressing finds by the post and the
/// chunk. An earlier ballot of the same voter stays before it, as looking for it would wait for memory
/// at each ballot; commit batches have bounded bytes, and so do the ballots. Before a checkpoint the
/// ballots are put together by their rows, in their order (``sortPiece()``). Ballots wait until there
/// are 64, or for ``flush()``: as in ``CountsTable``, all their places are looked at before the first
/// is written, and then all their rows, so that the waits for memory overlap.
struct PendingBallots {
    /// A row of `ballots`: the ballots of one chunk of voters on one post.
    struct ChunkRow {
        let post: UInt64
        let chunk: UInt32
        /// The row of the same post that came before.
        fileprivate let previous: Int32
        fileprivate var count: Int32 = 0
        /// Where the row's ballots end among the sorted ones, as far as they are sorted.
        fileprivate var end: Int32 = 0
    }

    private static let free: Int32 = -1
    private static let pieceCount = 8_192

    private var rows: [ChunkRow] = []
    /// The row of a post and a chunk; as many places as a power of two, at most five eighths used.
    private var rowPlaces = HashedPlaces()
    /// The row of a post that came last; the same.
    private var lastOfPost = HashedPlaces()
    private var rowOfBallot: [Int32] = []
    /// Each ballot: the voter's place in the chunk times 4, plus the direction; 0 where none stands.
    private var ballots: [UInt16] = []

    private var waiting = [(post: UInt64, voter: VoterID, direction: UInt8)](
        repeating: (0, VoterID(rawValue: 0), 0),
        count: 64
    )
    private var waitingCount = 0
    /// The row at the place where the search for the row of each ballot that waits begins.
    private var firstRows = [Int32](repeating: free, count: 64)
    /// Keeps the compiler from removing the loads.
    private var looks: Int32 = 0
    /// The ballots of all rows, row by row.
    private var sorted: [UInt16] = []
    private var sortedCount = 0

    /// Keeps a ballot, or that none stands any more, from the next flush on; O(1).
    @inline(__always)
    mutating func set(_ post: PostID, _ voter: VoterID, _ direction: VoteDirection?) {
        waiting[waitingCount] = (post.rawValue, voter, direction?.rawValue ?? 0)
        waitingCount += 1
        if waitingCount == waiting.count { flush() }
    }

    mutating func flush() {
        guard waitingCount > 0 else { return }
        reserve(waitingCount)
        for index in 0..<waitingCount {
            let chunk = BallotChunk.number(waiting[index].voter)
            firstRows[index] = rowPlaces.first(Self.hash(waiting[index].post, chunk))
        }
        for index in 0..<waitingCount where firstRows[index] != Self.free {
            looks &+= rows[Int(firstRows[index])].count
        }
        for index in 0..<waitingCount {
            let (post, voter, direction) = waiting[index]
            let row = row(post, BallotChunk.number(voter))
            rows[Int(row)].count += 1
            rowOfBallot.append(row)
            ballots.append(UInt16(BallotChunk.place(voter)) << 2 | UInt16(direction))
        }
        waitingCount = 0
    }

    private mutating func row(_ post: UInt64, _ chunk: UInt32) -> Int32 {
        let place = rowPlaces.place(Self.hash(post, chunk)) { row in
            rows[row].post == post && rows[row].chunk == chunk
        }
        let known = rowPlaces[place]
        guard known == Self.free else { return known }
        let number = Int32(rows.count)
        let last = lastOfPost.place(Self.hash(post)) { rows[$0].post == post }
        rows.append(ChunkRow(post: post, chunk: chunk, previous: lastOfPost[last]))
        rowPlaces.set(place, to: number)
        lastOfPost.set(last, to: number)
        return number
    }

    /// Whether all ballots are sorted, so that rows may be read.
    var isSorted: Bool { sortedCount == ballots.count }

    /// Sorts a piece of the ballots by their rows, once flushed; nothing is added afterwards.
    ///
    /// O(1) for each of 8,192 ballots; the first piece, O(rows).
    mutating func sortPiece() {
        if sortedCount == 0 { beginSorting() }
        let end = min(sortedCount + Self.pieceCount, ballots.count)
        for index in sortedCount..<end {
            let row = Int(rowOfBallot[index])
            sorted[Int(rows[row].end)] = ballots[index]
            rows[row].end += 1
        }
        sortedCount = end
    }

    private mutating func beginSorting() {
        var start: Int32 = 0
        for index in rows.indices {
            rows[index].end = start
            start += rows[index].count
        }
        sorted = [UInt16](repeating: 0, count: ballots.count)
    }

    /// Fills the array with a post's rows, in the order of chunks; O(k log k).
    func rows(of post: UInt64, into found: inout [ChunkRow]) {
        found.removeAll(keepingCapacity: true)
        guard !rows.isEmpty else { return }
        var number = lastOfPost[lastOfPost.place(Self.hash(post)) { rows[$0].post == post }]
        while number != Self.free {
            found.append(rows[Int(number)])
            number = rows[Int(number)].previous
        }
        found.sort { $0.chunk < $1.chunk }
    }

    /// Changes a chunk by the ballots of its row, once sorted, in their order; O(ballots).
    func change(_ chunk: inout BallotChunk, by row: ChunkRow) {
        for index in Int(row.end - row.count)..<Int(row.end) {
            let ballot = sorted[index]
            chunk[Int(ballot >> 2)] = VoteDirection(rawValue: UInt8(ballot & 3))
        }
    }

    var byteCount: Int {
        rowOfBallot.capacity * 4 + ballots.capacity * 2 + ballots.count * 2
            + rows.capacity * MemoryLayout<ChunkRow>.stride
            + rowPlaces.byteCount + lastOfPost.byteCount
    }

    private mutating func reserve(_ count: Int) {
        if rowPlaces.mustGrow(for: rows.count + count) {
            rowPlaces.grow(for: rows.count + count)
            for index in rows.indices {
                let hash = Self.hash(rows[index].post, rows[index].chunk)
                rowPlaces.set(rowPlaces.place(hash) { _ in false }, to: Int32(index))
            }
        }
        if lastOfPost.mustGrow(for: lastOfPost.usedCount + count) {
            lastOfPost.grow(for: lastOfPost.usedCount + count)
            // Later rows of a post come behind earlier ones, so the last one stays.
            for index in rows.indices {
                let post = rows[index].post
                let place = lastOfPost.place(Self.hash(post)) { rows[$0].post == post }
                lastOfPost.set(place, to: Int32(index))
            }
        }
    }

    @inline(__always)
    private static func hash(_ post: UInt64, _ chunk: UInt32) -> UInt64 {
        hash(post &+ UInt64(chunk) &* 0xD6E8_FEB8_6659_FD93)
    }

    @inline(__always)
    private static func hash(_ number: UInt64) -> UInt64 {
        // Fibonacci hashing: the high bits of the product depend on all bits of the number.
        (number ^ number >> 32) &* 0x9E37_79B9_7F4A_7C15
    }
}

/// Numbers of entries, found by the high bits of a hash; open addressing in places of 4 bytes.
private struct HashedPlaces {
    private static let minimumCapacity = 1_024
    private static let free: Int32 = -1

    private var numbers: [Int32] = []
    private var shift: UInt64 = 64
    private(set) var usedCount = 0

    /// The number at a place; -1 is free.
    subscript(place: Int) -> Int32 {
        @inline(__always) get { numbers[place] }
    }

    /// The number at the place where a search begins.
    @inline(__always)
    func first(_ hash: UInt64) -> Int32 { numbers[Int(truncatingIfNeeded: hash >> shift)] }

    /// The place of the entry that is meant, or the free one that it would take.
    @inline(__always)
    func place(_ hash: UInt64, isMeant: (Int) -> Bool) -> Int {
        var place = Int(truncatingIfNeeded: hash >> shift)
        while numbers[place] != Self.free, !isMeant(Int(numbers[place])) {
            place = (place &+ 1) & (numbers.count - 1)
        }
        return place
    }

    @inline(__always)
    mutating func set(_ place: Int, to number: Int32) {
        if numbers[place] == Self.free { usedCount += 1 }
        numbers[place] = number
    }

    func mustGrow(for count: Int) -> Bool { count * 8 > numbers.count * 5 }

    mutating func grow(for count: Int) {
        var capacity = max(Self.minimumCapacity, numbers.count * 2)
        while count * 8 > capacity * 5 { capacity *= 2 }
        numbers = [Int32](repeating: Self.free, count: capacity)
        shift = UInt64(64 - capacity.trailingZeroBitCount)
        usedCount = 0
    }

    var byteCount: Int { numbers.count * 4 }
}
