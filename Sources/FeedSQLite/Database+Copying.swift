import CSQLite

/// What a copy of the file needs that is made while transactions are written.
extension Database {
    /// The pages of the log after which SQLite runs a log checkpoint, which moves them into the
    /// file; 0 is never.
    package func checkpointInterval() throws(SQLiteError) -> Int {
        let statement = try prepare("PRAGMA wal_autocheckpoint")
        defer { statement.reset() }
        return try statement.step() ? Int(statement.int64(0)) : 0
    }

    /// Sets the pages of the log after which SQLite runs a log checkpoint; with 0 the file stays as
    /// it is until ``checkpointLog()`` is called.
    package func setCheckpointInterval(_ pageCount: Int) throws(SQLiteError) {
        try check(
            unsafe sqlite3_wal_autocheckpoint(connection, Int32(pageCount)),
            "set the checkpoint interval of \(path)"
        )
    }

    /// The bytes of the log, of transactions that are in the file already too.
    package func logByteCount() throws(SQLiteError) -> Int {
        var log: UnsafeMutablePointer<sqlite3_file>?
        try check(
            unsafe sqlite3_file_control(connection, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log),
            "find the log of \(path)"
        )
        guard let log = unsafe log, let methods = unsafe log.pointee.pMethods else { return 0 }
        var byteCount: Int64 = 0
        try check(
            unsafe methods.pointee.xFileSize(log, &byteCount),
            "measure the log of \(path)"
        )
        return Int(byteCount)
    }

    /// The path as a URI that says that no program changes the file.
    static func immutableName(of path: String) -> String {
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
}
