import FeedJournal
import FeedSQLite

/// A copy of `state.db` being made into another directory, some pages at a time.
///
/// Folds may go on meanwhile: SQLite copies what they write too. The copy has its name, `state.db`,
/// only once it is whole and durable.
package final class StateCopy {
    /// The directory of the copy, below the data directory.
    package let name: String

    private let database: StateDatabase
    private var backup: Backup?

    /// Begins a copy into a directory that is there, named relative to the data directory.
    init(of database: StateDatabase, to name: String) throws(StateError) {
        self.name = name
        self.database = database
        backup = try databaseErrors { () throws(SQLiteError) in
            let path = "\(database.directory)/\(name)/\(StateDatabase.newFileName)"
            return try Backup(of: database.connection, to: path)
        }
    }

    /// Copies so many pages more, or all that are left; returns whether the copy is whole.
    ///
    /// In the middle of a fold posts are not of one moment, and a copy has no journal that would
    /// mend it. So between a fold's first slice and its last nothing is copied.
    package func step(pages: Int? = nil) throws(StateError) -> Bool {
        guard let backup else { return true }
        guard !database.meta.isFolding else { return false }
        let isWhole = try databaseErrors { () throws(SQLiteError) in
            try backup.step(pages: pages)
        }
        guard isWhole else { return false }
        // Closed before it is opened to sync: closing a second descriptor would drop SQLite's locks.
        self.backup = nil
        let files = database.files
        try fileErrors { () throws(FileError) in
            let newName = "\(name)/\(StateDatabase.newFileName)"
            try files.open(newName)?.sync()
            try files.rename(newName, to: "\(name)/\(StateDatabase.fileName)")
            try files.syncDirectory(name)
        }
        return true
    }

    /// How many pages were left after the last step; 0 when it is whole.
    package var remainingPageCount: Int { backup?.remainingPageCount ?? 0 }

    /// How many pages the state had at the last step.
    package var pageCount: Int { backup?.pageCount ?? 0 }
}

@available(*, unavailable)
extension StateCopy: Sendable {}

extension StateDatabase {
    /// Begins a copy into a directory that is there, named relative to the data directory; the
    /// caller makes the directory, and makes its own entry durable.
    package func copy(to name: String) throws(StateError) -> StateCopy {
        try StateCopy(of: self, to: name)
    }
}
