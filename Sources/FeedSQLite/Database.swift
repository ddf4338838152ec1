import CSQLite
internal import Glibc

/// The one connection to a database file, used by one thread at a time.
///
/// It has the file to itself as long as it lives, writes ahead into `<path>-wal`, and syncs each
/// transaction. Statements are made by ``prepare(_:)`` and live no longer than it.
@safe
package final class Database {
    /// What a file is opened for.
    package enum Mode: Sendable, Equatable {
        /// To write; it is made where there is none.
        case create

        /// To write; it has to be there.
        case existing

        /// To read only; nothing of it is changed.
        case readOnly

        /// To read only a file that no program changes, as a backup is: SQLite locks nothing and
        /// makes no file beside it.
        case immutable

        /// To read a file and its log that nobody else has open; both stay as they are.
        case keepingLog
    }

    /// Where the file is.
    package let path: String

    /// The virtual file system it was opened with, nil for the system's own.
    let vfs: String?

    /// SQLite's connection, for the files of this folder.
    private(set) var connection: OpaquePointer?

    /// Opens the file and sets what `docs/STORAGE.md` says of SQLite.
    ///
    /// `vfs` names one of SQLite's virtual file systems, for a test's disk or another special one;
    /// nil is the system's own.
    package init(
        path: String,
        mode: Mode = .create,
        vfs: String? = nil
    ) throws(SQLiteError) {
        self.path = path
        self.vfs = vfs
        let flags =
            switch mode {
            case .create: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
            // SQLite reads a log without shared memory only with the right to lock, that is to write.
            case .existing, .keepingLog: SQLITE_OPEN_READWRITE
            case .readOnly: SQLITE_OPEN_READONLY
            case .immutable: SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
            }
        let name = mode == .immutable ? Self.immutableName(of: path) : path
        // Calls from one thread at a time need none of SQLite's own locks.
        let all = flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        try check(unsafe sqlite3_open_v2(name, &connection, all, vfs), "open \(path)")
        for pragma in Self.pragmas { try execute(pragma) }
        if mode == .keepingLog {
            try check(unsafe csqlite_keep_log_on_close(connection), "keep the log of \(path)")
            try execute("PRAGMA locking_mode=EXCLUSIVE")
        }
        guard mode == .create || mode == .existing else { return }
        // Known before the file is first read, so that no memory is shared with other processes.
        try execute("PRAGMA locking_mode=EXCLUSIVE")
        try execute("PRAGMA synchronous=FULL")
        let journalMode = try text("PRAGMA journal_mode=WAL")
        guard journalMode == "wal" else {
            let text = "the journal mode is \(journalMode ?? "unknown")"
            throw .other(
                SQLiteFailure(operation: "write ahead in \(path)", code: SQLITE_ERROR, text: text)
            )
        }
        // The lock is taken by the first transaction: now, not in the middle of the first work.
        try execute("BEGIN EXCLUSIVE")
        try execute("COMMIT")
        try reviveLog()
    }

    deinit {
        // With statements left it is closed when the last of them goes.
        unsafe sqlite3_close_v2(connection)
    }

    /// What every mode of opening wants; reads nothing of the file.
    private static let pragmas = [
        "PRAGMA secure_delete=OFF", "PRAGMA cell_size_check=ON", "PRAGMA trusted_schema=OFF",
        "PRAGMA mmap_size=0",
    ]

    /// Runs statements that give no rows, one after the other.
    package func execute(_ sql: String) throws(SQLiteError) {
        try check(unsafe sqlite3_exec(connection, sql, nil, nil, nil), sql)
    }

    /// Makes a statement to run as often as needed.
    package func prepare(_ sql: String) throws(SQLiteError) -> Statement {
        var handle: OpaquePointer?
        let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
        try check(unsafe sqlite3_prepare_v3(connection, sql, -1, flags, &handle, nil), sql)
        guard let handle = unsafe handle else {
            throw SQLiteError("prepare an empty statement", code: SQLITE_MISUSE)
        }
        return unsafe Statement(handle, sql, self)
    }

    /// The first column of the first row, as text; nil where there is none.
    package func text(_ sql: String) throws(SQLiteError) -> String? {
        let statement = try prepare(sql)
        guard try statement.step() else { return nil }
        return statement.text(0)
    }

    /// Throws what SQLite says about a result code that is no success.
    func check(_ code: Int32, _ operation: @autoclosure () -> String) throws(SQLiteError) {
        guard code != SQLITE_OK else { return }
        throw error(code, operation())
    }

    /// The error of a result code, in the connection's own words.
    func error(_ code: Int32, _ operation: String) -> SQLiteError {
        // Read first, as the system's calls replace it.
        let systemCode = errno
        let text = unsafe String(cString: sqlite3_errmsg(connection))
        return SQLiteError(
            SQLiteFailure(operation: operation, code: code, text: text),
            systemCode: systemCode
        )
    }
}

@available(*, unavailable)
extension Database: Sendable {}
