import FeedJournal
import FeedLog
import FeedRanking
import FeedSQLite
import FeedState
import Testing

/// A `state.db` that version 0.2.0 wrote, before format 2.
@Suite struct FormatOneTests {
    /// The state hash that 0.2.0 printed of it.
    private static let stateHash: UInt64 = 0x4d1c_fa8b_f222_e1c1

    @Test func isMigratedWithAllThatItHas() throws {
        let directory = try DataDirectory(golden: "state-format-1.sql")
        var database = try directory.open()
        try database.verify()
        #expect(try StateFixture.storeHash(database) == Self.stateHash)
        let model = try StateModel(database)
        #expect(model.posts.keys.sorted() == [1, 2, 3, 5])
        #expect(model.posts.values.allSatisfy { $0.content.authorID == 0 })
        #expect(model.ballots == [2: [0: .up]])
        #expect(model.outcomes[1]?.count == 13)
        #expect(model.viewers == ViewerModel())
        #expect(try directory.files.names(in: ".").contains("state.db.format-1"))
        // The format stays, and so does what is in the file.
        database = try directory.reopen(&database)
        try database.verify()
        #expect(try StateModel(database) == model)
    }

    /// It has not kept what was deleted, so who has come less far begins a new copy.
    @Test func knowsNoDeletionOfBefore() throws {
        let directory = try DataDirectory(golden: "state-format-1.sql")
        func deletionsKnownSince() throws -> UInt64? {
            let row = try Database(path: directory.path + "/state.db", mode: .existing)
                .prepare("SELECT revision FROM deletions WHERE kind = 0")
            return try row.step() ? row.uint64(0) : nil
        }
        var database: StateDatabase? = try directory.open()
        let revision = database?.meta.highestRevision
        database = nil
        #expect(try deletionsKnownSince() == nil)
        database = try directory.open()
        let counters = LogEntry.counters(lastID: 1, revision: 1)
        try StateFixture.checkpoint([StateFixture.body([counters])], into: #require(database))
        database = nil
        #expect(try deletionsKnownSince() == revision)
    }

    /// A verification, which may change nothing, reads the older format as it is.
    @Test func isReadWithoutAChange() throws {
        let directory = try DataDirectory(golden: "state-format-1.sql")
        let before = try directory.read("state.db")
        let database = try StateDatabase.look(directory: directory.path, files: directory.files)
        try database.verify()
        #expect(try StateFixture.storeHash(database) == Self.stateHash)
        #expect(try directory.read("state.db") == before)
        #expect(try directory.files.names(in: ".").allSatisfy { !$0.contains("format") })
    }

    @Test func takesRowsOfTheNewTables() throws {
        let directory = try DataDirectory(golden: "state-format-1.sql")
        var database = try directory.open()
        var model = try StateModel(database)
        var post = try #require(model.posts[1])
        post.counts.revision = 16_777_300
        post.editRevision = 16_777_300
        post.content.authorID = 7
        let marks = PostMarks(
            viewer: VoterID(rawValue: 0),
            post: PostID(rawValue: 3),
            marks: .dismissed,
            revision: 16_777_301
        )
        let user = VoterID(rawValue: 1 << 29)
        let entries: [LogEntry] = [
            .post(post), .marks(marks), .userVoter(user, userID: 1 << 63),
        ]
        try StateFixture.checkpoint([StateFixture.body(entries)], into: database)
        for entry in entries { model.apply(entry) }
        database = try directory.reopen(&database)
        try database.verify()
        #expect(try StateModel(database) == model)
    }
}
