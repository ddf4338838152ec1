import FeedRanking
import FeedSQLite

/// A row of `user_voters`: the user of a voter.
enum UserVoterRow {
    static let upsert = "INSERT OR REPLACE INTO user_voters VALUES (?, ?, ?)"
    static let storedSum = "SELECT sum FROM user_voters WHERE number = ?"
    static let all = "SELECT number, user, sum FROM user_voters ORDER BY number"

    /// Writes a voter's row; gives its checksum.
    static func write(
        _ voter: VoterID,
        _ user: UInt64,
        with row: Statement
    ) throws(SQLiteError) -> UInt64 {
        let sum = Self.sum(voter, user)
        try row.bind(Int64(voter.rawValue), at: 1)
        try row.bind(user, at: 2)
        try row.bind(sum, at: 3)
        try row.run()
        return sum
    }

    /// Reads the row that a statement stands at; gives its checksum too.
    static func read(_ row: Statement) throws(StateError) -> (VoterID, UInt64, UInt64) {
        guard let number = UInt32(exactly: row.int64(0)) else {
            throw StateTable.userVoters.damaged(
                "row \(row.int64(0))",
                "a field has an impossible value"
            )
        }
        let voter = VoterID(rawValue: number)
        let user = row.uint64(1)
        let sum = Self.sum(voter, user)
        guard row.uint64(2) == sum else { throw StateTable.userVoters.wrongSum("row \(number)") }
        return (voter, user, sum)
    }

    private static func sum(_ voter: VoterID, _ user: UInt64) -> UInt64 {
        var sum = RowSum(.userVoters)
        sum.add([UInt64(voter.rawValue), user])
        return sum.value
    }
}
