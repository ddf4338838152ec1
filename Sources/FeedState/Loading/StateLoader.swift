import FeedLog
import FeedRanking
import FeedSQLite

/// Reads the tables, each row once, and adds up their totals.
struct StateLoader {
    let database: Database
    /// The file's format, which says which tables it has.
    let format: Int64

    /// The totals that each table should have.
    private let expected: [TableTotals]

    /// The totals of the rows read so far.
    private var found: [TableTotals]

    /// What was read and not sent.
    private var rows = LoadedRows()
    /// Takes what was read; false where no more is wanted.
    private let send: (LoadedRows) -> Bool
    private(set) var isWanted = true

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

    /// Notes a row.
    mutating func add(_ sum: UInt64, to table: StateTable) {
        found[table.rawValue].replace(nil, by: sum)
    }

    /// A statement to go through.
    func statement(_ sql: String) throws(StateError) -> Statement {
        try databaseErrors { () throws(SQLiteError) in try database.prepare(sql) }
    }

    /// Reads all tables but the channels, and sends their rows.
    ///
    /// Where a row is damaged, those before it are sent first.
    mutating func readAll() throws(StateError) {
        defer { sendRows() }
        try feeds()
        try voters()
        if format >= 2 {
            try userVoters()
            try accounts()
        }
        try posts()
        if format >= 2 {
            try deletions()
            try marks()
        }
    }

    /// Sends a log entry together with others.
    mutating func give(_ entry: LogEntry) {
        rows.append(entry)
        if rows.isFull { sendRows() }
    }

    private mutating func sendRows() {
        rows.found = found
        isWanted = isWanted && send(rows)
        rows = LoadedRows()
    }

    private mutating func feeds() throws(StateError) {
        let row = try statement(FeedRow.all)
        while isWanted, try row.next() {
            let (id, policy, sum) = try FeedRow.read(row)
            add(sum, to: .feeds)
            give(.feed(id, policy))
        }
    }

    private mutating func voters() throws(StateError) {
        let row = try statement(VoterRow.all)
        while isWanted, try row.next() {
            let (voter, device, sum) = try VoterRow.read(row)
            add(sum, to: .voters)
            give(.voter(voter, device: device))
        }
    }

    /// Reads the channels.
    mutating func channels(
        _ body: (ChannelState, [ChannelOutcome]) -> Void
    ) throws(StateError) {
        let row = try statement(ChannelRow.all)
        var ring = OutcomeRing()
        while try row.next() {
            let (channel, sum) = try ChannelRow.read(row, into: &ring)
            add(sum, to: .channels)
            body(channel, ring.outcomes)
        }
    }

    /// Throws where a table has rows too few or too many, or one of another time.
    func checkTotals() throws(StateError) {
        for table in StateTable.allCases {
            let found = found[table.rawValue]
            let expected = expected[table.rawValue]
            guard found.rowCount == expected.rowCount else {
                throw table.damaged(
                    "all rows",
                    "there are \(found.rowCount), and there should be \(expected.rowCount)"
                )
            }
            guard found == expected else {
                throw table.damaged("all rows", "one of them is of another time than the others")
            }
        }
    }
}

extension Statement {
    /// Goes to the next row; false when there is none.
    func next() throws(StateError) -> Bool {
        do {
            return try step()
        } catch {
            throw .database(error)
        }
    }
}
