import FeedSQLite

/// The highest account number that was skipped, in the one row of `account_numbers`.
///
/// A start that skips numbers writes it (``SkippedNumbers``). Until then a file has no such table.
enum AccountNumbers {
    private static let tableName = "account_numbers"

    /// The number; 0 where none was skipped.
    static func read(_ database: Database) throws(StateError) -> UInt64 {
        let hasTable = try databaseErrors { () throws(SQLiteError) in
            try database.prepare(
                "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = '\(tableName)'"
            ).step()
        }
        guard hasTable else { return 0 }
        let found = try databaseErrors {
            () throws(SQLiteError) -> (skipped: UInt64, sum: UInt64)? in
            let row = try database.prepare("SELECT skipped, sum FROM \(tableName)")
            return try row.step() ? (row.uint64(0), row.uint64(1)) : nil
        }
        guard let found else { throw damaged("it has no row") }
        guard found.sum == sum(found.skipped) else {
            throw damaged("the checksum does not fit the row")
        }
        return found.skipped
    }

    /// Writes the row in place of the one that is there; makes the table where a file has none.
    static func write(_ skipped: UInt64, _ database: Database) throws(SQLiteError) {
        try database.execute(
            """
            CREATE TABLE IF NOT EXISTS \(tableName) (
                id INTEGER PRIMARY KEY CHECK (id = 1), skipped INTEGER NOT NULL,
                sum INTEGER NOT NULL
            ) STRICT
            """
        )
        let row = try database.prepare("INSERT OR REPLACE INTO \(tableName) VALUES (1, ?, ?)")
        try row.bind(skipped, at: 1)
        try row.bind(sum(skipped), at: 2)
        try row.run()
    }

    private static func damaged(_ reason: String) -> StateError {
        .damaged(table: tableName, key: "the only row", reason: reason)
    }

    private static func sum(_ skipped: UInt64) -> UInt64 {
        var sum = RowSum(seed: 0x6163_636F_756E_7473)
        sum.add([skipped])
        return sum.value
    }
}
