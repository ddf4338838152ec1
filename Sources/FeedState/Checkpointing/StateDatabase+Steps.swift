import FeedSQLite

extension StateDatabase {
    /// Calls `body` in a transaction with the writer of checkpoints, then writes the meta that it
    /// gives; where anything fails, nothing has changed.
    func writeStep<Result>(
        _ body: (CheckpointWriter) throws(StateError) -> (Result, StateMeta)
    ) throws(StateError) -> Result {
        let writer = try checkpointWriter()
        try databaseErrors { () throws(SQLiteError) in try connection.execute("BEGIN IMMEDIATE") }
        do {
            writer.begin(totals)
            let (result, changed) = try body(writer)
            try databaseErrors { () throws(SQLiteError) in
                if changed != meta {
                    try Self.rewriteTotals(writer.totals, connection)
                    try changed.write(connection, format: format)
                } else {
                    try Self.writeTotals(writer.totals, over: totals, connection)
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

    private func checkpointWriter() throws(StateError) -> CheckpointWriter {
        if let writer { return writer }
        let new = try databaseErrors { () throws(SQLiteError) in try CheckpointWriter(connection) }
        writer = new
        return new
    }
}
