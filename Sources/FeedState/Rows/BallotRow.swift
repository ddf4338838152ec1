import FeedSQLite

/// A row of `ballots`: the ballots of 1024 voters on one post.
enum BallotRow {
    static let upsert = "INSERT OR REPLACE INTO ballots VALUES (?, ?, ?, ?)"
    static let delete = "DELETE FROM ballots WHERE post = ? AND chunk = ?"
    static let deletePost = "DELETE FROM ballots WHERE post = ?"
    static let sumsOfPost = "SELECT sum FROM ballots WHERE post = ?"
    static let one = "SELECT post, chunk, sum, packed FROM ballots WHERE post = ? AND chunk = ?"
    static let all = "SELECT post, chunk, sum, packed FROM ballots ORDER BY post, chunk"

    /// Writes a chunk's row; gives its checksum.
    static func write(
        _ post: UInt64,
        _ number: UInt32,
        _ chunk: BallotChunk,
        _ buffer: inout [UInt8],
        with row: Statement
    ) throws(SQLiteError) -> UInt64 {
        chunk.write(into: &buffer)
        let sum = Self.sum(post, UInt64(number), buffer.span)
        try row.bind(post, at: 1)
        try row.bind(Int64(number), at: 2)
        try row.bind(sum, at: 3)
        try row.bind(buffer, at: 4)
        try row.run()
        return sum
    }

    /// Reads the row that a statement stands at; gives its checksum.
    static func read(
        _ row: Statement,
        into chunk: inout BallotChunk
    ) throws(StateError) -> UInt64 {
        let post = row.uint64(0)
        let number = row.uint64(1)
        let (sum, isChunk) = row.withBlob(3) { bytes in
            (Self.sum(post, number, bytes), chunk.read(bytes))
        }
        guard row.uint64(2) == sum else {
            throw StateTable.ballots.wrongSum("row (\(post), \(number))")
        }
        guard isChunk, chunk.count > 0, number <= UInt64(UInt32.max) / 1_024 else {
            throw StateTable.ballots.damaged("row (\(post), \(number))", "it is no chunk")
        }
        return sum
    }

    private static func sum(_ post: UInt64, _ number: UInt64, _ bytes: Span<UInt8>) -> UInt64 {
        var sum = RowSum(.ballots)
        sum.add([post, number])
        sum.add(bytes)
        return sum.value
    }
}
