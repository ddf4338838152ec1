import CSQLite

/// A prepared statement: parameters are bound by number from 1, columns read by number from 0.
@safe
package final class Statement {
    /// SQLite's statement, for the files of this folder.
    let handle: OpaquePointer
    private let sql: String

    /// How many columns a row has.
    package let columnCount: Int

    /// Kept, as the statement is of its connection.
    private let database: Database

    /// Takes over the handle.
    init(_ handle: OpaquePointer, _ sql: String, _ database: Database) {
        unsafe self.handle = handle
        self.sql = sql
        self.database = database
        columnCount = Int(unsafe sqlite3_column_count(handle))
    }

    deinit { unsafe sqlite3_finalize(handle) }

    /// Goes to the next row; false when there is none, after which it may be run again.
    package func step() throws(SQLiteError) -> Bool {
        let code = unsafe sqlite3_step(handle)
        switch code {
        case SQLITE_ROW: return true
        case SQLITE_DONE:
            reset()
            return false
        default:
            // The reset gives the code again, and may replace the connection's words for it.
            let error = database.error(code, sql)
            reset()
            throw error
        }
    }

    /// Runs it to its end and ignores its rows.
    ///
    /// It can be bound anew then.
    package func run() throws(SQLiteError) {
        while try step() {}
    }

    /// Leaves the rows that were not read; what is bound stays.
    package func reset() {
        unsafe sqlite3_reset(handle)
    }

    /// Throws where a bind was refused.
    func bound(_ code: Int32, _ index: Int) throws(SQLiteError) {
        guard code != SQLITE_OK else { return }
        throw database.error(code, "bind parameter \(index) of \(sql)")
    }
}

@available(*, unavailable)
extension Statement: Sendable {}
