import FeedSQLite
import FeedState
import Testing

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
    }

    @Test func hasTheTablesThatAreMadeToday() throws {
        let new = try DataDirectory()
        _ = try new.create()
        let schema = try Self.schema(new)
        #expect(schema.count > 13)
        #expect(try Self.schema(DataDirectory(golden: "state-format-2.sql")) == schema)
    }
}
