import FeedAccounts
import FeedLog
import FeedSQLite

struct AccountsRow: StateRow {
    static let table = StateTable.accounts

    var account = AccountRow(
        id: 0,
        email: "",
        displayName: "",
        passwordHash: "",
        createTimeMilliseconds: 0
    )
    var generation: UInt64 = 0

    mutating func visit(_ columns: inout Columns) {
        columns.number("id", &account.id, as: .key)
        columns.number("create_time", &account.createTimeMilliseconds)
        columns.number("generation", &generation)
        columns.sumColumn()
        columns.text("email", &account.email)
        columns.text("display_name", &account.displayName)
        columns.text("password_hash", &account.passwordHash)
        columns.number("version", &account.version, as: Columns.Use(format: 4))
        columns.number("status", &account.status, as: Columns.Use(format: 4))
        columns.require(fit: account.version > 0 || account.isActive)
        columns.require(fit: !account.isDeleted || account.hasNoTexts)
    }

    func visitEntries(_ body: (LogEntry) -> Void) {
        body(.account(account))
        if generation > 0 { body(.sessionsEnded(userID: account.id, generation: generation)) }
    }
}

struct SessionsRow: StateRow {
    static let table = StateTable.sessions
    static let indexes = ["CREATE INDEX sessions_of_user ON sessions (user, generation)"]

    var session = SessionRow(
        tokenHash: TokenHash(0, 0, 0, 0),
        userID: 0,
        expireTimeMilliseconds: 0,
        generation: 0
    )

    mutating func visit(_ columns: inout Columns) {
        columns.bytes("token_hash", &session.tokenHash, as: .key)
        columns.number("user", &session.userID)
        columns.number("expire_time", &session.expireTimeMilliseconds)
        columns.number("generation", &session.generation)
        columns.sumColumn()
        columns.number("kind", &session.kind, as: Columns.Use(format: 4))
    }

    /// Without the hash, by which nobody knows the session.
    static func name(of row: Statement) -> String { "a row of user \(row.uint64(1))" }

    func visitEntries(_ body: (LogEntry) -> Void) { body(.session(session)) }
}
