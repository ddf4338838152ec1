import FeedRanking
import FeedSQLite

/// Reads the tables, each row once, and adds up what they come to.
struct StateLoader {
    /// What takes an effect, with the table and the row that it is of.
    typealias Body = (Effect, StateTable, () -> String) throws(StateError) -> Void

    let database: Database

    /// What the rows of each table should come to.
    private let expected: [TableTotals]

    /// What the rows read so far come to.
    private(set) var found: [TableTotals]

    /// Reads with this connection.
    init(_ database: Database, _ totals: [TableTotals]) {
        self.database = database
        expected = totals
        found = [TableTotals](repeating: TableTotals(), count: totals.count)
    }

    /// All rows that there are to read.
    var totalRowCount: UInt64 { expected.reduce(0) { $0 &+ $1.rowCount } }

    /// All rows that were read.
    var rowCount: UInt64 { found.reduce(0) { $0 &+ $1.rowCount } }

    /// Notes a row.
    mutating func add(_ sum: UInt64, to table: StateTable) {
        found[table.rawValue].replace(nil, by: sum)
    }

    /// A statement to go through.
    func rows(_ sql: String) throws(StateError) -> Statement {
        try databaseErrors { () throws(SQLiteError) in try database.prepare(sql) }
    }

    /// Reads the feeds.
    mutating func feeds(_ body: Body) throws(StateError) {
        let row = try rows(FeedRow.all)
        while try row.next() {
            let (id, policy, sum) = try FeedRow.read(row)
            add(sum, to: .feeds)
            try body(.feed(id, policy), .feeds) { "row \(id.rawValue)" }
        }
    }

    /// Reads the voters.
    mutating func voters(_ body: Body) throws(StateError) {
        let row = try rows(VoterRow.all)
        while try row.next() {
            let (voter, device, sum) = try VoterRow.read(row)
            add(sum, to: .voters)
            try body(.voter(voter, device: device), .voters) { "row \(voter.rawValue)" }
        }
    }

    /// Reads the channels.
    mutating func channels(
        _ body: (ChannelState, [ChannelOutcome]) -> Void
    ) throws(StateError) {
        let row = try rows(ChannelRow.all)
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
