import FeedAccounts
import FeedLog
import FeedRanking
import FeedSQLite

/// Reads the tables, each row once, and adds up their totals.
struct StateLoader {
    private let database: Database
    /// The file's format, which says which tables it has.
    private let format: Int64
    private let expected: [TableTotals]
    private var found: [TableTotals]
    private var rows = LoadedRows()
    /// Takes what was read; false where no more is wanted.
    private let send: (LoadedRows) -> Bool
    private var isWanted = true

    /// Reads with this connection, after another loader has read the rows of `found`.
    init(
        _ database: Database,
        _ totals: [TableTotals],
        format: Int64,
        found: [TableTotals]? = nil,
        send: @escaping (LoadedRows) -> Bool = { _ in true }
    ) {
        self.database = database
        self.format = format
        self.send = send
        expected = totals
        self.found = found ?? [TableTotals](repeating: TableTotals(), count: totals.count)
    }

    mutating func add(_ sum: UInt64, to table: StateTable) {
        found[table.rawValue].replace(nil, by: sum)
    }

    private func allRows<Row: StateRow>(of _: Row.Type) throws(StorageError) -> Statement {
        try database.prepare(TableDescription(Row.self).selectAll(of: format))
    }

    /// Reads all tables but the channels, and sends their rows.
    ///
    /// Where a row is damaged, those before it are sent first.
    mutating func loadAll() throws(StorageError) {
        defer { sendRows() }
        for row in StateTable.loadedRows where row.table.firstFormat <= format {
            try row.load(with: &self)
        }
    }

    mutating func loadRows<Row: StateRow>(_: Row.Type) throws(StorageError) {
        let statement = try allRows(of: Row.self)
        var row = Row()
        while isWanted, try statement.step() {
            add(try row.read(statement), to: Row.table)
            row.visitEntries { give($0) }
        }
    }

    mutating func give(_ entry: LogEntry) {
        rows.append(entry)
        if rows.isFull { sendRows() }
    }

    private mutating func sendRows() {
        rows.found = found
        isWanted = isWanted && send(rows)
        rows = LoadedRows()
    }

    mutating func loadChannels(
        _ body: (ChannelState, [ChannelOutcome]) -> Void
    ) throws(StorageError) {
        let statement = try allRows(of: ChannelRow.self)
        var row = ChannelRow()
        while try statement.step() {
            add(try row.read(statement), to: .channels)
            body(row.channel, row.ring.outcomes)
        }
    }

    /// Throws where a table has rows too few or too many, or one of another time.
    func checkTotals() throws(StorageError) {
        for table in StateTable.allCases {
            let found = found[table.rawValue]
            let expected = expected[table.rawValue]
            func damaged(_ reason: String) -> StorageError {
                .damagedRow(table: table.name, key: "all rows", reason: reason)
            }
            guard found.rowCount == expected.rowCount else {
                let (count, wanted) = (found.rowCount, expected.rowCount)
                throw damaged("there are \(count), and there should be \(wanted)")
            }
            guard found == expected else {
                throw damaged("one of them is of another time than the others")
            }
        }
    }
}

extension StateLoader {
    /// Reads posts, counts and ballots side by side, each in the order of posts.
    ///
    /// A post without counts, counts without a post and ballots without a post are damage.
    mutating func loadPosts() throws(StorageError) {
        let statement = try allRows(of: PostRow.self)
        var counts = CountsCursor(try allRows(of: CountsRow.self))
        var ballots = BallotCursor(try allRows(of: BallotRow.self))
        var last: UInt64 = 0
        try ballots.next(&self)
        while isWanted, try statement.step() {
            let id = statement.uint64(0)
            guard id > last else {
                throw PostRow.damaged("row \(id)", "it comes after row \(last)")
            }
            last = id
            let votes = try counts.entry(of: id, &self)
            var row = PostRow()
            add(try row.read(statement), to: .posts)
            row.post.counts = votes.counts(of: row.post.counts.id)
            let of = row.post.counts
            // Its texts are moved, not copied.
            give(.post((consume row).post))
            while ballots.post == id {
                ballots.visit { voter, direction in give(.ballot(of, voter, direction)) }
                try ballots.next(&self)
            }
            try ballots.check(isBehind: id)
        }
        try counts.finish(&self)
        try ballots.check(isBehind: .max)
    }
}

private struct CountsCursor {
    private let statement: Statement
    private var row = CountsRow()
    private var number: UInt64?
    /// The place after the last post that was asked for.
    private var next = CountsChunk.postCount

    init(_ statement: Statement) {
        self.statement = statement
    }

    /// The counts of a post, which comes after the last one; no other post has counts in between.
    mutating func entry(
        of id: UInt64,
        _ loader: inout StateLoader
    ) throws(StorageError) -> CountsChunk.Entry {
        let wanted = CountsChunk.number(id)
        while number != wanted {
            try finishChunk()
            guard try advance(&loader), let number, number <= wanted else {
                throw PostRow.damaged("row \(id)", "there are no counts of it")
            }
        }
        let place = CountsChunk.place(id)
        try check(next..<place)
        next = place + 1
        guard row.counts[place].revision != 0 else {
            throw PostRow.damaged("row \(id)", "there are no counts of it")
        }
        return row.counts[place]
    }

    /// Throws where counts are left, of posts that are not there.
    mutating func finish(_ loader: inout StateLoader) throws(StorageError) {
        repeat { try finishChunk() } while try advance(&loader)
    }

    private mutating func advance(_ loader: inout StateLoader) throws(StorageError) -> Bool {
        guard try statement.step() else { return false }
        loader.add(try row.read(statement), to: .counts)
        let new = row.chunk
        if let number, new <= number {
            throw CountsRow.damaged("row \(new)", "it comes after row \(number)")
        }
        number = new
        next = 0
        return true
    }

    private func finishChunk() throws(StorageError) {
        try check(next..<CountsChunk.postCount)
    }

    private func check(_ places: Range<Int>) throws(StorageError) {
        for place in places where row.counts[place].revision != 0 {
            let id = (number ?? 0) * UInt64(CountsChunk.postCount) + UInt64(place)
            throw CountsRow.damaged(
                "row \(number ?? 0)",
                "it has counts of post \(id), which is not there"
            )
        }
    }
}

private struct BallotCursor {
    private let statement: Statement
    private var row = BallotRow()
    /// The post whose ballots are at hand; nil after the last.
    private(set) var post: UInt64?

    init(_ statement: Statement) {
        self.statement = statement
    }

    mutating func next(_ loader: inout StateLoader) throws(StorageError) {
        guard try statement.step() else {
            post = nil
            return
        }
        loader.add(try row.read(statement), to: .ballots)
        post = row.post
    }

    func visit(_ body: (VoterID, VoteDirection) -> Void) {
        let first = UInt32(row.chunk) * UInt32(BallotChunk.voterCount)
        row.ballots.visit { place, direction in
            body(VoterID(rawValue: first + UInt32(place)), direction)
        }
    }

    /// Throws where the row is of a post up to this one, which should have been read with it.
    func check(isBehind id: UInt64) throws(StorageError) {
        guard let post, post < id else { return }
        throw BallotRow.damaged("row (\(post), \(row.chunk))", "post \(post) is not there")
    }
}

/// Rows that were read and checked ahead of the thread that puts them into the store.
struct LoadedRows: Sendable {
    /// How many log entries are sent to the other thread at once, and about how many bytes of texts.
    private static let maximumEntryCount = 1024
    private static let maximumTextByteCount = 1 << 20

    /// What the rows hold, in the order of ``StateDatabase/visit(_:_:_:)``.
    private(set) var entries: [LogEntry] = []
    private var textByteCount = 0
    var found: [TableTotals] = []

    init() { entries.reserveCapacity(Self.maximumEntryCount) }

    var isFull: Bool {
        entries.count == Self.maximumEntryCount || textByteCount >= Self.maximumTextByteCount
    }

    mutating func append(_ entry: LogEntry) {
        if case .post(let post) = entry { textByteCount += post.content.textByteCount }
        entries.append(entry)
    }
}
