import FeedSQLite
import Glibc
import Testing

/// That a database is opened as it must be, and says so when it cannot be.
@Suite struct DatabaseTests {
    private let file: DatabaseFile

    init() throws {
        file = try DatabaseFile()
    }

    /// A database with a table of so many rows, closed again.
    private func fill(_ rows: Int) throws {
        let database = try Database(path: file.path)
        try database.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, value BLOB)")
        try database.transaction { () throws(SQLiteError) in
            let insert = try database.prepare("INSERT INTO t VALUES (?, randomblob(300))")
            for row in 0..<Int64(rows) {
                try insert.bind(row, at: 1)
                try insert.run()
            }
        }
    }

    @Test(arguments: [
        ("journal_mode", "wal"), ("synchronous", "2"), ("locking_mode", "exclusive"),
        ("secure_delete", "0"), ("cell_size_check", "1"), ("trusted_schema", "0"),
        ("mmap_size", "0"),
    ])
    func setsWhatDurabilityNeeds(_ pragma: String, _ value: String) throws {
        let database = try Database(path: file.path)
        #expect(try database.text("PRAGMA \(pragma)") == value)
    }

    @Test func keepsWhatWasCommitted() throws {
        try fill(500)
        let database = try Database(path: file.path, mode: .existing)
        #expect(try database.text("SELECT count(*) FROM t") == "500")
        #expect(try database.integrityProblems() == [])
    }

    @Test func undoesATransactionThatThrows() throws {
        let database = try Database(path: file.path)
        try database.execute("CREATE TABLE t (id INTEGER PRIMARY KEY)")
        #expect(throws: SQLiteError.self) {
            try database.transaction { () throws(SQLiteError) in
                try database.execute("INSERT INTO t VALUES (1)")
                try database.execute("INSERT INTO t VALUES (1)")
            }
        }
        #expect(!database.isInTransaction)
        #expect(try database.text("SELECT count(*) FROM t") == "0")
    }

    @Test func aSecondConnectionIsLockedOut() throws {
        let database = try Database(path: file.path)
        do {
            _ = try Database(path: file.path)
            Issue.record("Two connections have one database.")
        } catch {
            guard case .locked = error else { throw error }
            #expect(error.failure.text == "database is locked")
        }
        try database.execute("CREATE TABLE t (id)")
    }

    @Test func aMissingDatabaseIsMadeOnlyWhereAsked() throws {
        for mode in [Database.Mode.existing, .readOnly] {
            do {
                _ = try Database(path: file.path, mode: mode)
                Issue.record("A database that is not there was opened.")
            } catch {
                guard case .io = error else { throw error }
            }
        }
        _ = try Database(path: file.path, mode: .create)
        _ = try Database(path: file.path, mode: .existing)
    }

    @Test func aReadOnlyOneTakesNoChange() throws {
        try fill(10)
        let database = try Database(path: file.path, mode: .readOnly)
        #expect(try database.text("SELECT count(*) FROM t") == "10")
        do {
            try database.execute("DELETE FROM t")
            Issue.record("A read-only database was changed.")
        } catch {
            guard case .readOnly = error else { throw error }
        }
    }

    @Test func whatIsNoDatabaseIsCorrupt() throws {
        try file.overwrite("state.db", at: 0, with: [UInt8](repeating: 7, count: 8192))
        do {
            _ = try Database(path: file.path)
            Issue.record("A file of sevens was opened.")
        } catch {
            guard case .corrupt = error else { throw error }
        }
    }

    @Test func aDamagedPageIsFoundByTheChecksAndByReading() throws {
        try fill(2000)
        // A page in the middle becomes nonsense.
        try file.overwrite("state.db", at: 50 * 4096, with: [UInt8](repeating: 0xEE, count: 4096))
        let database = try Database(path: file.path)
        #expect(try database.pageProblems() != [])
        do {
            _ = try database.text("SELECT sum(length(value)) FROM t")
            Issue.record("A damaged page was read.")
        } catch {
            guard case .corrupt = error else { throw error }
        }
    }

    @Test func aCheckpointEmptiesWhatWasWrittenAhead() throws {
        let database = try Database(path: file.path)
        try database.execute("CREATE TABLE t (id)")
        #expect(try size("state.db-wal") > 0)
        try database.checkpointLog()
        #expect(try size("state.db-wal") == 0)
    }

    @Test func aBackupHoldsWhatIsThereWhenItEnds() throws {
        try fill(2000)
        let database = try Database(path: file.path)
        let copy = file.directory + "/copy.db"
        let backup = try Backup(of: database, to: copy)
        var stepCount = 1
        while try !backup.step(pages: 20) {
            // What changes meanwhile is in the copy too.
            try database.execute("DELETE FROM t WHERE id = \(stepCount)")
            stepCount += 1
        }
        #expect(stepCount > 3)
        let expected = try database.text("SELECT count(*), sum(id) FROM t")
        let found = try Database(path: copy, mode: .existing)
        #expect(try found.text("SELECT count(*), sum(id) FROM t") == expected)
        #expect(try found.integrityProblems() == [])
    }

    @Test func aBackupIntoALockedFileSaysSo() throws {
        try fill(10)
        let database = try Database(path: file.path)
        let target = try Database(path: file.directory + "/copy.db")
        do {
            _ = try Backup(of: database, to: target.path).step()
            Issue.record("A locked file was written over.")
        } catch {
            guard case .locked = error else { throw error }
        }
    }

    private func size(_ name: String) throws -> Int {
        var status = stat()
        guard unsafe stat(file.directory + "/" + name, &status) == 0 else {
            throw FileFailure(code: errno)
        }
        return Int(status.st_size)
    }
}
