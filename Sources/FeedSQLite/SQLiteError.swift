import CSQLite

/// A call of SQLite that failed.
package enum SQLiteError: Error, Equatable, Sendable {
    /// Another connection has the database.
    case locked(SQLiteFailure)

    /// The file, or what is in it, is not what SQLite wrote.
    case corrupt(SQLiteFailure)

    /// The database may only be read.
    case readOnly(SQLiteFailure)

    /// The disk is full.
    case full(SQLiteFailure)

    /// The system could not read, write or sync.
    case io(SQLiteFailure)

    /// A rule of a table does not allow it.
    case constraint(SQLiteFailure)

    /// Anything else.
    case other(SQLiteFailure)
}

/// What SQLite says about a failure.
package struct SQLiteFailure: Equatable, Sendable {
    /// What was tried: "open state.db", or the statement's text.
    package let operation: String

    /// SQLite's extended result code.
    package let code: Int32

    /// SQLite's own words.
    package let text: String
}

extension SQLiteError {
    /// An error of the kind that the code belongs to.
    init(_ failure: SQLiteFailure) {
        // The low byte is the kind, the rest says more of it.
        switch failure.code & 0xFF {
        case SQLITE_BUSY, SQLITE_LOCKED: self = .locked(failure)
        case SQLITE_CORRUPT, SQLITE_NOTADB: self = .corrupt(failure)
        case SQLITE_READONLY: self = .readOnly(failure)
        case SQLITE_FULL: self = .full(failure)
        case SQLITE_IOERR, SQLITE_CANTOPEN: self = .io(failure)
        case SQLITE_CONSTRAINT: self = .constraint(failure)
        default: self = .other(failure)
        }
    }

    /// An error with SQLite's general words for its code.
    init(_ operation: String, code: Int32) {
        let text = unsafe String(cString: sqlite3_errstr(code))
        self.init(SQLiteFailure(operation: operation, code: code, text: text))
    }

    /// What SQLite says about it.
    package var failure: SQLiteFailure {
        switch self {
        case .locked(let failure), .corrupt(let failure), .readOnly(let failure),
            .full(let failure), .io(let failure), .constraint(let failure), .other(let failure):
            failure
        }
    }
}

extension SQLiteError: CustomStringConvertible {
    package var description: String {
        "Could not \(failure.operation): \(failure.text) (SQLite error \(failure.code))."
    }
}
