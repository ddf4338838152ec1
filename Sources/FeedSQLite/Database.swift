import CSQLite

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// The one connection to a database file, used by one thread at a time.
///
/// It has the file to itself as long as it lives, writes ahead into `<path>-wal`, and syncs each
/// transaction. Statements are made by ``prepare(_:)`` and live no longer than it.
@safe
package final class Database {
    package enum Mode: Sendable, Equatable {
        /// To write; it is made if there is none.
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

    package let path: String
    /// The virtual file system it was opened with, nil for the system's own.
    let vfs: String?
    /// SQLite's connection, which a ``Backup`` copies from.
    private(set) var connection: OpaquePointer?

    /// Opens the file and sets what `docs/STORAGE.md` says of SQLite.
    ///
    /// `vfs` names one of SQLite's virtual file systems, for a test's disk or another special one;
    /// nil is the system's own.
    package init(path: String, mode: Mode = .create, vfs: String? = nil) throws(StorageError) {
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
            throw StorageError("write ahead in \(path)", code: SQLITE_ERROR, text: text)
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
    package func execute(_ sql: String) throws(StorageError) {
        try check(unsafe sqlite3_exec(connection, sql, nil, nil, nil), sql)
    }

    /// Makes a statement to run as often as needed.
    package func prepare(_ sql: String) throws(StorageError) -> Statement {
        var handle: OpaquePointer?
        let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
        try check(unsafe sqlite3_prepare_v3(connection, sql, -1, flags, &handle, nil), sql)
        guard let handle = unsafe handle else {
            throw StorageError("prepare an empty statement", code: SQLITE_MISUSE)
        }
        return unsafe Statement(handle, sql, self)
    }

    /// The first column of the first row, as text; nil if there is none.
    package func text(_ sql: String) throws(StorageError) -> String? {
        let statement = try prepare(sql)
        guard try statement.step() else { return nil }
        return statement.text(0)
    }

    private func check(_ code: Int32, _ operation: @autoclosure () -> String) throws(StorageError) {
        guard code != SQLITE_OK else { return }
        throw error(code, operation())
    }

    /// The error of a result code, in the connection's own words.
    func error(_ code: Int32, _ operation: String) -> StorageError {
        // Read first, as the system's calls replace it.
        let systemCode = errno
        let text = unsafe String(cString: sqlite3_errmsg(connection))
        return StorageError(operation, code: code, text: text, systemCode: systemCode)
    }
}

@available(*, unavailable)
extension Database: Sendable {}

extension Database {
    package var isInTransaction: Bool { unsafe sqlite3_get_autocommit(connection) == 0 }

    /// Calls `body` in a transaction, which is undone when it throws; durable on return.
    package func transaction<Result>(
        _ body: () throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        try execute("BEGIN IMMEDIATE")
        do {
            let result = try body()
            try execute("COMMIT")
            return result
        } catch {
            // Some errors have undone it already; the one to report is the first.
            if isInTransaction { try? execute("ROLLBACK") }
            throw error
        }
    }

    /// Runs a log checkpoint: moves SQLite's log into the file, durably, and empties the log.
    package func checkpointLog() throws(StorageError) {
        try check(
            unsafe sqlite3_wal_checkpoint_v2(
                connection,
                nil,
                SQLITE_CHECKPOINT_TRUNCATE,
                nil,
                nil
            ),
            "checkpoint \(path)"
        )
    }

    /// What is wrong with the file, at most that many things; none if all is right.
    ///
    /// Reads all pages, and compares indexes with their tables.
    package func pageProblems(limit: Int = 10) throws(StorageError) -> [String] {
        let statement = try prepare("PRAGMA integrity_check(\(limit))")
        var problems: [String] = []
        do throws(StorageError) {
            while try statement.step() {
                guard let text = statement.text(0), text != "ok" else { continue }
                if let error = Self.failedRead(text) { throw error }
                problems.append(text)
            }
        } catch {
            // Some damage ends the check itself.
            guard let failure = error.sqlite, failure.kind == .corrupt else { throw error }
            problems.append(failure.text)
        }
        return problems
    }

    /// A page that the disk did not give, which SQLite reports among the damage.
    ///
    /// For example "On tree page 5 cell 0: unable to get the page. error code=266".
    private static func failedRead(_ problem: String) -> StorageError? {
        let mark = "error code="
        guard let place = problem.firstRange(of: mark) else { return nil }
        let digits = problem[place.upperBound...].prefix { $0.isNumber }
        guard let code = Int32(digits), code & 0xFF == SQLITE_IOERR else { return nil }
        return StorageError("check the pages", code: code, text: "disk I/O error")
    }
}

/// What a copy of the file needs that is made while transactions are written.
extension Database {
    /// The pages of the log after which SQLite runs a log checkpoint, which moves them into the
    /// file; 0 is never.
    package func checkpointInterval() throws(StorageError) -> Int {
        let statement = try prepare("PRAGMA wal_autocheckpoint")
        defer { statement.reset() }
        return try statement.step() ? Int(statement.int64(0)) : 0
    }

    /// Sets the pages of the log after which SQLite runs a log checkpoint; with 0 the file stays as
    /// it is until ``checkpointLog()`` is called.
    package func setCheckpointInterval(_ pageCount: Int) throws(StorageError) {
        try check(
            unsafe sqlite3_wal_autocheckpoint(connection, Int32(pageCount)),
            "set the checkpoint interval of \(path)"
        )
    }

    /// The bytes of the log, of transactions that are in the file already too.
    package func logByteCount() throws(StorageError) -> Int {
        guard let log = unsafe try log(), let methods = unsafe log.pointee.pMethods
        else { return 0 }
        var byteCount: Int64 = 0
        try check(unsafe methods.pointee.xFileSize(log, &byteCount), "measure the log of \(path)")
        return Int(byteCount)
    }

    private func log() throws(StorageError) -> UnsafeMutablePointer<sqlite3_file>? {
        var log: UnsafeMutablePointer<sqlite3_file>?
        try check(
            unsafe sqlite3_file_control(connection, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log),
            "find the log of \(path)"
        )
        return unsafe log
    }

    /// The path as a URI that says that no program changes the file.
    private static func immutableName(of path: String) -> String {
        let special: Set<UInt8> = [UInt8(ascii: "%"), UInt8(ascii: "?"), UInt8(ascii: "#")]
        var name = "file:"
        // After "file:" two slashes would begin a host's name.
        if path.hasPrefix("//") { name += "//" }
        for byte in path.utf8 {
            if special.contains(byte) || byte < 0x21 || byte > 0x7E {
                name += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            } else {
                name.unicodeScalars.append(Unicode.Scalar(byte))
            }
        }
        return name + "?immutable=1"
    }

    /// Makes durable what was read of an earlier process's log, and empties it.
    ///
    /// A process that was killed may have left its last transactions in the system's memory only.
    /// After a sync that failed the system even takes them for written, and no later sync looks at
    /// them: so the log is written over itself first. O(the log's length).
    private func reviveLog() throws(StorageError) {
        if let log = unsafe try log(), let methods = unsafe log.pointee.pMethods {
            try unsafe rewrite(log, methods.pointee)
        }
        try checkpointLog()
    }

    private func rewrite(
        _ file: UnsafeMutablePointer<sqlite3_file>,
        _ methods: sqlite3_io_methods
    ) throws(StorageError) {
        var byteCount: Int64 = 0
        try checkFile(unsafe methods.xFileSize(file, &byteCount))
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        var offset: Int64 = 0
        while offset < byteCount {
            let count = Int32(min(Int64(piece.count), byteCount - offset))
            try checkFile(unsafe methods.xRead(file, &piece, count, offset))
            try checkFile(unsafe methods.xWrite(file, piece, count, offset))
            offset += Int64(count)
        }
    }

    /// Throws what a call on the file itself came to, of which the connection knows nothing.
    private func checkFile(_ code: Int32) throws(StorageError) {
        guard code != SQLITE_OK else { return }
        throw StorageError("write the log of \(path) anew", code: code)
    }
}
