import FeedAccounts
import FeedSQLite

/// A row of `accounts`: an account and the generation of its sessions.
enum AccountsRow {
    static let upsert = "INSERT OR REPLACE INTO accounts VALUES (?, ?, ?, ?, ?, ?, ?)"
    static let one = """
        SELECT id, create_time, generation, sum, email, display_name, password_hash
            FROM accounts WHERE id = ?
        """
    static let all = """
        SELECT id, create_time, generation, sum, email, display_name, password_hash
            FROM accounts ORDER BY id
        """

    /// Writes an account's row; gives its checksum.
    static func write(
        _ account: AccountRow,
        _ generation: UInt64,
        with row: Statement
    ) throws(SQLiteError) -> UInt64 {
        let sum = Self.sum(account, generation)
        try row.bind(account.id, at: 1)
        try row.bind(account.createTimeMilliseconds, at: 2)
        try row.bind(generation, at: 3)
        try row.bind(sum, at: 4)
        try row.bind(account.email, at: 5)
        try row.bind(account.displayName, at: 6)
        try row.bind(account.passwordHash, at: 7)
        try row.run()
        return sum
    }

    /// Reads the row that a statement stands at; gives its checksum too.
    static func read(
        _ row: Statement
    ) throws(StateError) -> (account: AccountRow, generation: UInt64, sum: UInt64) {
        let id = row.uint64(0)
        guard let email = row.text(4), let name = row.text(5), let hash = row.text(6) else {
            throw StateTable.accounts.damaged("row \(id)", "a field has an impossible value")
        }
        let account = AccountRow(
            id: id,
            email: email,
            displayName: name,
            passwordHash: hash,
            createTimeMilliseconds: row.int64(1)
        )
        let generation = row.uint64(2)
        let sum = Self.sum(account, generation)
        guard row.uint64(3) == sum else { throw StateTable.accounts.wrongSum("row \(id)") }
        return (account, generation, sum)
    }

    /// The checksum of an account's row.
    static func sum(_ account: AccountRow, _ generation: UInt64) -> UInt64 {
        var sum = RowSum(.accounts)
        sum.add([account.id, UInt64(bits: account.createTimeMilliseconds), generation])
        sum.add(account.email)
        sum.add(account.displayName)
        sum.add(account.passwordHash)
        return sum.value
    }
}
