import FeedSQLite

/// The statements that read and write rows, prepared once for a connection.
struct RowStatements {
    let post: (upsert: Statement, sum: Statement, delete: Statement)
    let counts: (upsert: Statement, one: Statement, delete: Statement)
    let ballots: (upsert: Statement, one: Statement, delete: Statement)
    let ballotsOfPost: (sums: Statement, delete: Statement)
    let voter: (upsert: Statement, sum: Statement)
    let userVoter: (upsert: Statement, sum: Statement)
    let account: (upsert: Statement, one: Statement)
    let session: (upsert: Statement, one: Statement, delete: Statement)
    let sessionsBelow: (sums: Statement, delete: Statement)
    let marks: (upsert: Statement, one: Statement, delete: Statement)
    let markThrough: (upsert: Statement, one: Statement)
    let deletion: (upsert: Statement, sum: Statement, oldest: Statement, deleteThrough: Statement)
    let deletionsFloor: (one: Statement, delete: Statement)
    let feed: (upsert: Statement, sum: Statement)
    let channel: (upsert: Statement, one: Statement, sum: Statement, delete: Statement)

    /// Prepares them all.
    init(_ database: Database) throws(SQLiteError) {
        post = (
            try database.prepare(PostRow.upsert), try database.prepare(PostRow.storedSum),
            try database.prepare(PostRow.delete)
        )
        counts = (
            try database.prepare(CountsRow.upsert), try database.prepare(CountsRow.one),
            try database.prepare(CountsRow.delete)
        )
        ballots = (
            try database.prepare(BallotRow.upsert), try database.prepare(BallotRow.one),
            try database.prepare(BallotRow.delete)
        )
        ballotsOfPost = (
            try database.prepare(BallotRow.sumsOfPost), try database.prepare(BallotRow.deletePost)
        )
        voter = (try database.prepare(VoterRow.upsert), try database.prepare(VoterRow.storedSum))
        userVoter = (
            try database.prepare(UserVoterRow.upsert), try database.prepare(UserVoterRow.storedSum)
        )
        account = (try database.prepare(AccountsRow.upsert), try database.prepare(AccountsRow.one))
        session = (
            try database.prepare(SessionsRow.upsert), try database.prepare(SessionsRow.one),
            try database.prepare(SessionsRow.delete)
        )
        sessionsBelow = (
            try database.prepare(SessionsRow.sumsBelow),
            try database.prepare(SessionsRow.deleteBelow)
        )
        marks = (
            try database.prepare(MarkRow.upsert), try database.prepare(MarkRow.one),
            try database.prepare(MarkRow.delete)
        )
        markThrough = (
            try database.prepare(MarkThroughRow.upsert), try database.prepare(MarkThroughRow.one)
        )
        deletion = (
            try database.prepare(DeletionRow.upsert), try database.prepare(DeletionRow.storedSum),
            try database.prepare(DeletionRow.oldest),
            try database.prepare(DeletionRow.deleteThrough)
        )
        deletionsFloor = (
            try database.prepare(DeletionRow.floor), try database.prepare(DeletionRow.deleteFloor)
        )
        feed = (try database.prepare(FeedRow.upsert), try database.prepare(FeedRow.storedSum))
        channel = (
            try database.prepare(ChannelRow.upsert), try database.prepare(ChannelRow.one),
            try database.prepare(ChannelRow.storedSum), try database.prepare(ChannelRow.delete)
        )
    }
}

extension Statement {
    /// The number in the only column of the row of a key; nil where there is no row.
    func number(of key: UInt64) throws(SQLiteError) -> UInt64? {
        try bind(key, at: 1)
        defer { reset() }
        return try step() ? uint64(0) : nil
    }

    /// Runs it for a key.
    func run(for key: UInt64) throws(SQLiteError) {
        try bind(key, at: 1)
        try run()
    }
}
