import FeedSQLite

extension StateDatabase {
    /// Calls `body` in a transaction with a writer, then writes the meta that `body` returns; where
    /// anything fails, nothing has changed.
    func writeStep<Result>(
        _ body: (CheckpointWriter) throws(StateError) -> (Result, StateMeta)
    ) throws(StateError) -> Result {
        let writer = CheckpointWriter(try rowStatements(), totals)
        try databaseErrors { () throws(SQLiteError) in try connection.execute("BEGIN IMMEDIATE") }
        do {
            let (result, changed) = try body(writer)
            try databaseErrors { () throws(SQLiteError) in
                if changed != meta {
                    try TableTotals.rewrite(writer.totals, connection)
                    try changed.write(connection, format: format)
                } else {
                    try TableTotals.write(writer.totals, over: totals, connection)
                }
                let began = ContinuousClock.now
                try connection.execute("COMMIT")
                lastCommitTime = began.duration(to: .now)
            }
            totals = writer.totals
            meta = changed
            return result
        } catch {
            // Some errors have undone it already; the one to report is the first.
            if connection.isInTransaction {
                try? databaseErrors { () throws(SQLiteError) in
                    try connection.execute("ROLLBACK")
                }
            }
            throw error
        }
    }

    /// Writes that deletions up to a revision may be missing: durable on return.
    func raiseDeletionsFloor(to revision: UInt64) throws(StateError) {
        try writeStep { (writer) throws(StateError) in
            try databaseErrors { () throws(SQLiteError) in
                try writer.raiseDeletionsFloor(to: revision)
            }
            return ((), meta)
        }
    }
}
