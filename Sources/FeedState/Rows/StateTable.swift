import FeedLog
import FeedRanking
import FeedSQLite

/// The tables of rows.
///
/// Their numbers are seeds of the checksums on disk, and their names are those of the file. So a table keeps
/// both for ever, and a new one comes last.
enum StateTable: Int, CaseIterable, Sendable {
    case posts = 0
    case counts
    case ballots
    case voters
    case feeds
    case channels
    case userVoters
    case accounts
    case sessions
    case marks
    case markThroughs
    case deletions

    var name: String {
        switch self {
        case .posts: "posts"
        case .counts: "counts"
        case .ballots: "ballots"
        case .voters: "voters"
        case .feeds: "feeds"
        case .channels: "channels"
        case .userVoters: "user_voters"
        case .accounts: "accounts"
        case .sessions: "sessions"
        case .marks: "marks"
        case .markThroughs: "mark_throughs"
        case .deletions: "deletions"
        }
    }

    /// Format 2 has added users that vote, accounts, sessions, marks, deletions, and who wrote a post.
    var firstFormat: Int64 { rawValue <= StateTable.channels.rawValue ? 1 : 2 }

    /// The rows of all tables, in the order in which a new file gets the tables.
    static var rows: [any StateRow.Type] {
        [
            FeedRow.self, PostRow.self, CountsRow.self, VoterRow.self, BallotRow.self,
            ChannelRow.self, UserVoterRow.self, AccountsRow.self, SessionsRow.self, MarkRow.self,
            MarkThroughRow.self, DeletionRow.self,
        ]
    }

    /// The rows that make log entries, in an order in which none comes before what it refers to; those
    /// of posts have counts and ballots with them.
    static var loadedRows: [any StateRow.Type] {
        [
            FeedRow.self, VoterRow.self, UserVoterRow.self, AccountsRow.self, SessionsRow.self,
            PostRow.self, DeletionRow.self, MarkRow.self, MarkThroughRow.self,
        ]
    }

    static func tables(of format: Int64) -> [StateTable] {
        allCases.filter { $0.firstFormat <= format }
    }
}

protocol StateRow: DescribedRow {
    static var table: StateTable { get }

    /// Calls `body` with the log entries that put the row back, where it makes some by itself.
    func visitEntries(_ body: (LogEntry) -> Void)

    static func load(with loader: inout StateLoader) throws(StorageError)
}

extension StateRow {
    static var tableName: String { table.name }
    static var seed: UInt64 { UInt64(table.rawValue) }

    func visitEntries(_ body: (LogEntry) -> Void) {}

    static func load(with loader: inout StateLoader) throws(StorageError) {
        try loader.loadRows(Self.self)
    }
}

/// A row that log entries give a new value, and that is written as a whole (``PendingRows``).
protocol PendingRow: StateRow {
    associatedtype Key: Hashable

    /// What tells it from others of its table.
    var key: Key { get }

    var textByteCount: Int { get }

    /// Whether it is taken where another one of its key is there, or was checkpointed.
    func replaces(_ old: Self) -> Bool
}

extension PendingRow {
    var textByteCount: Int { 0 }
    func replaces(_ old: Self) -> Bool { true }
}

extension LogEntry {
    func damagedRow(_ reason: String) -> StorageError {
        switch self {
        case .feed(let feed, _): FeedRow.damaged("row \(feed.rawValue)", reason)
        case .voter(let voter, _): VoterRow.damaged("row \(voter.rawValue)", reason)
        case .post(let post): PostRow.damaged("row \(post.counts.id.rawValue)", reason)
        case .ballot(let counts, let voter, _):
            BallotRow.damaged("voter \(voter) of \(counts.id.rawValue)", reason)
        case .userVoter(let voter, _): UserVoterRow.damaged("row \(voter.rawValue)", reason)
        case .marks(let marks):
            MarkRow.damaged("post \(marks.post) of \(marks.viewer.rawValue)", reason)
        case .deletion(let id, _): DeletionRow.damaged("post \(id.rawValue)", reason)
        case .markThrough(let mark):
            MarkThroughRow.damaged("viewer \(mark.viewer.rawValue)", reason)
        case .counts(let counts): CountsRow.damaged("post \(counts.id.rawValue)", reason)
        case .account: AccountsRow.damaged("an account", reason)
        case .session, .sessionEnded, .sessionsEnded: SessionsRow.damaged("a session", reason)
        case .channel, .outcome, .evictedChannel: ChannelRow.damaged("a channel", reason)
        case .counters: PostRow.damaged("the counters", reason)
        }
    }
}

/// The statements that read and write rows, prepared once for a connection.
struct RowStatements {
    struct Table {
        let upsert: Statement
        let one: Statement
        let sum: Statement
        let delete: Statement

        fileprivate init(_ table: TableDescription, _ database: Database) throws(StorageError) {
            upsert = try database.prepare(table.upsert)
            one = try database.prepare(table.selectOne)
            sum = try database.prepare(table.selectSums())
            delete = try database.prepare(table.delete())
        }
    }

    /// Those that give the checksums of some rows, and delete these.
    typealias Rows = (sums: Statement, delete: Statement)

    private let tables: [Table]
    let ballotsOfPost: Rows
    let sessionsBelow: Rows
    let deletionsThrough: Statement
    let oldestDeletions: Statement
    let deletionsFloor: (one: Statement, delete: Statement)

    init(_ database: Database) throws(StorageError) {
        func rows(_ table: TableDescription, where condition: String) throws(StorageError) -> Rows {
            (
                try database.prepare(table.selectSums(where: condition)),
                try database.prepare(table.delete(where: condition))
            )
        }
        var tables: [Table] = []
        for row in StateTable.rows.sorted(by: { $0.table.rawValue < $1.table.rawValue }) {
            tables.append(try Table(TableDescription(row), database))
        }
        self.tables = tables
        ballotsOfPost = try rows(TableDescription(BallotRow.self), where: "post = ?")
        sessionsBelow = try rows(
            TableDescription(SessionsRow.self),
            where: "user = ? AND generation < ?"
        )
        let deletions = TableDescription(DeletionRow.self)
        deletionsThrough = try database.prepare(
            deletions.delete(where: "kind = 1 AND revision <= ?")
        )
        oldestDeletions = try database.prepare(
            "SELECT revision, time, sum FROM deletions WHERE kind = 1 ORDER BY revision LIMIT ?"
        )
        deletionsFloor = (
            try database.prepare(DeletionRow.floor),
            try database.prepare(deletions.delete(where: "kind = 0"))
        )
    }

    subscript(table: StateTable) -> Table { tables[table.rawValue] }
}

/// The count of a table's rows and the sum of their checksums: they find a row that is gone or came
/// back, which the checksums of rows cannot find.
struct TableTotals: Equatable {
    var rowCount: UInt64 = 0
    /// Their checksums, added up without carry.
    var sumOfSums: UInt64 = 0

    /// A row goes, comes or changes; nil where there is none.
    mutating func replace(_ old: UInt64?, by new: UInt64?) {
        if let old {
            rowCount &-= 1
            sumOfSums &-= old
        }
        if let new {
            rowCount &+= 1
            sumOfSums &+= new
        }
    }
}

extension [TableTotals] {
    var rowCount: UInt64 { reduce(0) { $0 &+ $1.rowCount } }
}

extension TableTotals {
    static let creation = """
        CREATE TABLE totals (
            name TEXT PRIMARY KEY, row_count INTEGER NOT NULL, sum_of_sums INTEGER NOT NULL,
            sum INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID
        """

    /// Reads the totals of all tables of a file; those that its format lacks have no rows.
    static func readAll(_ database: Database, format: Int64) throws(StorageError) -> [TableTotals] {
        let row = try database.prepare("SELECT name, row_count, sum_of_sums, sum FROM totals")
        var totals = [TableTotals?](repeating: nil, count: StateTable.allCases.count)
        while try row.step() {
            let name = row.text(0) ?? ""
            guard let table = StateTable.allCases.first(where: { $0.name == name }) else {
                throw damagedTotals(name, "there is no such table")
            }
            let found = TableTotals(rowCount: row.uint64(1), sumOfSums: row.uint64(2))
            guard row.uint64(3) == sum(found, table) else {
                throw damagedTotals(name, "the checksum does not fit the row")
            }
            totals[table.rawValue] = found
        }
        for table in StateTable.tables(of: format) where totals[table.rawValue] == nil {
            throw damagedTotals(table.name, "the row is missing")
        }
        return totals.map { $0 ?? TableTotals() }
    }

    static func write(
        _ totals: [TableTotals],
        over old: [TableTotals]?,
        _ database: Database
    ) throws(StorageError) {
        let row = try database.prepare("INSERT OR REPLACE INTO totals VALUES (?, ?, ?, ?)")
        for table in StateTable.allCases where totals[table.rawValue] != old?[table.rawValue] {
            let total = totals[table.rawValue]
            try row.bind(table.name, at: 1)
            try row.bind(total.rowCount, at: 2)
            try row.bind(total.sumOfSums, at: 3)
            try row.bind(sum(total, table), at: 4)
            try row.run()
        }
    }

    /// Writes all totals anew, also those that are what they were.
    ///
    /// SQLite does not log a page that is what it was. So the log has the totals wherever it has the
    /// meta. If a person puts another `state.db` beside the log of this one, its rows do not agree
    /// with these totals, and a start notices.
    static func rewrite(_ totals: [TableTotals], _ database: Database) throws(StorageError) {
        try database.execute("DELETE FROM totals")
        try write(totals, over: nil, database)
    }

    /// The statement that adds the totals of a table without rows.
    static func insertion(of table: StateTable) -> String {
        let sum = Int64(bitPattern: sum(TableTotals(), table))
        return "INSERT INTO totals VALUES ('\(table.name)', 0, 0, \(sum))"
    }

    private static func sum(_ totals: TableTotals, _ table: StateTable) -> UInt64 {
        var sum = RowSum(seed: 0x746F_7461_6C73)
        sum.add([UInt64(table.rawValue), totals.rowCount, totals.sumOfSums])
        return sum.value
    }

    private static func damagedTotals(_ name: String, _ reason: String) -> StorageError {
        .damagedRow(table: "totals", key: "row \(name)", reason: reason)
    }
}
