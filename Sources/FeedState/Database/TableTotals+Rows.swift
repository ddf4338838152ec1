import FeedSQLite

/// The rows of `totals`.
extension TableTotals {
    /// Reads the totals of all tables of a file; those that its format lacks have no rows.
    static func readAll(
        _ database: Database,
        format: Int64
    ) throws(StateError) -> [TableTotals] {
        let row = try databaseErrors { () throws(SQLiteError) in
            try database.prepare("SELECT name, row_count, sum_of_sums, sum FROM totals")
        }
        var totals = [TableTotals?](repeating: nil, count: StateTable.allCases.count)
        while try databaseErrors({ () throws(SQLiteError) in try row.step() }) {
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

    /// Writes the totals that are not what they were.
    static func write(
        _ totals: [TableTotals],
        over old: [TableTotals]?,
        _ database: Database
    ) throws(SQLiteError) {
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
    static func rewrite(
        _ totals: [TableTotals],
        _ database: Database
    ) throws(SQLiteError) {
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

    private static func damagedTotals(_ name: String, _ reason: String) -> StateError {
        .damaged(table: "totals", key: "row \(name)", reason: reason)
    }
}
