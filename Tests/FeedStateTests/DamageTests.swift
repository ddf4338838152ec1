import FeedLog
import FeedRanking
import FeedSQLite
import FeedState
import FeedTestSupport
import Testing

/// What is not as it was written is refused, or was of no meaning; never another state.
@Suite struct DamageTests {
    /// One change each that SQLite itself has nothing against.
    static let changes = [
        "UPDATE posts SET feed = 1 - feed WHERE id = (SELECT max(id) FROM posts)",
        "UPDATE posts SET keeps_ballots = 1 - keeps_ballots WHERE id = (SELECT min(id) FROM posts)",
        "UPDATE posts SET create_time = create_time + 1 WHERE id = (SELECT min(id) FROM posts)",
        "UPDATE posts SET update_time = update_time + 1 WHERE id = (SELECT min(id) FROM posts)",
        "UPDATE posts SET edit_revision = edit_revision - 1 WHERE id = (SELECT min(id) FROM posts)",
        "UPDATE posts SET comment_count = 1 + comment_count WHERE id = (SELECT min(id) FROM posts)",
        "UPDATE posts SET author = title, title = author WHERE id = (SELECT min(id) FROM posts)",
        "UPDATE posts SET text = text || 'x' WHERE id = (SELECT min(id) FROM posts)",
        "UPDATE posts SET image_url = image_url || 'x' WHERE id = (SELECT min(id) FROM posts)",
        "UPDATE posts SET id = id + 100000 WHERE id = (SELECT max(id) FROM posts)",
        "UPDATE posts SET sum = sum + 1 WHERE id = (SELECT max(id) FROM posts)",
        "DELETE FROM posts WHERE id = (SELECT max(id) FROM posts)",
        "DELETE FROM posts",
        "DELETE FROM counts WHERE chunk = (SELECT max(chunk) FROM counts)",
        "UPDATE counts SET newest_revision = newest_revision + 1",
        "UPDATE counts SET packed = CAST(substr(packed, 1, 3) || x'07' || substr(packed, 5) AS BLOB)",
        "UPDATE counts SET chunk = chunk + 1000",
        "DELETE FROM ballots WHERE post = (SELECT max(post) FROM ballots)",
        "UPDATE ballots SET chunk = chunk + 7",
        "UPDATE ballots SET post = (SELECT max(id) FROM posts) WHERE post = "
            + "(SELECT min(post) FROM ballots)",
        "UPDATE ballots SET packed = x'0100'",
        "DELETE FROM voters WHERE number = (SELECT max(number) FROM voters)",
        "UPDATE voters SET device = zeroblob(16)",
        "UPDATE voters SET number = number + 1000000",
        "UPDATE feeds SET name = 'other' WHERE number = 0",
        "UPDATE feeds SET default_order = 3 WHERE number = 0",
        "UPDATE feeds SET vote_mode = 1 - vote_mode WHERE number = 0",
        "UPDATE feeds SET maximum_text = 9 WHERE number = 0",
        "DELETE FROM feeds WHERE number = 1",
        "DELETE FROM channels WHERE number = (SELECT max(number) FROM channels)",
        "UPDATE channels SET highest = highest + 1",
        "UPDATE channels SET client = zeroblob(16)",
        "UPDATE channels SET outcomes = x''",
        "UPDATE posts SET author_id = author_id + 1 WHERE id = (SELECT max(id) FROM posts)",
        "DELETE FROM user_voters WHERE number = (SELECT max(number) FROM user_voters)",
        "UPDATE user_voters SET user = user + 1",
        "UPDATE accounts SET email = display_name",
        "UPDATE accounts SET password_hash = password_hash || 'x'",
        "UPDATE accounts SET generation = generation + 1",
        "UPDATE accounts SET version = version + 1",
        "UPDATE accounts SET status = 1 - status",
        "DELETE FROM accounts WHERE id = 1",
        "UPDATE sessions SET user = user + 1",
        "UPDATE sessions SET expire_time = expire_time + 1",
        "UPDATE sessions SET kind = 1 - kind",
        "UPDATE sessions SET token_hash = zeroblob(32) WHERE token_hash = "
            + "(SELECT max(token_hash) FROM sessions)",
        "DELETE FROM sessions WHERE token_hash = (SELECT max(token_hash) FROM sessions)",
        "UPDATE marks SET viewer = viewer + 1000",
        "UPDATE marks SET packed = x'01000000000000000001'",
        "DELETE FROM marks WHERE viewer = (SELECT max(viewer) FROM marks)",
        "UPDATE mark_throughs SET post = post + 1",
        "UPDATE mark_throughs SET mark = 5 - mark",
        "DELETE FROM mark_throughs WHERE viewer = (SELECT max(viewer) FROM mark_throughs)",
        "UPDATE deletions SET revision = revision + 1 WHERE kind = 0",
        "UPDATE deletions SET kind = 1 - kind",
        "DELETE FROM deletions WHERE kind = 0",
        "UPDATE meta SET folded_sequence = folded_sequence - 1",
        "UPDATE meta SET page_token_key_low = 0",
        "UPDATE meta SET boot_id = 'x'",
        "UPDATE meta SET format = 0",
        "DELETE FROM meta",
        "DELETE FROM totals WHERE name = 'voters'",
        "UPDATE totals SET row_count = row_count - 1 WHERE name = 'posts'",
        "INSERT INTO totals VALUES ('more', 0, 0, 0)",
        "DROP TABLE ballots",
    ]

    @Test(arguments: changes)
    func aChangedRowIsRefused(change: String) throws {
        let directory = try DataDirectory()
        try StateFixture.fill(directory.create())
        try directory.execute(change)
        let error = #expect(throws: StorageError.self) { try directory.open().verify() }
        guard let error else { return }
        // A table that is gone is an error of SQLite's.
        if !change.hasPrefix("DROP") { #expect(error.isDamage, "\(error)") }
    }

    @Test func aMessageNamesTheRow() throws {
        let directory = try DataDirectory()
        try StateFixture.checkpoint(
            [StateFixture.body([StateFixture.post(17, revision: 1)])],
            into: directory.create()
        )
        try directory.execute("UPDATE posts SET title = 'Other' WHERE id = 17")
        let error = #expect(throws: StorageError.self) { try directory.open().verify() }
        #expect(
            error?.description
                == "state.db is damaged in table posts, row 17: the checksum does not fit the row."
        )
    }

    @Test func aRowOfAnotherTimeIsRefused() throws {
        let directory = try DataDirectory()
        var database: StateDatabase? = try directory.create()
        let body = StateFixture.body([StateFixture.post(1, revision: 1)])
        try StateFixture.checkpoint([body], into: #require(database))
        database = nil
        try directory.execute("CREATE TABLE old AS SELECT * FROM counts")
        database = try directory.open()
        let vote = LogEntry.counts(
            PostCounts(id: PostID(rawValue: 1), upvoteCount: 1, downvoteCount: 0, revision: 2)
        )
        try StateFixture.checkpoint([StateFixture.body([vote])], into: #require(database))
        database = nil
        try directory.execute("INSERT OR REPLACE INTO counts SELECT * FROM old; DROP TABLE old")
        #expect(throws: StorageError.self) { try directory.open().verify() }
    }

    @Test func aCheckpointRefusesARowThatIsDamaged() throws {
        let directory = try DataDirectory()
        let body = StateFixture.body([StateFixture.post(1, revision: 1)])
        try StateFixture.checkpoint([body], into: directory.create())
        try directory.execute("UPDATE counts SET newest_revision = 9")
        let database = try directory.open()
        let vote = LogEntry.counts(
            PostCounts(id: PostID(rawValue: 1), upvoteCount: 1, downvoteCount: 0, revision: 2)
        )
        let checkpoint = try StateFixture.begin([StateFixture.body([vote])], into: database)
        let error = #expect(throws: StorageError.self) { try checkpoint.step() }
        #expect(error?.isDamage == true)
        #expect(!database.meta.isCheckpointing)
    }

    /// A bit flips anywhere in the file: it is refused, or loads as it was.
    @Test(arguments: TestEnvironment.seeds(1...8))
    func aFlippedBitNeverLoadsAnotherState(seed: UInt64) throws {
        let directory = try DataDirectory()
        let (_, bodies) = try StateFixture.fill(directory.create(), seed: seed)
        try directory.execute("SELECT 1")
        let expected = try StateModel(directory.open())
        let hash = try StateFixture.storeHash(nil, bodies)
        let bytes = try directory.read("state.db")
        var generator = SeededGenerator(seed: seed)
        var refused = 0
        let flips = Int(TestEnvironment.number("FEED_BIT_FLIPS") ?? 150)
        for _ in 0..<flips {
            let offset = Int.random(in: 0..<bytes.count, using: &generator)
            let bit = UInt8.random(in: 0..<8, using: &generator)
            try directory.write("state.db-wal", [])
            var flipped = bytes
            flipped[offset] ^= 1 << bit
            try directory.write("state.db", flipped)
            do {
                let database = try directory.open()
                let found = try StateModel(database)
                #expect(found == expected, "seed \(seed), byte \(offset), bit \(bit)")
                #expect(try StateFixture.storeHash(database) == hash)
            } catch is StorageError {
                refused += 1
            }
        }
        #expect(refused > 0)
    }
}
