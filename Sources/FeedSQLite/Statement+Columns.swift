import CSQLite

// Numbers of columns are checked: SQLite answers one that is not there with nothing at all.
extension Statement {
    /// Whether the column is NULL.
    package func isNull(_ column: Int) -> Bool {
        unsafe sqlite3_column_type(handle, checked(column)) == SQLITE_NULL
    }

    /// The column as a number; 0 where it is none.
    package func int64(_ column: Int) -> Int64 {
        unsafe sqlite3_column_int64(handle, checked(column))
    }

    /// The column as the number whose bits were bound.
    package func uint64(_ column: Int) -> UInt64 {
        UInt64(bitPattern: int64(column))
    }

    /// The column as text, nil for NULL; what is no UTF-8 in it is replaced.
    package func text(_ column: Int) -> String? {
        // Only NULL has no address.
        let characters = unsafe sqlite3_column_text(handle, checked(column))
        guard unsafe characters != nil else { return nil }
        let count = Int(unsafe sqlite3_column_bytes(handle, checked(column)))
        let bytes = unsafe UnsafeBufferPointer(start: characters, count: count)
        return unsafe String(decoding: bytes, as: UTF8.self)
    }

    /// Calls `body` with the column's bytes, none for NULL, without copying them.
    package func withBlob<Result>(_ column: Int, _ body: (Span<UInt8>) -> Result) -> Result {
        let address = unsafe sqlite3_column_blob(handle, checked(column))
        let count = Int(unsafe sqlite3_column_bytes(handle, checked(column)))
        guard let address = unsafe address else { return body(Span()) }
        let bytes = unsafe UnsafeRawBufferPointer(start: address, count: count)
        return unsafe bytes.withMemoryRebound(to: UInt8.self) { unsafe body($0.span) }
    }

    private func checked(_ column: Int) -> Int32 {
        precondition(column >= 0 && column < columnCount, "A row has no column \(column).")
        return Int32(column)
    }
}
