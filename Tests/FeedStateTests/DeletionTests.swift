import FeedJournal
import FeedLog
import FeedRanking
import FeedState
import Testing

/// The deletions that a state keeps for readers of changes.
@Suite struct DeletionTests {
    private static let day = RankingLimits.tombstoneLifetime

    private static func deletion(_ id: UInt64, revision: UInt64) -> LogEntry {
        .deletion(PostID(rawValue: id), revision: revision)
    }

    /// Checkpoints log entries at a time, after those that are checkpointed.
    private static func checkpoint(
        _ entries: [LogEntry],
        into database: StateDatabase,
        at time: Int64
    ) throws {
        var memtable = Memtable()
        let number = database.meta.checkpointed.number + 1
        let position = JournalPosition(number: number, hash: number &* 31)
        try memtable.add(StateFixture.body(entries), at: position)
        _ = try Checkpoint(memtable, into: database, at: time).step()
    }

    /// What a reader that has come to a revision gets of the state: the ids of the posts that were
    /// deleted, or nil where a new copy begins.
    private static func deletedIDs(
        of database: StateDatabase,
        since revision: UInt64
    ) throws -> [UInt64]? {
        let store = FeedStore(stripeCount: 2) { 0 }
        try database.load(into: store, channels: { _, _ in })
        try store.restore(lastID: store.highestID, revision: store.revision + 100)
        var page = PostPage()
        var allowance = RefreshAllowance(keyCount: .max)
        let position = SyncPosition(revision: revision, copyRevision: 0)
        let query = SyncQuery(position: position, size: 100)
        guard case .done(let read) = store.sync(query, into: &page, allowance: &allowance),
            !read.isReset
        else { return nil }
        return page.rows.filter(\.isDeleted).map(\.id.rawValue)
    }

    private static func state(_ directory: DataDirectory) throws -> StateDatabase {
        let database = try directory.create()
        try checkpoint((1...4).map { StateFixture.post($0, revision: $0) }, into: database, at: 0)
        return database
    }

    @Test func outliveARestart() throws {
        let directory = try DataDirectory()
        var database = try Self.state(directory)
        try Self.checkpoint([Self.deletion(2, revision: 5)], into: database, at: 0)
        // A post that came and went between two checkpoints: somebody may have seen it.
        let brief = [StateFixture.post(5, revision: 6), Self.deletion(5, revision: 7)]
        try Self.checkpoint(brief, into: database, at: 0)
        database = try directory.reopen(&database)
        try database.verify()
        #expect(try Self.deletedIDs(of: database, since: 1) == [2, 5])
        #expect(try Self.deletedIDs(of: database, since: 5) == [5])
        #expect(try Self.deletedIDs(of: database, since: 7) == [])
    }

    @Test func areForgottenAfterADay() throws {
        let directory = try DataDirectory()
        let database = try Self.state(directory)
        try Self.checkpoint([Self.deletion(2, revision: 5)], into: database, at: 0)
        try Self.checkpoint([Self.deletion(3, revision: 6)], into: database, at: Self.day)
        #expect(try Self.deletedIDs(of: database, since: 4) == [2, 3])
        try Self.checkpoint([Self.deletion(4, revision: 7)], into: database, at: Self.day + 1)
        #expect(try Self.deletedIDs(of: database, since: 4) == nil)
        #expect(try Self.deletedIDs(of: database, since: 5) == [3, 4])
        try database.verify()
    }

    /// A checkpoint that was interrupted writes the same rows again.
    @Test func areWrittenAgainWithoutHarm() throws {
        let directory = try DataDirectory()
        let database = try Self.state(directory)
        for time in 0..<3 as Range<Int64> {
            try Self.checkpoint([Self.deletion(2, revision: 5)], into: database, at: time)
        }
        #expect(try Self.deletedIDs(of: database, since: 4) == [2])
        try database.verify()
    }
}
