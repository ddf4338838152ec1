import FeedAccounts
import FeedSQLite

/// A row of `sessions`.
enum SessionsRow {
    static let upsert = "INSERT OR REPLACE INTO sessions VALUES (?, ?, ?, ?, ?)"
    static let one = """
        SELECT token_hash, user, expire_time, generation, sum FROM sessions WHERE token_hash = ?
        """
    static let delete = "DELETE FROM sessions WHERE token_hash = ?"
    static let sumsBelow = "SELECT sum FROM sessions WHERE user = ? AND generation < ?"
    static let deleteBelow = "DELETE FROM sessions WHERE user = ? AND generation < ?"
    static let all = """
        SELECT token_hash, user, expire_time, generation, sum FROM sessions ORDER BY token_hash
        """

    /// Writes a session's row; gives its checksum.
    static func write(_ session: SessionRow, with row: Statement) throws(SQLiteError) -> UInt64 {
        let sum = Self.sum(session)
        try row.bind(session.tokenHash.bytes, at: 1)
        try row.bind(session.userID, at: 2)
        try row.bind(session.expireTimeMilliseconds, at: 3)
        try row.bind(session.generation, at: 4)
        try row.bind(sum, at: 5)
        try row.run()
        return sum
    }

    /// Reads the row that a statement stands at; gives its checksum too.
    static func read(_ row: Statement) throws(StateError) -> (SessionRow, UInt64) {
        let bytes = row.withBlob(0) { bytes in bytes.indices.map { bytes[$0] } }
        guard let hash = TokenHash(bytes: bytes) else {
            throw StateTable.sessions.damaged(
                "a row of user \(row.uint64(1))",
                "a field has an impossible value"
            )
        }
        let session = SessionRow(
            tokenHash: hash,
            userID: row.uint64(1),
            expireTimeMilliseconds: row.int64(2),
            generation: row.uint64(3)
        )
        let sum = Self.sum(session)
        guard row.uint64(4) == sum else {
            throw StateTable.sessions.wrongSum("a row of user \(session.userID)")
        }
        return (session, sum)
    }

    /// The checksum of a session's row.
    static func sum(_ session: SessionRow) -> UInt64 {
        var sum = RowSum(.sessions)
        let hash = session.tokenHash
        sum.add([
            hash.word0, hash.word1, hash.word2, hash.word3, session.userID,
            UInt64(bits: session.expireTimeMilliseconds), session.generation,
        ])
        return sum.value
    }
}
