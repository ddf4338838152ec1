import FeedLog
import FeedRanking
import FeedSQLite

/// A row of `deletions`: a post that was deleted, which readers of changes may still have to learn; or
/// the one row of the revision up to which deletions are not kept.
enum DeletionRow {
    /// What the row says.
    enum Kind: Int64 {
        /// Deletions up to the revision are not kept.
        case floor = 0
        /// The post was deleted at the revision.
        case deletion = 1
    }

    static let upsert = "INSERT OR REPLACE INTO deletions VALUES (?, ?, ?, ?, ?)"
    static let storedSum = "SELECT sum FROM deletions WHERE kind = 1 AND revision = ?"
    static let all = "SELECT kind, revision, post, time, sum FROM deletions ORDER BY kind, revision"
    static let oldest = """
        SELECT revision, time, sum FROM deletions WHERE kind = 1 ORDER BY revision LIMIT ?
        """
    static let deleteThrough = "DELETE FROM deletions WHERE kind = 1 AND revision <= ?"
    static let floor = "SELECT revision, sum FROM deletions WHERE kind = 0"
    static let deleteFloor = "DELETE FROM deletions WHERE kind = 0"

    /// Writes a row; gives its checksum.
    static func write(
        _ kind: Kind,
        _ revision: UInt64,
        post: UInt64,
        at time: Int64,
        with row: Statement
    ) throws(SQLiteError) -> UInt64 {
        let sum = sum(kind.rawValue, revision: revision, post: post, time: time)
        try row.bind(kind.rawValue, at: 1)
        try row.bind(revision, at: 2)
        try row.bind(post, at: 3)
        try row.bind(time, at: 4)
        try row.bind(sum, at: 5)
        try row.run()
        return sum
    }

    /// Reads the row that a statement stands at; nil for the row of the floor, and the checksum.
    static func read(_ row: Statement) throws(StateError) -> (LogEntry?, UInt64) {
        let revision = row.uint64(1)
        let sum = sum(row.int64(0), revision: revision, post: row.uint64(2), time: row.int64(3))
        guard row.uint64(4) == sum else { throw StateTable.deletions.wrongSum("row \(revision)") }
        guard let kind = Kind(rawValue: row.int64(0)) else {
            throw StateTable.deletions.damaged("row \(revision)", "a field has an impossible value")
        }
        guard kind == .deletion else { return (nil, sum) }
        return (.deletion(PostID(rawValue: row.uint64(2)), revision: revision), sum)
    }

    private static func sum(
        _ kind: Int64,
        revision: UInt64,
        post: UInt64,
        time: Int64
    ) -> UInt64 {
        var sum = RowSum(.deletions)
        sum.add([UInt64(bits: kind), revision, post, UInt64(bits: time)])
        return sum.value
    }
}
