import FeedSQLite
import FeedTestSupport
import Glibc
import Testing

/// That a database is opened as it must be, and says so when it cannot be.
@Suite struct DatabaseTests {
    private let file: DatabaseFile

    init() throws { file = try DatabaseFile() }

    /// A database with a table of so many rows, closed again.
    private func fill(_ rows: Int) throws {
        let database = try Database(path: file.path)
        try database.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, value BLOB)")
        try database.transaction { () throws(StorageError) in
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
        #expect(throws: StorageError.self) {
            try database.transaction { () throws(StorageError) in
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
            guard error.sqlite?.kind == .locked else { throw error }
            #expect(error.sqlite?.text == "database is locked")
        }
        try database.execute("CREATE TABLE t (id)")
    }

    @Test func aMissingDatabaseIsMadeOnlyWhereAsked() throws {
        for mode in [Database.Mode.existing, .readOnly] {
            do {
                _ = try Database(path: file.path, mode: mode)
                Issue.record("A database that is not there was opened.")
            } catch {
                guard error.sqlite?.kind == .io else { throw error }
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
            guard error.sqlite?.kind == .readOnly else { throw error }
        }
    }

    @Test func whatIsNoDatabaseIsCorrupt() throws {
        try file.overwrite("state.db", at: 0, with: [UInt8](repeating: 7, count: 8192))
        do {
            _ = try Database(path: file.path)
            Issue.record("A file of sevens was opened.")
        } catch {
            guard error.sqlite?.kind == .corrupt else { throw error }
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
            guard error.sqlite?.kind == .corrupt else { throw error }
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
            guard error.sqlite?.kind == .locked else { throw error }
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

/// That values come back as they went in.
@Suite struct StatementTests {
    private let file: DatabaseFile
    private let database: Database

    init() throws {
        file = try DatabaseFile()
        database = try Database(path: file.path)
        try database.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, value)")
    }

    /// Stores one value and calls `read` with its row, in another transaction.
    private func roundTrip<Value>(
        _ bind: (Statement) throws -> Void,
        _ read: (Statement) -> Value
    ) throws -> Value {
        let insert = try database.prepare("INSERT OR REPLACE INTO t VALUES (1, ?)")
        try bind(insert)
        try insert.run()
        let select = try database.prepare("SELECT value FROM t")
        try #require(try select.step())
        return read(select)
    }

    @Test(arguments: [0, 1, -1, .min, .max] as [Int64])
    func keepsNumbers(_ number: Int64) throws {
        #expect(try roundTrip({ try $0.bind(number, at: 1) }, { $0.int64(0) }) == number)
    }

    @Test(arguments: [0, 1 << 63, .max] as [UInt64])
    func keepsTheBitsOfUnsignedNumbers(_ number: UInt64) throws {
        #expect(try roundTrip({ try $0.bind(number, at: 1) }, { $0.uint64(0) }) == number)
    }

    @Test(arguments: ["", "a", "naïve 🎉", "with\0zero", String(repeating: "x", count: 100_000)])
    func keepsText(_ text: String) throws {
        #expect(try roundTrip({ try $0.bind(text, at: 1) }, { $0.text(0) }) == text)
    }

    @Test(arguments: [0, 1, 255, 100_000])
    func keepsBytes(_ count: Int) throws {
        var generator = SeededGenerator(seed: UInt64(count))
        let bytes = generator.bytes(count)
        #expect(try roundTrip({ try $0.bind(bytes, at: 1) }, { $0.blob(0) }) == bytes)
        let sum = try roundTrip(
            { try $0.bind(bytes.span, at: 1) },
            { row in row.withBlob(0) { span in span.indices.reduce(0) { $0 + Int(span[$1]) } } }
        )
        #expect(sum == bytes.reduce(0) { $0 + Int($1) })
    }

    @Test func tellsNullFromEmpty() throws {
        #expect(try roundTrip({ try $0.bindNull(at: 1) }, { $0.isNull(0) }))
        #expect(try roundTrip({ try $0.bindNull(at: 1) }, { $0.blob(0) }) == nil)
        #expect(try roundTrip({ try $0.bind("", at: 1) }, { $0.isNull(0) }) == false)
        #expect(try roundTrip({ try $0.bind([UInt8](), at: 1) }, { $0.isNull(0) }) == false)
    }

    @Test func runsAgainWithOtherValues() throws {
        let insert = try database.prepare("INSERT INTO t VALUES (?, ?)")
        for number: Int64 in 1...100 {
            try insert.bind(number, at: 1)
            try insert.bind(number * number, at: 2)
            try insert.run()
            #expect(try database.text("SELECT changes()") == "1")
        }
        let select = try database.prepare("SELECT id, value FROM t ORDER BY id DESC")
        var rows: [[Int64]] = []
        while try select.step() { rows.append([select.int64(0), select.int64(1)]) }
        #expect(rows == (1...100).reversed().map { [$0, $0 * $0] })
    }

    @Test func refusesAParameterThatIsNotThere() throws {
        let statement = try database.prepare("SELECT ?")
        #expect(throws: StorageError.self) { try statement.bind(1 as Int64, at: 2) }
    }

    @Test func namesWhatIsWrongWithAStatement() throws {
        do {
            _ = try database.prepare("SELECT id FROM nowhere")
            Issue.record("A statement about no table was prepared.")
        } catch {
            #expect(error.sqlite?.operation == "SELECT id FROM nowhere")
            #expect(error.sqlite?.text == "no such table: nowhere")
        }
    }

    @Test func continuesAfterAConstraintWasBroken() throws {
        let insert = try database.prepare("INSERT INTO t VALUES (?, 0)")
        try insert.bind(1 as Int64, at: 1)
        try insert.run()
        do {
            try insert.run()
            Issue.record("One key was taken twice.")
        } catch {
            guard error.sqlite?.kind == .constraint else { throw error }
        }
        try insert.bind(2 as Int64, at: 1)
        try insert.run()
        #expect(try database.text("SELECT count(*) FROM t") == "2")
    }
}

extension Database {
    /// What is wrong with the file: its pages, and indexes that differ from their tables.
    func integrityProblems() throws(StorageError) -> [String] {
        let statement = try prepare("PRAGMA integrity_check")
        var problems: [String] = []
        while try statement.step() {
            if let text = statement.text(0), text != "ok" { problems.append(text) }
        }
        return problems
    }
}

extension Statement {
    /// A copy of the column's bytes, nil for NULL.
    func blob(_ column: Int) -> [UInt8]? {
        guard !isNull(column) else { return nil }
        return withBlob(column) { bytes in bytes.indices.map { bytes[$0] } }
    }
}

/// A directory of its own with a database's path in it, removed with it.
final class DatabaseFile {
    let directory: String
    var path: String { directory + "/state.db" }

    init() throws {
        var template = Array("/tmp/feed-sqlite-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else { throw FileFailure(code: errno) }
        directory = String(
            decoding: template.dropLast().map(UInt8.init(bitPattern:)),
            as: UTF8.self
        )
    }

    deinit {
        for name in ["state.db", "state.db-wal", "state.db-shm", "state.db-journal", "copy.db"] {
            _ = unsafe unlink(directory + "/" + name)
        }
        _ = unsafe rmdir(directory)
    }

    /// Changes bytes of a file in the directory, from an offset on.
    func overwrite(_ name: String, at offset: Int, with bytes: [UInt8]) throws {
        let descriptor = unsafe open(directory + "/" + name, O_RDWR | O_CREAT, 0o600)
        guard descriptor >= 0 else { throw FileFailure(code: errno) }
        defer { close(descriptor) }
        let count = unsafe bytes.withUnsafeBytes {
            unsafe pwrite(descriptor, $0.baseAddress, $0.count, off_t(offset))
        }
        guard count == bytes.count else { throw FileFailure(code: errno) }
    }
}

struct FileFailure: Error {
    let code: Int32
}
