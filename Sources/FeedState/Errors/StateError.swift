package import FeedConcurrency
package import FeedJournal
package import FeedSQLite

/// Why the durable state cannot be read or written.
package enum StateError: Error, Equatable, Sendable {
    /// A row is not what was written, is missing, or is one too many.
    case damaged(table: String, key: String, reason: String)
    /// A file is no database of this program's, or has lost a table.
    case notAState(file: String, reason: String)
    case newerFormat(file: String, format: Int64, known: Int64)
    case missingFile(path: String)
    case notEmpty(directory: String, name: String)
    /// A directory is no backup but a data directory, whose journal holds more than its database.
    case notABackup(path: String, name: String)
    /// A backup has a file that only a program makes that has changed it.
    case changedBackup(path: String, name: String)
    /// A copy was made in the middle of a checkpoint, so its posts are not of one moment.
    case unfinishedCheckpoint(file: String, record: UInt64)
    case database(SQLiteError)
    case file(FileError)
    case directory(JournalError)
    case stopped(reason: String)
    case thread(ThreadStartError)

    /// Whether the file holds something else than was written to it.
    package var isDamage: Bool {
        switch self {
        case .damaged, .notAState, .database(.corrupt): true
        // A statement that does not fit the tables.
        case .database(.other(let failure)): failure.isOfStatement
        default: false
        }
    }

    /// Whether the disk is full.
    var isOutOfSpace: Bool {
        switch self {
        case .database(.full): true
        case .file(let error): error.isOutOfSpace
        default: false
        }
    }
}

extension StateError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .damaged(let table, let key, let reason):
            return "state.db is damaged in table \(table), \(key): \(reason)."
        case .notAState(let file, let reason): return "\(file) is damaged: \(reason)."
        case .newerFormat(let file, let format, let known):
            return "\(file) has format \(format); this program knows formats up to \(known)."
        case .missingFile(let path): return "There is no file \(path)."
        case .notEmpty(let directory, let name):
            return "The directory \(directory) is not empty: it has \(name)."
        case .notABackup(let path, let name):
            return "\(path) is no backup but a data directory, as it has \(name): start a service "
                + "on it, and make a backup of it then."
        case .changedBackup(let path, let name):
            return "The backup \(path) has a file \(name): another program has changed it. Use "
                + "another backup."
        case .unfinishedCheckpoint(let file, let number):
            return "\(file) was copied while records up to \(number) were written to it: "
                + "without the journal it is of no use."
        case .database(let error): return Self.describe(error)
        case .file(let error): return error.description
        case .directory(let error): return error.description
        case .stopped(let reason): return "The state is not written any more. \(reason)"
        case .thread(let error): return error.description
        }
    }

    /// A failure of SQLite's without the statement, which says nothing to an operator.
    private static func describe(_ error: SQLiteError) -> String {
        let text = "\(error.failure.text) (SQLite error \(error.failure.code))"
        return switch error {
        case .corrupt: "state.db is damaged: \(text)."
        case .locked: "state.db is in use by another program: \(text)."
        case .full: "The disk is full, state.db cannot be written: \(text)."
        case .other(let failure) where failure.isOfStatement:
            "state.db is damaged: its tables are others than were made: \(text)."
        case .readOnly, .io, .constraint, .other:
            "state.db cannot be read or written: \(text)."
        }
    }
}

/// Calls `body`, whose failures become the state's.
func databaseErrors<Result: ~Copyable>(
    _ body: () throws(SQLiteError) -> Result
) throws(StateError) -> Result {
    do {
        return try body()
    } catch {
        throw .database(error)
    }
}

/// Calls `body`, whose failures become the state's.
func fileErrors<Result>(_ body: () throws(FileError) -> Result) throws(StateError) -> Result {
    do {
        return try body()
    } catch {
        throw .file(error)
    }
}
