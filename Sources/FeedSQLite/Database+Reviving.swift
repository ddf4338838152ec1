import CSQLite

extension Database {
    /// Makes durable what was read of an earlier process's log, and empties it.
    ///
    /// A process that was killed may have left its last transactions in the system's memory only.
    /// After a sync that failed the system even takes them for written, and no later sync looks at
    /// them: so the log is written over itself first. O(the log's length).
    func reviveLog() throws(SQLiteError) {
        var log: UnsafeMutablePointer<sqlite3_file>?
        let operation = SQLITE_FCNTL_JOURNAL_POINTER
        try check(
            unsafe sqlite3_file_control(connection, "main", operation, &log),
            "find the log of \(path)"
        )
        if let log = unsafe log, let methods = unsafe log.pointee.pMethods {
            try unsafe rewrite(log, methods.pointee)
        }
        try checkpointLog()
    }

    private func rewrite(
        _ file: UnsafeMutablePointer<sqlite3_file>,
        _ methods: sqlite3_io_methods
    ) throws(SQLiteError) {
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
    private func checkFile(_ code: Int32) throws(SQLiteError) {
        guard code != SQLITE_OK else { return }
        throw SQLiteError("write the log of \(path) anew", code: code)
    }
}
