import FeedRanking
import FeedSQLite

/// A row of `feeds`.
enum FeedRow {
    static let upsert = "INSERT OR REPLACE INTO feeds VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
    static let storedSum = "SELECT sum FROM feeds WHERE number = ?"
    static let all = """
        SELECT number, name, default_order, vote_mode, maximum_title, minimum_text, maximum_text,
            sum FROM feeds ORDER BY number
        """

    /// Writes a feed's row; gives its checksum.
    static func write(
        _ id: FeedID,
        _ policy: FeedPolicy,
        with row: Statement
    ) throws(SQLiteError) -> UInt64 {
        let sum = Self.sum(id, policy)
        try row.bind(Int64(id.rawValue), at: 1)
        try row.bind(policy.name, at: 2)
        try row.bind(Int64(policy.defaultOrder.rawValue), at: 3)
        try row.bind(Int64(policy.voteMode.rawValue), at: 4)
        try row.bind(Int64(policy.maximumTitleCharacterCount), at: 5)
        try row.bind(Int64(policy.minimumTextCharacterCount), at: 6)
        try row.bind(Int64(policy.maximumTextCharacterCount), at: 7)
        try row.bind(sum, at: 8)
        try row.run()
        return sum
    }

    /// Reads the row that a statement stands at; gives its checksum too.
    static func read(_ row: Statement) throws(StateError) -> (FeedID, FeedPolicy, UInt64) {
        func key() -> String { "row \(row.int64(0))" }
        guard let number = UInt32(exactly: row.int64(0)), let name = row.text(1),
            let order = UInt8(exactly: row.int64(2)).flatMap(Order.init(rawValue:)),
            let mode = UInt8(exactly: row.int64(3)).flatMap(VoteMode.init(rawValue:))
        else { throw StateTable.feeds.damaged(key(), "a field has an impossible value") }
        let id = FeedID(rawValue: number)
        let policy = FeedPolicy(
            name: name,
            defaultOrder: order,
            voteMode: mode,
            maximumTitleCharacterCount: Int(row.int64(4)),
            minimumTextCharacterCount: Int(row.int64(5)),
            maximumTextCharacterCount: Int(row.int64(6))
        )
        let sum = Self.sum(id, policy)
        guard row.uint64(7) == sum else { throw StateTable.feeds.wrongSum(key()) }
        return (id, policy, sum)
    }

    private static func sum(_ id: FeedID, _ policy: FeedPolicy) -> UInt64 {
        var sum = RowSum(.feeds)
        sum.add([
            UInt64(id.rawValue), UInt64(policy.defaultOrder.rawValue),
            UInt64(policy.voteMode.rawValue),
            UInt64(bits: Int64(policy.maximumTitleCharacterCount)),
            UInt64(bits: Int64(policy.minimumTextCharacterCount)),
            UInt64(bits: Int64(policy.maximumTextCharacterCount)),
        ])
        sum.add(policy.name)
        return sum.value
    }
}
