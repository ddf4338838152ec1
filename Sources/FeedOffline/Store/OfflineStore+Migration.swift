/// Bringing a file of an earlier format forward.
extension OfflineStore {
    /// Brings a file of format 1 or 2 to the newest one.
    ///
    /// Format 1 did not note as whom entries were made, nor whose marks the copy has. An entry of it may be
    /// anybody's: the program decides. Lists of format 2 showed the entries of all accounts, and also posts
    /// that were refused.
    ///
    /// - Returns: What to tell the person: whether posts could not be read.
    func migrate(from version: Int64) throws(OfflineError) -> OfflineNotice? {
        try database.transaction { () throws(OfflineError) in
            if version == 1 {
                try database.execute(
                    "ALTER TABLE outbox ADD COLUMN user INTEGER NOT NULL DEFAULT 0"
                )
                try database.execute(
                    "ALTER TABLE identity ADD COLUMN viewer INTEGER NOT NULL DEFAULT 0"
                )
            }
            try database.execute(
                "ALTER TABLE identity ADD COLUMN shown_user INTEGER NOT NULL DEFAULT 0"
            )
            let hasDamage = try dropDamagedPosts()
            if version == 1 {
                for row in try outboxRows("WHERE state <= 2") {
                    try put(row, .inDoubt(.unknownUser))
                }
            }
            try refreshPosts(of: entries())
            try database.execute("PRAGMA user_version = \(OfflineSchema.version)")
            return hasDamage ? .postsDropped : nil
        }
    }
}
