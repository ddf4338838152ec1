import FeedAccounts
import FeedJournal
import FeedLog
import FeedRanking
import FeedState
import FeedTestSupport
import Testing

/// Accounts, sessions and marks between the log and their tables.
@Suite struct AccountCheckpointTests {
    private static let account = AccountRow(
        id: 1,
        email: "a@example.org",
        displayName: "A",
        passwordHash: "$argon2id$",
        createTimeMilliseconds: 5
    )

    private static func session(
        _ number: UInt64,
        expiring time: Int64 = 100,
        generation: UInt64 = 0
    ) -> SessionRow {
        SessionRow(
            tokenHash: TokenHash(number, 2, 3, 4),
            userID: 1,
            expireTimeMilliseconds: time,
            generation: generation
        )
    }

    /// The sessions that a new directory has after checkpoints of these entries, one for each list.
    private static func sessions(_ checkpoints: [[LogEntry]]) throws -> Set<UInt64> {
        let directory = try DataDirectory()
        let database = try directory.create()
        for entries in [[.account(account)]] + checkpoints {
            try StateFixture.checkpoint([StateFixture.body(entries)], into: database)
        }
        try database.verify()
        let found = try StateModel(database).viewers
        #expect(found.accounts == [1: account])
        return Set(found.sessions.keys.map(\.word0))
    }

    @Test func theEndOfASessionIsFinalWhereverItStands() throws {
        let begin = LogEntry.session(Self.session(1))
        let renewal = LogEntry.session(Self.session(1, expiring: 200))
        let end = LogEntry.sessionEnded(Self.session(1).tokenHash)
        #expect(try Self.sessions([[end, begin, renewal]]).isEmpty)
        #expect(try Self.sessions([[begin], [end, renewal]]).isEmpty)
        #expect(try Self.sessions([[begin, renewal], [end]]).isEmpty)
    }

    @Test func theLatestExpiryStands() throws {
        let directory = try DataDirectory()
        let database = try directory.create()
        let rows = [Self.session(1, expiring: 300), Self.session(1, expiring: 200)]
        for row in rows {
            try StateFixture.checkpoint([StateFixture.body([.session(row)])], into: database)
        }
        #expect(
            try StateModel(database).viewers.sessions.values.map(\.expireTimeMilliseconds) == [300]
        )
    }

    @Test func aNewGenerationEndsTheSessionsBelowIt() throws {
        let end = LogEntry.sessionsEnded(userID: 1, generation: 1)
        let (old, new) = (Self.session(1), Self.session(2, generation: 1))
        #expect(try Self.sessions([[.session(old)], [.session(new), end]]) == [2])
        #expect(try Self.sessions([[end, .session(old), .session(new)]]) == [2])
    }

    /// What a start hands over is what the rows and the records after them came to.
    @Test func aStartJoinsRowsAndRecords() throws {
        let directory = try DataDirectory()
        let database = try directory.create()
        let entries: [LogEntry] = [
            .account(Self.account), .session(Self.session(1)), .session(Self.session(2)),
        ]
        try StateFixture.checkpoint([StateFixture.body(entries)], into: database)
        let accounts = AccountsRecovery()
        let store = FeedStore(stripeCount: 1) { 0 }
        try database.load(into: store, accounts: accounts, channels: { _, _ in })
        #expect(accounts.state.accounts == [Self.account])
        #expect(Set(accounts.state.sessions.map(\.tokenHash.word0)) == [1, 2])
        let hash = accounts.state.stateHash
        let empty = AccountsState().stateHash
        #expect(hash != 0 && empty == 0)
    }

    /// More marks than fit into a row, by several viewers; then most are taken back.
    @Test func marksAreKeptHoweverMany() throws {
        let directory = try DataDirectory()
        let database = try directory.create()
        var model = ViewerModel()
        var revision: UInt64 = 0
        func checkpoint(_ posts: [UInt64], _ marks: MarkSet) throws {
            let entries = posts.flatMap { post in
                (0..<3 as Range<UInt32>).map { viewer in
                    revision += 1
                    return LogEntry.marks(
                        PostMarks(
                            viewer: VoterID(rawValue: viewer << 28),
                            post: PostID(rawValue: post),
                            marks: marks,
                            revision: revision
                        )
                    )
                }
            }
            for entry in entries { model.apply(entry) }
            try StateFixture.checkpoint([StateFixture.body(entries)], into: database)
            #expect(try StateModel(database).viewers == model)
        }
        try checkpoint(Array(1...3_000), .read)
        try checkpoint([5, 1_023, 1_024, 9_999_999], [.unread, .dismissed])
        try checkpoint((1...3_000).filter { $0 % 50 != 0 }, [])
        try database.verify()
        #expect(database.meta.highestRevision == revision)
    }

    /// A checkpoint that was cut off leaves newer marks, which older records do not replace.
    @Test func olderMarksDoNotReplaceNewerOnes() throws {
        let directory = try DataDirectory()
        let database = try directory.create()
        func entry(_ marks: MarkSet, _ revision: UInt64) -> LogEntry {
            .marks(
                PostMarks(
                    viewer: VoterID(rawValue: 0),
                    post: PostID(rawValue: 1),
                    marks: marks,
                    revision: revision
                )
            )
        }
        try StateFixture.checkpoint([StateFixture.body([entry(.dismissed, 9)])], into: database)
        try StateFixture.checkpoint([StateFixture.body([entry(.read, 5)])], into: database)
        #expect(try StateModel(database).viewers.marks.values.map(\.marks) == [.dismissed])
    }
}
