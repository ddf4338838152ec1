import FeedSQLite

/// The tables of `state.db`, as `docs/STORAGE.md` describes them.
enum StateSchema {
    /// The format that this program writes.
    static let format: Int64 = 2

    /// Makes the tables of a new file: those of format 1, then what each format has added.
    static let statements = firstStatements + secondStatements

    private static let firstStatements = [
        """
        CREATE TABLE meta (
            id INTEGER PRIMARY KEY CHECK (id = 1), format INTEGER NOT NULL,
            instance_id INTEGER NOT NULL, folded_sequence INTEGER NOT NULL,
            folded_hash INTEGER NOT NULL, folding_sequence INTEGER NOT NULL,
            folding_hash INTEGER NOT NULL, page_token_key_high INTEGER NOT NULL,
            page_token_key_low INTEGER NOT NULL, highest_id INTEGER NOT NULL,
            highest_revision INTEGER NOT NULL, next_channel INTEGER NOT NULL,
            boot_id TEXT NOT NULL, durability TEXT NOT NULL, sum INTEGER NOT NULL
        ) STRICT
        """,
        """
        CREATE TABLE totals (
            name TEXT PRIMARY KEY, row_count INTEGER NOT NULL, sum_of_sums INTEGER NOT NULL,
            sum INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE feeds (
            number INTEGER PRIMARY KEY, name TEXT NOT NULL, default_order INTEGER NOT NULL,
            vote_mode INTEGER NOT NULL, maximum_title INTEGER NOT NULL,
            minimum_text INTEGER NOT NULL, maximum_text INTEGER NOT NULL, sum INTEGER NOT NULL
        ) STRICT
        """,
        """
        CREATE TABLE posts (
            id INTEGER PRIMARY KEY, feed INTEGER NOT NULL, keeps_ballots INTEGER NOT NULL,
            create_time INTEGER NOT NULL, update_time INTEGER NOT NULL,
            edit_revision INTEGER NOT NULL, comment_count INTEGER NOT NULL,
            sum INTEGER NOT NULL, author TEXT NOT NULL, title TEXT NOT NULL, text TEXT NOT NULL,
            link_url TEXT NOT NULL, thumbnail_url TEXT NOT NULL, image_url TEXT NOT NULL
        ) STRICT
        """,
        """
        CREATE TABLE counts (
            chunk INTEGER PRIMARY KEY, newest_revision INTEGER NOT NULL, sum INTEGER NOT NULL,
            packed BLOB NOT NULL
        ) STRICT
        """,
        """
        CREATE TABLE voters (
            number INTEGER PRIMARY KEY, device BLOB NOT NULL, sum INTEGER NOT NULL
        ) STRICT
        """,
        """
        CREATE TABLE ballots (
            post INTEGER NOT NULL, chunk INTEGER NOT NULL, sum INTEGER NOT NULL,
            packed BLOB NOT NULL, PRIMARY KEY (post, chunk)
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE channels (
            number INTEGER PRIMARY KEY, client BLOB NOT NULL, channel INTEGER NOT NULL,
            highest INTEGER NOT NULL, sum INTEGER NOT NULL, outcomes BLOB NOT NULL
        ) STRICT
        """,
    ]

    /// What format 2 adds: who wrote a post, users that vote, accounts, sessions, marks and deletions.
    static let secondStatements = [
        "ALTER TABLE posts ADD COLUMN author_id INTEGER NOT NULL DEFAULT 0",
        """
        CREATE TABLE user_voters (
            number INTEGER PRIMARY KEY, user INTEGER NOT NULL, sum INTEGER NOT NULL
        ) STRICT
        """,
        """
        CREATE TABLE accounts (
            id INTEGER PRIMARY KEY, create_time INTEGER NOT NULL, generation INTEGER NOT NULL,
            sum INTEGER NOT NULL, email TEXT NOT NULL, display_name TEXT NOT NULL,
            password_hash TEXT NOT NULL
        ) STRICT
        """,
        """
        CREATE TABLE sessions (
            token_hash BLOB PRIMARY KEY, user INTEGER NOT NULL, expire_time INTEGER NOT NULL,
            generation INTEGER NOT NULL, sum INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID
        """,
        "CREATE INDEX sessions_of_user ON sessions (user, generation)",
        """
        CREATE TABLE marks (
            viewer INTEGER NOT NULL, chunk INTEGER NOT NULL, sum INTEGER NOT NULL,
            packed BLOB NOT NULL, PRIMARY KEY (viewer, chunk)
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE mark_throughs (
            viewer INTEGER NOT NULL, feed INTEGER NOT NULL, topic INTEGER NOT NULL,
            place INTEGER NOT NULL, mark INTEGER NOT NULL, create_time INTEGER NOT NULL,
            post INTEGER NOT NULL, revision INTEGER NOT NULL, sum INTEGER NOT NULL,
            PRIMARY KEY (viewer, feed, topic, place)
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE deletions (
            kind INTEGER NOT NULL, revision INTEGER NOT NULL, post INTEGER NOT NULL,
            time INTEGER NOT NULL, sum INTEGER NOT NULL, PRIMARY KEY (kind, revision)
        ) STRICT, WITHOUT ROWID
        """,
    ]

    /// The tables of a file; ``DirectoryRow`` has one more, which a file of version 0.1 lacks.
    static func tables(of format: Int64) -> [String] {
        ["meta", "totals"] + StateTable.tables(of: format).map(\.name)
    }

    /// Refuses a file that lacks a table, before a statement does that in words of SQL.
    static func checkTables(
        _ names: [String],
        of database: Database,
        _ file: String
    ) throws(StateError) {
        let found = try databaseErrors { () throws(SQLiteError) in
            let row = try database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")
            var found: Set<String> = []
            while try row.step() { found.insert(row.text(0) ?? "") }
            return found
        }
        guard let missing = names.first(where: { !found.contains($0) }) else { return }
        throw .notAState(file: file, reason: "it has no table \(missing)")
    }

    /// The format of a file, which every format keeps in the same column.
    static func format(of database: Database) throws(StateError) -> Int64 {
        try databaseErrors { () throws(SQLiteError) in
            let row = try database.prepare("SELECT format FROM meta")
            return try row.step() ? row.int64(0) : 0
        }
    }
}
