package import FeedJournal
import FeedSQLite

/// How `state.db` is held still for a copy.
extension StateDatabase {
    /// Whether the file stays as it is: checkpoints go into SQLite's log alone.
    package var isFrozen: Bool { thawedCheckpointInterval != nil }

    /// The bytes of SQLite's log, which holds what was written since the file was frozen.
    package var logByteCount: Int {
        get throws(StateError) {
            try databaseErrors { () throws(SQLiteError) in try connection.logByteCount() }
        }
    }

    /// Runs a log checkpoint, and leaves the file as it is until ``thaw()``.
    ///
    /// To be called between two checkpoints: in the middle of one, posts are of different moments,
    /// and a copy has no journal that would mend it.
    /// - Returns: The file to copy from, on any thread, and its length in bytes.
    package func freeze() throws(StateError) -> (source: any JournalFile, byteCount: Int) {
        precondition(
            !isFrozen && !meta.isCheckpointing,
            "A file is frozen once, between two checkpoints."
        )
        try databaseErrors { () throws(SQLiteError) in
            let interval = try connection.checkpointInterval()
            try connection.setCheckpointInterval(0)
            thawedCheckpointInterval = interval
            try connection.checkpointLog()
        }
        let source = try openCopySource()
        return (source, try fileErrors { () throws(FileError) in try source.byteCount() })
    }

    private func openCopySource() throws(StateError) -> any JournalFile {
        if let copySource { return copySource }
        let opened = try fileErrors { () throws(FileError) in try files.open(Self.fileName) }
        guard let opened else { throw .missingFile(path: "\(directory)/\(Self.fileName)") }
        copySource = opened
        return opened
    }

    /// Lets SQLite move its log into the file again, and has it do so; nothing where the file is
    /// not frozen.
    ///
    /// Where the disk is full the log stays, and SQLite tries again with a later transaction.
    package func thaw() throws(StateError) {
        guard let interval = thawedCheckpointInterval else { return }
        thawedCheckpointInterval = nil
        do throws(SQLiteError) {
            try connection.setCheckpointInterval(interval)
            try connection.checkpointLog()
        } catch {
            guard case .full = error else { throw .database(error) }
        }
    }
}

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
