import CSQLite
internal import Glibc

package enum SQLiteError: Error, Equatable, Sendable {
    /// Another connection has the database.
    case locked(SQLiteFailure)
    /// The file, or what is in it, is not what SQLite wrote.
    case corrupt(SQLiteFailure)
    case readOnly(SQLiteFailure)
    /// The disk is full, or the quota on it is used up.
    case full(SQLiteFailure)
    /// The system could not read, write or sync.
    case io(SQLiteFailure)
    case constraint(SQLiteFailure)
    case other(SQLiteFailure)
}

package struct SQLiteFailure: Equatable, Sendable {
    /// What was tried: "open state.db", or the statement's text.
    package let operation: String
    /// SQLite's extended result code.
    package let code: Int32
    /// SQLite's own words.
    package let text: String

    /// Whether a statement does not fit the tables that the file has.
    package var isOfStatement: Bool { code & 0xFF == SQLITE_ERROR }
}

extension SQLiteError {
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

    /// An error of the connection, right after the system's code was read.
    ///
    /// SQLite knows a full disk, and takes a quota that is used up for an error of the disk.
    init(_ failure: SQLiteFailure, systemCode: Int32) {
        guard failure.code == SQLiteError.failedWrite, systemCode == EDQUOT else {
            self.init(failure)
            return
        }
        let text = "the disk quota of the service's user is used up (\(failure.text))"
        self = .full(SQLiteFailure(operation: failure.operation, code: failure.code, text: text))
    }

    /// `SQLITE_IOERR_WRITE`, a macro that Swift does not see.
    private static let failedWrite = SQLITE_IOERR | 3 << 8

    /// An error with SQLite's general words for its code.
    init(_ operation: String, code: Int32) {
        let text = unsafe String(cString: sqlite3_errstr(code))
        self.init(SQLiteFailure(operation: operation, code: code, text: text))
    }

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
