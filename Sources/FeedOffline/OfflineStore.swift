import FeedClient
import FeedProto
import FeedSQLite
internal import Foundation

/// The file of an offline feed: the copy of posts and the outbox.
///
/// Each function that changes something is one transaction, which is durable on return, and adds what
/// changed to ``change``.
final class OfflineStore {
    let database: OfflineDatabase
    /// Which posts of each feed stay.
    let keeps: KeptPosts
    var blobs = WireBlob()
    /// What has changed since it was taken.
    var change = OfflineChange()
    /// What was found when the file was opened; nil where nothing was wrong.
    private(set) var notice: OfflineNotice?

    /// Opens a file, and makes its tables where it is empty; one of another kind or version counts as
    /// damaged.
    init(_ configuration: OfflineConfiguration) throws(OfflineError) {
        keeps = configuration.keeps
        try Self.makeFile(configuration.path)
        database = try OfflineDatabase(path: configuration.path)
        let version = try number("PRAGMA user_version")
        let application = try number("PRAGMA application_id")
        switch (application, version) {
        case (OfflineSchema.applicationID, OfflineSchema.version): break
        case (0, 0) where try number("SELECT count(*) FROM sqlite_schema") == 0:
            try make(configuration.client.clientID ?? ClientID())
        case (OfflineSchema.applicationID, 1...3): notice = try migrate(from: version)
        case (OfflineSchema.applicationID, _):
            throw .damaged(reason: "The file has format \(version), not \(OfflineSchema.version).")
        default: throw .damaged(reason: "The file is a database of another program.")
        }
        if let id = configuration.client.clientID, try identity().clientID != id {
            throw .otherClient(path: configuration.path)
        }
        try follow(configuration.copiedFeeds)
        // Damage of the outbox is found now, and not after changes were added to it.
        _ = try entries()
    }

    /// A number that a statement gives; 0 where it gives none.
    func number(
        _ sql: String,
        _ values: [OfflineDatabase.Value] = []
    ) throws(OfflineError) -> Int64 {
        try database.number(sql, values) ?? 0
    }

    func takeChange() -> OfflineChange {
        defer { change = OfflineChange() }
        return change
    }

    private func make(_ clientID: ClientID) throws(OfflineError) {
        try database.transaction { () throws(OfflineError) in
            try database.execute(OfflineSchema.statements + OfflineSchema.addedTables)
            try database.run(
                "INSERT INTO identity VALUES(1, ?, ?, 1, 1, 0, 0, 0, 0)",
                [.blob(clientID.bytes), .int(Int64(UInt32.random(in: .min ... .max)))]
            )
            try database.execute("PRAGMA application_id = \(OfflineSchema.applicationID)")
            try database.execute("PRAGMA user_version = \(OfflineSchema.version)")
        }
    }

    /// Begins the chains of feeds that were not copied, and forgets those of others with their posts.
    private func follow(_ feeds: [String]) throws(OfflineError) {
        try database.transaction { () throws(OfflineError) in
            if keeps == .all, try number("SELECT count(*) FROM boundaries") > 0 {
                // Posts are missing behind the boundaries.
                try database.run("DELETE FROM boundaries")
                try beginChainsAnew()
            }
            let copied = try database.all("SELECT feed FROM chains") { $0.text(0) ?? "" }
            guard Set(copied) != Set(feeds) else { return }
            // Posts that another chain has left are of its instance, and of an earlier generation than
            // the first copy.
            let instance = try number("SELECT max(instance) FROM chains WHERE instance <> 0")
            let generation = try number("SELECT coalesce(max(generation), 0) FROM posts")
            for feed in copied where !feeds.contains(feed) {
                try database.run("DELETE FROM chains WHERE feed = ?", [.text(feed)])
            }
            if !feeds.contains("") {
                let places = Array(repeating: "?", count: feeds.count).joined(separator: ", ")
                try database.run(
                    "DELETE FROM posts WHERE feed NOT IN (\(places))",
                    feeds.map(OfflineDatabase.Value.text)
                )
            }
            for feed in feeds where !copied.contains(feed) {
                try database.run(
                    "INSERT INTO chains VALUES(?, 0, 0, ?, ?)",
                    [.text(feed), .int(instance), .int(generation)]
                )
            }
        }
    }
}

@available(*, unavailable)
extension OfflineStore: Sendable {}

/// Who the file is to the service.
struct OutboxIdentity: Equatable {
    let clientID: ClientID
    /// The channel on which the outbox sends.
    let channel: UInt32
    /// The sequence of the next entry that is sent.
    let nextSequence: UInt64
    /// The instance that was greeted last; 0 is none.
    let instanceID: UInt64
    /// Whether a Hello was sent whose answer is not in the file.
    let isGreeting: Bool
    /// The account whose ballots and marks the copy has; 0 is the device.
    let viewerID: UserID
}

extension OfflineStore {
    func identity() throws(OfflineError) -> OutboxIdentity {
        let sql = """
            SELECT client_id, channel, next_sequence, instance, is_greeting, viewer FROM identity
            """
        let identity = try database.first(sql) { row throws(OfflineError) in
            guard let clientID = ClientID(bytes: row.bytes(0)),
                let channel = UInt32(exactly: row.int64(1)), row.int64(2) > 0
            else { throw .damaged(reason: "The identity of the outbox cannot be read.") }
            return OutboxIdentity(
                clientID: clientID,
                channel: channel,
                nextSequence: row.uint64(2),
                instanceID: row.uint64(3),
                isGreeting: row.int64(4) != 0,
                viewerID: row.id(5)
            )
        }
        guard let identity else { throw .damaged(reason: "The outbox has no identity.") }
        return identity
    }

    /// The vote mode of a feed, as the service said last.
    func voteMode(of feed: String) throws(OfflineError) -> VoteMode {
        let sql = "SELECT vote_mode FROM feeds WHERE name = ?"
        return VoteMode(rawValue: Int32(clamping: try number(sql, [.text(feed)])))
    }

    /// The order of a list that names none: its feed's, as the service said last, or TOP.
    func defaultOrder(of feed: String) throws(OfflineError) -> Order {
        let sql = "SELECT default_order FROM feeds WHERE name = ?"
        return try database.number(sql, [.text(feed)]).map { Order(rawValue: Int32(clamping: $0)) }
            ?? .top
    }

    /// Keeps what the service says of its feeds.
    func keep(_ feeds: [Feed]) throws(OfflineError) {
        try database.transaction { () throws(OfflineError) in
            // Another instance may have other ones.
            try database.execute("DELETE FROM feeds; DELETE FROM said WHERE name <> ''")
            for feed in feeds {
                try database.run(
                    "INSERT OR REPLACE INTO feeds VALUES(?, ?, ?)",
                    [
                        .text(feed.name), .int(Int64(feed.voteMode.rawValue)),
                        .int(Int64(feed.defaultOrder.rawValue)),
                    ]
                )
                try keep(.feed(feed), of: feed.name)
            }
        }
    }

    /// The limits of the last Hello; nil if there are none.
    func limits() throws(OfflineError) -> Limits? {
        guard case .hello(let hello) = try said(of: "") else { return nil }
        return hello.limits
    }

    /// The policy of a feed; nil if the service has never named it.
    func policy(of feed: String) throws(OfflineError) -> Feed? {
        guard case .feed(let policy) = try said(of: feed) else { return nil }
        return policy
    }

    /// Keeps what the service says of itself, which is the empty name, or of a feed; a part of a transaction.
    func keep(_ response: Response, of name: String) throws(OfflineError) {
        try database.run(
            "INSERT OR REPLACE INTO said VALUES(?, ?)",
            [.text(name), .blob(try WireBlob.bytes(of: response))]
        )
    }

    private func said(of name: String) throws(OfflineError) -> Response? {
        let bytes = try database.first("SELECT bytes FROM said WHERE name = ?", [.text(name)]) {
            $0.bytes(0)
        }
        return bytes.flatMap { blobs.response($0) }
    }

    /// Opens a file, or moves one aside that cannot be read and begins a new one; the notice is for the
    /// person.
    static func open(
        _ configuration: OfflineConfiguration
    ) throws(OfflineError) -> (store: OfflineStore, notice: OfflineNotice?) {
        do throws(OfflineError) {
            let store = try OfflineStore(configuration)
            return (store, store.notice)
        } catch {
            guard case .damaged(let reason) = error else { throw error }
            let movedTo = try moveAside(configuration.path)
            let notice = OfflineNotice.outboxLost(movedTo: movedTo, reason: reason)
            return (try OfflineStore(configuration), notice)
        }
    }

    /// Makes an empty file where there is none.
    ///
    /// Only its owner may read and write it: it has the id of the device, which casts ballots, and what a
    /// person has written. SQLite gives the same rights to the log beside it.
    private static func makeFile(_ path: String) throws(OfflineError) {
        let files = FileManager.default
        guard !files.fileExists(atPath: path) else { return }
        let isMade = files.createFile(
            atPath: path,
            contents: nil,
            attributes: [.posixPermissions: 0o600]
        )
        guard isMade else { throw .file(reason: "Could not make \(path).") }
    }

    /// Renames a file and its log, so that a person can still look at them; returns the new path.
    static func moveAside(_ path: String) throws(OfflineError) -> String {
        let files = FileManager.default
        var movedTo = path + ".damaged"
        var number = 1
        while files.fileExists(atPath: movedTo) {
            number += 1
            movedTo = path + ".damaged-\(number)"
        }
        do {
            try files.moveItem(atPath: path, toPath: movedTo)
            if files.fileExists(atPath: path + "-wal") {
                try files.moveItem(atPath: path + "-wal", toPath: movedTo + "-wal")
            }
        } catch {
            throw .file(reason: "Could not move \(path) aside: \(error.localizedDescription)")
        }
        return movedTo
    }
}

/// Bringing a file of an earlier format forward.
extension OfflineStore {
    /// Brings a file of an earlier format to the newest one; the notice says that posts could not be read.
    ///
    /// Format 1 did not note as whom entries were made, nor whose marks the copy has. An entry of it may be
    /// anybody's: the program decides. Lists of format 2 showed the entries of all accounts, and also posts
    /// that were refused. Copies of format 3 had feeds whole.
    private func migrate(from version: Int64) throws(OfflineError) -> OfflineNotice? {
        try database.transaction { () throws(OfflineError) in
            try database.execute(OfflineSchema.addedTables)
            guard version < 3 else {
                try database.execute("PRAGMA user_version = \(OfflineSchema.version)")
                return nil
            }
            if version == 1 {
                try database.execute(
                    "ALTER TABLE outbox ADD COLUMN user INTEGER NOT NULL DEFAULT 0"
                )
                try database.execute(
                    "ALTER TABLE identity ADD COLUMN viewer INTEGER NOT NULL DEFAULT 0"
                )
            }
            try database.execute(
                "ALTER TABLE identity ADD COLUMN shown_user INTEGER NOT NULL DEFAULT 0"
            )
            let hasDamage = try dropDamagedPosts()
            if version == 1 {
                for row in try outboxRows("WHERE state <= 2") {
                    try put(row, .inDoubt(.unknownUser))
                }
            }
            try refreshPosts(of: entries())
            try database.execute("PRAGMA user_version = \(OfflineSchema.version)")
            return hasDamage ? .postsDropped : nil
        }
    }
}

/// The tables of an offline file, and the marks by which one is known.
private enum OfflineSchema {
    /// Says in the file's header that it is one: "FedO".
    static let applicationID: Int64 = 0x4665_644F
    static let version: Int64 = 4

    /// The tables that format 4 has added.
    static let addedTables = """
        CREATE TABLE IF NOT EXISTS boundaries(
            feed TEXT NOT NULL, list_order INTEGER NOT NULL, key INTEGER NOT NULL, title TEXT NOT NULL,
            post INTEGER NOT NULL, PRIMARY KEY(feed, list_order)) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS mark_chains(
            feed TEXT PRIMARY KEY, revision INTEGER NOT NULL, copy_revision INTEGER NOT NULL)
            WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS said(name TEXT PRIMARY KEY, bytes BLOB NOT NULL) WITHOUT ROWID;
        """

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
