import FeedSQLite
import FeedTestSupport
import Testing

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
        #expect(throws: SQLiteError.self) { try statement.bind(1 as Int64, at: 2) }
    }

    @Test func namesWhatIsWrongWithAStatement() throws {
        do {
            _ = try database.prepare("SELECT id FROM nowhere")
            Issue.record("A statement about no table was prepared.")
        } catch {
            #expect(error.failure.operation == "SELECT id FROM nowhere")
            #expect(error.failure.text == "no such table: nowhere")
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
            guard case .constraint = error else { throw error }
        }
        try insert.bind(2 as Int64, at: 1)
        try insert.run()
        #expect(try database.text("SELECT count(*) FROM t") == "2")
    }
}
