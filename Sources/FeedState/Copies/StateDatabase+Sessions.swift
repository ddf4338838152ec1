import FeedSQLite

/// How a restore ends the sessions of a copy.
extension StateDatabase {
    /// Ends all sessions of all users, durably.
    ///
    /// A copy does not know which of its sessions have ended since: a user who has signed out may have done
    /// so because the token was stolen.
    func endAllSessions() throws(StateError) {
        var changed = totals
        changed[StateTable.sessions.rawValue] = TableTotals()
        try databaseErrors { () throws(SQLiteError) in
            try connection.transaction { () throws(SQLiteError) in
                try connection.execute("DELETE FROM sessions")
                try TableTotals.rewrite(changed, connection)
            }
        }
        totals = changed
    }
}
