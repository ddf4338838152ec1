import FeedJournal
import FeedRanking
import FeedState
import FeedTestSupport
import Testing

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
                let known = JournalPosition(
                    number: database.meta.checkpointed.number + 1,
                    hash: 5
                )
                try database.update(DirectoryRow(known: known)) { $0.bootID = "next" }
            case .meta:
                try database.updateMeta { $0.bootID = "next" }
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
        let error = #expect(throws: StateError.self) { try directory.open().verify() }
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
