import CSQLite

extension Database {
    /// Whether a transaction is open.
    package var isInTransaction: Bool { unsafe sqlite3_get_autocommit(connection) == 0 }

    /// Calls `body` in a transaction, which is undone when it throws; durable on return.
    package func transaction<Result>(
        _ body: () throws(SQLiteError) -> Result
    ) throws(SQLiteError) -> Result {
        try execute("BEGIN IMMEDIATE")
        do {
            let result = try body()
            try execute("COMMIT")
            return result
        } catch {
            // Some errors have undone it already; the one to report is the first.
            if isInTransaction { try? execute("ROLLBACK") }
            throw error
        }
    }

    /// Runs a log checkpoint: moves SQLite's log into the file, durably, and empties the log.
    package func checkpointLog() throws(SQLiteError) {
        try check(
            unsafe sqlite3_wal_checkpoint_v2(
                connection,
                nil,
                SQLITE_CHECKPOINT_TRUNCATE,
                nil,
                nil
            ),
            "checkpoint \(path)"
        )
    }
}
