/// The tables of an offline file, and the marks by which one is known.
enum OfflineSchema {
    /// Says in the file's header that it is one: "FedO".
    static let applicationID: Int64 = 0x4665_644F
    /// The version of the tables.
    static let version: Int64 = 3

    /// Makes the tables in an empty file.
    static let statements = """
        CREATE TABLE identity(
            id INTEGER PRIMARY KEY CHECK(id = 1), client_id BLOB NOT NULL, channel INTEGER NOT NULL,
            next_sequence INTEGER NOT NULL, next_entry INTEGER NOT NULL, instance INTEGER NOT NULL,
            is_greeting INTEGER NOT NULL, viewer INTEGER NOT NULL, shown_user INTEGER NOT NULL);
        CREATE TABLE feeds(
            name TEXT PRIMARY KEY, vote_mode INTEGER NOT NULL, default_order INTEGER NOT NULL)
            WITHOUT ROWID;
        CREATE TABLE chains(
            feed TEXT PRIMARY KEY, next_revision INTEGER NOT NULL, copy_revision INTEGER NOT NULL,
            instance INTEGER NOT NULL, generation INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE posts(
            id INTEGER PRIMARY KEY, feed TEXT NOT NULL, generation INTEGER NOT NULL,
            revision INTEGER NOT NULL, base BLOB, shown BLOB, title TEXT NOT NULL,
            created INTEGER NOT NULL, author INTEGER NOT NULL, is_gone INTEGER NOT NULL,
            is_read INTEGER NOT NULL, is_dismissed INTEGER NOT NULL, top INTEGER NOT NULL,
            hot INTEGER NOT NULL, best INTEGER NOT NULL, controversial INTEGER NOT NULL,
            discussed INTEGER NOT NULL);
        CREATE INDEX posts_created ON posts(feed, created, id);
        CREATE INDEX posts_top ON posts(feed, top, title, id);
        CREATE INDEX posts_hot ON posts(feed, hot, id);
        CREATE INDEX posts_best ON posts(feed, best, id);
        CREATE INDEX posts_controversial ON posts(feed, controversial, id);
        CREATE INDEX posts_discussed ON posts(feed, discussed, id);
        CREATE TABLE outbox(
            number INTEGER PRIMARY KEY, state INTEGER NOT NULL, sequence INTEGER NOT NULL,
            instance INTEGER NOT NULL, doubt INTEGER NOT NULL, request BLOB NOT NULL,
            failure BLOB NOT NULL, checksum INTEGER NOT NULL, user INTEGER NOT NULL);
        CREATE INDEX outbox_states ON outbox(state, number);
        CREATE TABLE targets(
            post INTEGER NOT NULL, number INTEGER NOT NULL, PRIMARY KEY(post, number)) WITHOUT ROWID;
        CREATE TABLE made_posts(local INTEGER PRIMARY KEY, post INTEGER NOT NULL);
        """
}
