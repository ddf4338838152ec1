package import FeedJournal
package import FeedSQLite

/// Why the durable state cannot be read or written.
package enum StateError: Error, Equatable, Sendable {
    /// A row is not what was written, is missing, or is one too many.
    case damaged(table: String, key: String, reason: String)

    /// The file was written by a later program.
    case newerFormat(file: String, format: Int64, known: Int64)

    /// There is no such file.
    case missingFile(path: String)

    /// A new data directory was to be made where there is something already.
    case notEmpty(directory: String, name: String)

    /// A directory is no backup but a data directory, whose journal holds more than its database.
    case notABackup(path: String, name: String)

    /// A copy was made in the middle of a fold, so its posts are not of one moment.
    case unfinishedFold(file: String, sequence: UInt64)

    /// SQLite refused.
    case database(SQLiteError)

    /// The system refused a file.
    case file(FileError)

    /// A directory cannot be used.
    case directory(JournalError)

    /// The thread that writes the state has ended.
    case stopped(reason: String)
}

extension StateError {
    /// Whether the file holds something else than was written to it.
    package var isDamage: Bool {
        switch self {
        case .damaged, .database(.corrupt): true
        default: false
        }
    }
}

extension StateError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .damaged(let table, let key, let reason):
            return "state.db is damaged in table \(table), \(key): \(reason)."
        case .newerFormat(let file, let format, let known):
            return "\(file) has format \(format); this program knows formats up to \(known)."
        case .missingFile(let path): return "There is no file \(path)."
        case .notEmpty(let directory, let name):
            return "The directory \(directory) is not empty: it has \(name)."
        case .notABackup(let path, let name):
            return "\(path) is no backup but a data directory, as it has \(name): start a service "
                + "on it, and make a backup of it then."
        case .unfinishedFold(let file, let sequence):
            return "\(file) was copied while records up to \(sequence) were written to it: "
                + "without the journal it is of no use."
        case .database(let error): return "\(StateDatabase.fileName): \(error)"
        case .file(let error): return error.description
        case .directory(let error): return error.description
        case .stopped(let reason): return "The state is not written any more. \(reason)"
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
func fileErrors<Result>(
    _ body: () throws(FileError) -> Result
) throws(StateError) -> Result {
    do {
        return try body()
    } catch {
        throw .file(error)
    }
}
