import FeedAccounts
import FeedJournal
import FeedLog
import FeedRanking
import FeedSQLite
import FeedState
import FeedTestSupport
import Testing

@Suite struct MigrationTests {
    /// Formats yet to come.
    private static let migrations = [
        StateMigration(from: 4, statements: ["CREATE TABLE more (id INTEGER PRIMARY KEY)"]),
        StateMigration(
            from: 5,
            statements: ["ALTER TABLE more ADD COLUMN x", "INSERT INTO more VALUES (1, 2)"]
        ),
    ]

    @Test func anOlderFormatIsCopiedAndChanged() throws {
        let directory = try DataDirectory()
        let (model, _) = try StateFixture.fill(directory.create())
        let meta = try directory.open().meta
        let changed = try Self.open(directory, Self.migrations)
        var found = try StateModel(changed)
        found.highestRevision = model.highestRevision
        #expect(found == model)
        #expect(changed.meta == meta)
        // The copy is the file as it was, for a program of its format.
        try directory.files.createDirectory("old")
        try directory.files.rename("state.db.format-4", to: "old/state.db")
        let target = directory.path + "/restored"
        try BackupRestore.run(backup: directory.path + "/old", into: target)
    }

    @Test func aFormatIsChangedOnceOnly() throws {
        let directory = try DataDirectory()
        _ = try directory.create()
        _ = try Self.open(directory, [Self.migrations[0]])
        _ = try Self.open(directory, [Self.migrations[0]])
        _ = try Self.open(directory, Self.migrations)
        #expect(
            try directory.files.names(in: ".").filter { $0.contains("format") }.sorted()
                == ["state.db.format-4", "state.db.format-5"]
        )
    }

    @Test func aChangeThatFailsLeavesTheFormat() throws {
        let directory = try DataDirectory()
        let (model, _) = try StateFixture.fill(directory.create())
        let broken = StateMigration(from: 5, statements: ["INSERT INTO nothing VALUES (1)"])
        #expect(throws: StorageError.self) {
            try Self.open(directory, [Self.migrations[0], broken])
        }
        var found = try StateModel(directory.open())
        found.highestRevision = model.highestRevision
        #expect(found == model)
    }

    @Test func aNewerFormatIsRefused() throws {
        let directory = try DataDirectory()
        _ = try directory.create()
        _ = try Self.open(directory, Self.migrations)
        #expect(throws: StorageError.newerFormat(file: "state.db", format: 6, known: 4)) {
            try directory.open()
        }
        #expect(throws: StorageError.newerFormat(file: "state.db", format: 6, known: 5)) {
            try Self.open(directory, [Self.migrations[0]])
        }
    }

    private static func open(
        _ directory: DataDirectory,
        _ migrations: [StateMigration]
    ) throws -> StateDatabase {
        try StateDatabase(
            directory: directory.path,
            files: directory.files,
            migrations: StateMigration.all + migrations
        )
    }
}

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

    /// The backup stays as it is.
    @Test func aRestoreKeepsNoCopy() throws {
        let directory = try DataDirectory(golden: "state-format-1.sql")
        try directory.files.createDirectory("old")
        try directory.files.rename("state.db", to: "old/state.db")
        let target = directory.path + "/restored"
        try BackupRestore.run(backup: directory.path + "/old", into: target)
        let names = try POSIXFiles(reading: target).names(in: ".")
        #expect(names.contains("state.db") && !names.contains { $0.contains("format") }, "\(names)")
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
        let entries: [LogEntry] = [.post(post), .marks(marks), .userVoter(user, userID: 1 << 63)]
        try StateFixture.checkpoint([StateFixture.body(entries)], into: database)
        for entry in entries { model.apply(entry) }
        database = try directory.reopen(&database)
        try database.verify()
        #expect(try StateModel(database) == model)
    }
}

/// A `state.db` of format 2 with rows in every table, as the program wrote it that had each table by hand.
@Suite struct FormatTwoTests {
    /// The state hash that `feed-service verify` printed of it.
    private static let stateHash: UInt64 = 0x3e66_199d_f40f_1cba

    private static func schema(_ directory: DataDirectory) throws -> [String] {
        let rows = try Database(path: directory.path + "/state.db", mode: .existing)
            .prepare("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name")
        var schema: [String] = []
        while try rows.step() { schema.append(try #require(rows.text(0))) }
        return schema
    }

    /// Each row is summed when it is read, so its columns, their order and their signs are those of before.
    @Test func isReadWithAllThatItHas() throws {
        let directory = try DataDirectory(golden: "state-format-2.sql")
        let database = try directory.open()
        try database.verify()
        #expect(try StateFixture.storeHash(database) == Self.stateHash)
        let model = try StateModel(database)
        #expect(model.posts.keys.sorted() == [1, 2, 3, 5, 6])
        #expect(model.ballots.keys.sorted() == [2, 5])
        #expect(model.outcomes.keys.sorted() == [1, 2])
        #expect(model.viewers.accounts.values.map(\.version) == [0])
        #expect(model.viewers.sessions.values.map(\.kind) == [.session])
        #expect(!database.meta.chain.isOfCluster)
    }

    @Test func hasTheTablesThatAreMadeToday() throws {
        let new = try DataDirectory()
        _ = try new.create()
        let schema = try Self.schema(new)
        #expect(schema.count > 13)
        let old = try DataDirectory(golden: "state-format-2.sql")
        _ = try old.open()
        #expect(try Self.schema(old) == schema)
    }
}

/// An older `state.db` beside SQLite's log of a newer one: its rows with the newer meta are no state.
@Suite struct OlderDatabaseTests {
    /// Each way to write the meta without a change of any row that the totals count.
    enum Write: CaseIterable {
        case directoryRow
        case meta
        case emptyCheckpoint

        func callAsFunction(_ database: StateDatabase) throws {
            switch self {
            case .directoryRow:
                let known = JournalPosition(number: database.meta.checkpointed.number + 1, hash: 5)
                try database.update(DirectoryRow(known: known)) { $0.bootID = "next" }
            case .meta:
                try database.update { $0.bootID = "next" }
            case .emptyCheckpoint:
                try StateFixture.checkpoint([StateFixture.body([])], into: database)
            }
        }
    }

    @Test(arguments: Write.allCases)
    func isRefused(write: Write) throws {
        let directory = try DataDirectory()
        try StateFixture.checkpoint(
            [StateFixture.body([StateFixture.post(1, revision: 1)])],
            into: directory.create()
        )
        let older = try directory.read("state.db")
        // The life that makes the second post closes its files: its rows are in no log.
        try StateFixture.checkpoint(
            [StateFixture.body([StateFixture.post(2, revision: 2)])],
            into: directory.open()
        )
        let newer = try directory.read("state.db")
        let log = try logOfALife(directory, write)

        try directory.write("state.db", newer)
        try directory.write("state.db-wal", log)
        #expect(try StateModel(directory.open()).posts.keys.sorted() == [1, 2])

        try directory.write("state.db", older)
        try directory.write("state.db-wal", log)
        let error = #expect(throws: StorageError.self) { try directory.open().verify() }
        #expect(error?.isDamage == true, "\(String(describing: error))")
    }

    /// SQLite's log of a life that writes once, as a crash leaves it.
    private func logOfALife(_ directory: DataDirectory, _ write: Write) throws -> [UInt8] {
        let database = try directory.open()
        try write(database)
        let log = try directory.read("state.db-wal")
        #expect(!log.isEmpty)
        return withExtendedLifetime(database) { log }
    }
}
