import FeedSQLite
import FeedTestSupport

/// The rows of a table, as their writer remembers them.
typealias Rows = [Int64: [UInt8]]

/// Changes of some rows that stand or fall together.
struct RandomTransaction {
    private var changes: [(id: Int64, value: [UInt8]?)] = []

    /// Draws up to 20 changes of a few hundred rows; values are short, mostly.
    init(_ generator: inout SeededGenerator) {
        for _ in 0..<Int.random(in: 1...20, using: &generator) {
            let id = Int64.random(in: 0..<300, using: &generator)
            let longest = generator.oneIn(10) ? 9000 : 200
            let byteCount = Int.random(in: 0...longest, using: &generator)
            let value = generator.oneIn(5) ? nil : generator.bytes(byteCount)
            changes.append((id, value))
        }
    }

    /// The rows after it.
    func applied(to rows: Rows) -> Rows {
        var rows = rows
        for (id, value) in changes { rows[id] = value }
        return rows
    }

    /// Makes the changes, in a transaction of the caller's.
    func write(to database: Database) throws(SQLiteError) {
        let insert = try database.prepare("INSERT OR REPLACE INTO t VALUES (?, ?)")
        let delete = try database.prepare("DELETE FROM t WHERE id = ?")
        for (id, value) in changes {
            let statement = value == nil ? delete : insert
            try statement.bind(id, at: 1)
            if let value { try statement.bind(value, at: 2) }
            try statement.run()
        }
    }
}

extension Database {
    /// Makes the table of the rows, and an index that has to agree with it.
    func createRows() throws(SQLiteError) {
        try transaction { () throws(SQLiteError) in
            try execute("CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY, value BLOB)")
            try execute("CREATE INDEX IF NOT EXISTS by_length ON t (length(value))")
        }
    }

    /// All that is in the table.
    func rows() throws(SQLiteError) -> Rows {
        let statement = try prepare("SELECT id, value FROM t")
        var rows: Rows = [:]
        while try statement.step() { rows[statement.int64(0)] = statement.blob(1) }
        return rows
    }
}
