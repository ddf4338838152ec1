import CSQLite

extension Statement {
    /// Binds a number.
    package func bind(_ number: Int64, at index: Int) throws(SQLiteError) {
        try bound(unsafe sqlite3_bind_int64(handle, Int32(index), number), index)
    }

    /// Binds a number's bits: those above Int64's greatest order as negative ones.
    package func bind(_ number: UInt64, at index: Int) throws(SQLiteError) {
        try bind(Int64(bitPattern: number), at: index)
    }

    /// Binds text; a zero byte in it is kept.
    package func bind(_ text: String, at index: Int) throws(SQLiteError) {
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
    package func bind(_ bytes: Span<UInt8>, at index: Int) throws(SQLiteError) {
        let code = unsafe bytes.withUnsafeBytes { buffer in
            unsafe csqlite_bind_blob(
                handle,
                Int32(index),
                buffer.baseAddress,
                UInt64(buffer.count)
            )
        }
        try bound(code, index)
    }

    /// Binds a copy of the bytes.
    package func bind(_ bytes: [UInt8], at index: Int) throws(SQLiteError) {
        try bind(bytes.span, at: index)
    }

    /// Binds NULL.
    package func bindNull(at index: Int) throws(SQLiteError) {
        try bound(unsafe sqlite3_bind_null(handle, Int32(index)), index)
    }
}
