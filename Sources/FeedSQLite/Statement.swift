import CSQLite
internal import FeedSpans

/// A prepared statement: parameters are bound by number from 1, columns read by number from 0.
@safe
package final class Statement {
    private let handle: OpaquePointer
    private let sql: String
    private let columnCount: Int
    /// Kept, as the statement is of its connection.
    private let database: Database

    /// Takes over the handle.
    init(_ handle: OpaquePointer, _ sql: String, _ database: Database) {
        unsafe self.handle = handle
        self.sql = sql
        self.database = database
        columnCount = Int(unsafe sqlite3_column_count(handle))
    }

    deinit { unsafe sqlite3_finalize(handle) }

    /// Goes to the next row; false when there is none, after which it may be run again.
    package func step() throws(StorageError) -> Bool {
        let code = unsafe sqlite3_step(handle)
        switch code {
        case SQLITE_ROW: return true
        case SQLITE_DONE:
            reset()
            return false
        default:
            // The reset gives the code again, and may replace the connection's words for it.
            let error = database.error(code, sql)
            reset()
            throw error
        }
    }

    /// Runs it to its end and ignores its rows.
    ///
    /// It can be bound anew then.
    package func run() throws(StorageError) {
        while try step() {}
    }

    /// Leaves the rows that were not read; what is bound stays.
    package func reset() { unsafe sqlite3_reset(handle) }

    private func bound(_ code: Int32, _ index: Int) throws(StorageError) {
        guard code != SQLITE_OK else { return }
        throw database.error(code, "bind parameter \(index) of \(sql)")
    }
}

@available(*, unavailable)
extension Statement: Sendable {}

extension Statement {
    package func bind(_ number: Int64, at index: Int) throws(StorageError) {
        try bound(unsafe sqlite3_bind_int64(handle, Int32(index), number), index)
    }

    /// Binds a number's bits: those above Int64's greatest order as negative ones.
    package func bind(_ number: UInt64, at index: Int) throws(StorageError) {
        try bind(Int64(bitPattern: number), at: index)
    }

    /// Binds text; a zero byte in it is kept.
    package func bind(_ text: String, at index: Int) throws(StorageError) {
        var text = text
        let code = text.withUTF8 { bytes in
            unsafe bytes.withMemoryRebound(to: CChar.self) { characters in
                unsafe csqlite_bind_text(
                    handle,
                    Int32(index),
                    characters.baseAddress,
                    UInt64(characters.count)
                )
            }
        }
        try bound(code, index)
    }

    /// Binds a copy of the bytes.
    package func bind(_ bytes: Span<UInt8>, at index: Int) throws(StorageError) {
        let code = unsafe bytes.withUnsafeBytes { buffer in
            unsafe csqlite_bind_blob(handle, Int32(index), buffer.baseAddress, UInt64(buffer.count))
        }
        try bound(code, index)
    }

    package func bind(_ bytes: [UInt8], at index: Int) throws(StorageError) {
        try bind(bytes.span, at: index)
    }

    package func bindNull(at index: Int) throws(StorageError) {
        try bound(unsafe sqlite3_bind_null(handle, Int32(index)), index)
    }
}

// Numbers of columns are checked: SQLite answers one that is not there with nothing at all.
extension Statement {
    package func isNull(_ column: Int) -> Bool {
        unsafe sqlite3_column_type(handle, checked(column)) == SQLITE_NULL
    }

    /// The column as a number; 0 if it is none.
    package func int64(_ column: Int) -> Int64 {
        unsafe sqlite3_column_int64(handle, checked(column))
    }

    /// The column as the number whose bits were bound.
    package func uint64(_ column: Int) -> UInt64 { UInt64(bitPattern: int64(column)) }

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
