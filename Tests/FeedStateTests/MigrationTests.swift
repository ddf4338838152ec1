import FeedJournal
import FeedSQLite
import FeedState
import FeedTestSupport
import Testing

@Suite struct MigrationTests {
    /// Formats yet to come.
    private static let migrations = [
        StateMigration(from: 2, statements: ["CREATE TABLE more (id INTEGER PRIMARY KEY)"]),
        StateMigration(
            from: 3,
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
        try directory.files.rename("state.db.format-2", to: "old/state.db")
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
                == ["state.db.format-2", "state.db.format-3"]
        )
    }

    @Test func aChangeThatFailsLeavesTheFormat() throws {
        let directory = try DataDirectory()
        let (model, _) = try StateFixture.fill(directory.create())
        let broken = StateMigration(from: 3, statements: ["INSERT INTO nothing VALUES (1)"])
        #expect(throws: StateError.self) {
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
        #expect(throws: StateError.newerFormat(file: "state.db", format: 4, known: 2)) {
            try directory.open()
        }
        #expect(throws: StateError.newerFormat(file: "state.db", format: 4, known: 3)) {
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
