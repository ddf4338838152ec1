/// Bringing a file of an earlier format forward.
extension OfflineStore {
    /// Lets entries say as whom they were made, and the copy whose marks it has.
    ///
    /// Format 1 did not note it, so an entry of it may be anybody's: the program decides.
    func migrateFromFormat1() throws(OfflineError) {
        try database.transaction { () throws(OfflineError) in
            try database.execute(
                "ALTER TABLE outbox ADD COLUMN user INTEGER NOT NULL DEFAULT 0"
            )
            try database.execute(
                "ALTER TABLE identity ADD COLUMN viewer INTEGER NOT NULL DEFAULT 0"
            )
            for row in try outboxRows("WHERE state <= 2") { try put(row, .inDoubt(.unknownUser)) }
            try database.execute("PRAGMA user_version = 2")
        }
    }
}
