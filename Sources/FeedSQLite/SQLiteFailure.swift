import CSQLite
@_exported public import FeedStorage

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

extension StorageError {
    /// An error of SQLite's extended result code, in its own words.
    init(_ operation: String, code: Int32, text: String) {
        // The low byte is the kind, the rest says more of it.
        let kind: SQLiteFailure.Kind =
            switch code & 0xFF {
            case SQLITE_BUSY, SQLITE_LOCKED: .locked
            case SQLITE_CORRUPT, SQLITE_NOTADB: .corrupt
            case SQLITE_READONLY: .readOnly
            case SQLITE_FULL: .full
            case SQLITE_IOERR, SQLITE_CANTOPEN: .io
            case SQLITE_CONSTRAINT: .constraint
            case SQLITE_ERROR: .statement
            default: .other
            }
        self = .sqlite(SQLiteFailure(kind, operation: operation, code: code, text: text))
    }

    /// An error of the connection, right after the system's code was read.
    ///
    /// SQLite knows a full disk, and takes a quota that is used up for an error of the disk.
    init(_ operation: String, code: Int32, text: String, systemCode: Int32) {
        guard code == Self.failedWrite, systemCode == EDQUOT else {
            self.init(operation, code: code, text: text)
            return
        }
        let text = "the disk quota of the service's user is used up (\(text))"
        self = .sqlite(SQLiteFailure(.full, operation: operation, code: code, text: text))
    }

    /// `SQLITE_IOERR_WRITE`, a macro that Swift does not see.
    private static let failedWrite = SQLITE_IOERR | 3 << 8

    /// An error with SQLite's general words for its code.
    init(_ operation: String, code: Int32) {
        self.init(operation, code: code, text: unsafe String(cString: sqlite3_errstr(code)))
    }
}
