import FeedRanking
import FeedSQLite

/// A row of `marks`: the marks of a viewer on 1024 posts.
enum MarkRow {
    static let upsert = "INSERT OR REPLACE INTO marks VALUES (?, ?, ?, ?)"
    static let delete = "DELETE FROM marks WHERE viewer = ? AND chunk = ?"
    static let one = "SELECT viewer, chunk, sum, packed FROM marks WHERE viewer = ? AND chunk = ?"
    static let all = "SELECT viewer, chunk, sum, packed FROM marks ORDER BY viewer, chunk"

    /// Writes a chunk's row; gives its checksum.
    static func write(
        _ key: UInt64,
        _ chunk: MarkChunk,
        _ buffer: inout [UInt8],
        with row: Statement
    ) throws(SQLiteError) -> UInt64 {
        chunk.write(into: &buffer)
        let sum = Self.sum(key, buffer.span)
        try bind(key, to: row)
        try row.bind(sum, at: 3)
        try row.bind(buffer, at: 4)
        try row.run()
        return sum
    }

    /// Binds the viewer and the chunk of a key to the first two parameters.
    static func bind(_ key: UInt64, to row: Statement) throws(SQLiteError) {
        try row.bind(Int64(MarkChunk.viewer(of: key).rawValue), at: 1)
        try row.bind(MarkChunk.number(of: key), at: 2)
    }

    /// Reads the row that a statement stands at; gives its key and its checksum.
    static func read(
        _ row: Statement,
        into chunk: inout MarkChunk
    ) throws(StateError) -> (key: UInt64, sum: UInt64) {
        let name = "row (\(row.uint64(0)), \(row.uint64(1)))"
        guard let viewer = UInt32(exactly: row.int64(0)), let number = UInt32(exactly: row.int64(1))
        else { throw StateTable.marks.damaged(name, "a field has an impossible value") }
        let key = UInt64(viewer) << 32 | UInt64(number)
        let (sum, isChunk) = row.withBlob(3) { bytes in
            (Self.sum(key, bytes), chunk.read(bytes))
        }
        guard row.uint64(2) == sum else { throw StateTable.marks.wrongSum(name) }
        guard isChunk else { throw StateTable.marks.damaged(name, "it is no chunk") }
        return (key, sum)
    }

    private static func sum(_ key: UInt64, _ bytes: Span<UInt8>) -> UInt64 {
        var sum = RowSum(.marks)
        sum.add([key])
        sum.add(bytes)
        return sum.value
    }
}
