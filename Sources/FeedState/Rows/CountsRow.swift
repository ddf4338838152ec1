import FeedSQLite

/// A row of `counts`: the votes of 128 posts.
enum CountsRow {
    static let upsert = "INSERT OR REPLACE INTO counts VALUES (?, ?, ?, ?)"
    static let delete = "DELETE FROM counts WHERE chunk = ?"
    static let one = "SELECT chunk, newest_revision, sum, packed FROM counts WHERE chunk = ?"
    static let all = "SELECT chunk, newest_revision, sum, packed FROM counts ORDER BY chunk"

    /// Writes a chunk's row; gives its checksum.
    static func write(
        _ number: UInt64,
        _ chunk: CountsChunk,
        _ buffer: inout [UInt8],
        with row: Statement
    ) throws(SQLiteError) -> UInt64 {
        chunk.write(into: &buffer)
        let newest = chunk.newestRevision
        let sum = Self.sum(number, newest, buffer.span)
        try row.bind(number, at: 1)
        try row.bind(newest, at: 2)
        try row.bind(sum, at: 3)
        try row.bind(buffer, at: 4)
        try row.run()
        return sum
    }

    /// Reads the row that a statement stands at; gives its checksum.
    static func read(
        _ row: Statement,
        into chunk: inout CountsChunk
    ) throws(StateError) -> UInt64 {
        let number = row.uint64(0)
        let newest = row.uint64(1)
        let (sum, isChunk) = row.withBlob(3) { bytes in
            (Self.sum(number, newest, bytes), chunk.read(bytes))
        }
        guard row.uint64(2) == sum else { throw StateTable.counts.wrongSum("row \(number)") }
        guard isChunk, newest == chunk.newestRevision, newest != 0 else {
            throw StateTable.counts.damaged("row \(number)", "the counts are no chunk")
        }
        return sum
    }

    private static func sum(_ number: UInt64, _ newest: UInt64, _ bytes: Span<UInt8>) -> UInt64 {
        var sum = RowSum(.counts)
        sum.add([number, newest])
        sum.add(bytes)
        return sum.value
    }
}
