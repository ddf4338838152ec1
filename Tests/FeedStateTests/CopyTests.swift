import FeedJournal
import FeedRanking
import FeedSQLite
import FeedState
import FeedTestSupport
import Testing

@Suite struct CopyTests {
    @Test func aRestoredCopyIsTheStateUnderAnotherName() throws {
        let directory = try DataDirectory()
        let database = try directory.create()
        let (model, _) = try StateFixture.fill(database)
        try Self.copy(database, directory)
        let target = directory.path + "/restored"
        try StateDatabase.restore(backup: directory.path + "/backups/1", into: target)
        let files = try POSIXFiles(path: target)
        let restored = try StateDatabase(directory: target, files: files)
        var found = try StateModel(restored)
        found.highestRevision = model.highestRevision
        #expect(found == model)
        #expect(restored.meta.instanceID != database.meta.instanceID)
        #expect(restored.meta.folded == .start && restored.meta.folding == .start)
        #expect(restored.meta.pageTokenKey == database.meta.pageTokenKey)
        #expect(restored.meta.highestID == database.meta.highestID)
        #expect(
            try files.names(in: ".").sorted().filter { !$0.hasPrefix("state.db-") }
                == ["lock", "state.db"]
        )
    }

    @Test func aCopyTakesInWhatIsFoldedMeanwhile() throws {
        let directory = try DataDirectory()
        let database = try directory.create()
        var source = EffectSource()
        var generator = SeededGenerator(seed: 3)
        try StateFixture.fold([source.cut(writes: 400, using: &generator)], into: database)
        try directory.files.createDirectory("backups")
        try directory.files.createDirectory("backups/1")
        let copy = try database.copy(to: "backups/1")
        #expect(try !copy.step(pages: 2))
        #expect(copy.remainingPageCount > 0)
        let fold = try StateFixture.begin(
            [source.cut(writes: 400, using: &generator)],
            into: database
        )
        #expect(try !fold.step(changes: 5))
        // In the middle of a fold it waits.
        let remaining = copy.remainingPageCount
        #expect(try !copy.step())
        #expect(copy.remainingPageCount == remaining)
        #expect(try fold.step())
        #expect(try copy.step())
        #expect(try !directory.files.names(in: "backups/1").contains("state.db.new"))
        let target = directory.path + "/restored"
        try StateDatabase.restore(backup: directory.path + "/backups/1", into: target)
        let restored = try StateDatabase(directory: target, files: POSIXFiles(path: target))
        #expect(try StateModel(restored) == StateModel(database))
    }

    @Test func aCopyFromTheMiddleOfAFoldIsRefused() throws {
        let directory = try DataDirectory()
        var source = EffectSource()
        var generator = SeededGenerator(seed: 4)
        let body = source.cut(writes: 400, using: &generator)
        #expect(try !StateFixture.begin([body], into: directory.create()).step(changes: 5))
        try directory.files.createDirectory("middle")
        let half = try Database(path: directory.path + "/state.db", mode: .existing)
        _ = try Backup(of: half, to: directory.path + "/middle/state.db").step()
        #expect(throws: StateError.unfinishedFold(file: "state.db", sequence: 1)) {
            try StateDatabase.restore(
                backup: directory.path + "/middle",
                into: directory.path + "/restored"
            )
        }
        // Nothing is left that could be taken for a state.
        let left = try POSIXFiles(path: directory.path + "/restored").names(in: ".")
        #expect(left == ["lock"])
    }

    @Test func aDamagedCopyIsNotRestored() throws {
        let directory = try DataDirectory()
        let database = try directory.create()
        try StateFixture.fill(database)
        try Self.copy(database, directory)
        let path = directory.path + "/backups/1/state.db"
        try Database(path: path, mode: .existing).execute("UPDATE posts SET text = 'Other'")
        let error = #expect(throws: StateError.self) {
            try StateDatabase.restore(
                backup: directory.path + "/backups/1",
                into: directory.path + "/restored"
            )
        }
        #expect(error?.isDamage == true)
        #expect(try POSIXFiles(path: directory.path + "/restored").names(in: ".") == ["lock"])
    }

    @Test func aDirectoryThatIsNotEmptyIsLeftAlone() throws {
        let directory = try DataDirectory()
        let database = try directory.create()
        try Self.copy(database, directory)
        let other = try DataDirectory()
        try other.write("something", [1])
        let path = other.path
        other.unlock()
        #expect(throws: StateError.notEmpty(directory: path, name: "something")) {
            try StateDatabase.restore(backup: directory.path + "/backups/1", into: path)
        }
        #expect(try other.read("something") == [1])
    }

    @Test func aMissingCopyIsNamed() throws {
        let directory = try DataDirectory()
        let error = #expect(throws: StateError.self) {
            try StateDatabase.restore(
                backup: directory.path + "/none",
                into: directory.path + "/restored"
            )
        }
        #expect(error?.description.contains(directory.path + "/none") == true)
    }

    private static func copy(_ database: StateDatabase, _ directory: DataDirectory) throws {
        try directory.files.createDirectory("backups")
        try directory.files.createDirectory("backups/1")
        #expect(try database.copy(to: "backups/1").step())
    }
}
