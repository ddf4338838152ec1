import FeedAccounts
import FeedDiskFaults
import FeedJournal
import FeedLog
import FeedRanking
import FeedSQLite
import FeedState
import FeedTestSupport

/// States to test with, the same for each seed.
enum StateFixture {
    /// Checkpoints some commit batches; returns the state that they make.
    @discardableResult
    static func fill(
        _ database: StateDatabase,
        batches: Int = 6,
        seed: UInt64 = 1
    ) throws -> (model: StateModel, bodies: [[UInt8]]) {
        var source = LogEntrySource()
        var generator = SeededGenerator(seed: seed)
        let bodies = (0..<batches).map { _ in source.batch(writes: 60, using: &generator) }
        try checkpoint(bodies, into: database)
        return (source.model, bodies)
    }

    /// Checkpoints bodies after those that are checkpointed.
    static func checkpoint(_ bodies: [[UInt8]], into database: StateDatabase) throws {
        _ = try begin(bodies, into: database).step()
    }

    /// A checkpoint of bodies after those that are checkpointed.
    static func begin(_ bodies: [[UInt8]], into database: StateDatabase) throws -> Checkpoint {
        var memtable = Memtable()
        var number = database.meta.checkpointed.number
        for body in bodies {
            number += 1
            try memtable.add(body, at: JournalPosition(number: number, hash: number &* 31))
        }
        return Checkpoint(memtable, into: database)
    }

    /// The body of one commit batch with these log entries.
    static func body(_ entries: [LogEntry]) -> [UInt8] {
        let logs = ChangeLogs(count: 1, firstBatch: 1) {}
        logs[0].transaction { for entry in entries { logs[0].append(entry) } }
        var body: [UInt8] = []
        _ = logs.takeBatch(into: &body)
        return body
    }

    static func post(
        _ id: UInt64,
        revision: UInt64,
        feed: UInt32 = 0,
        content: PostContent? = nil
    ) -> LogEntry {
        .post(
            PostState(
                counts: PostCounts(
                    id: PostID(rawValue: id),
                    upvoteCount: 0,
                    downvoteCount: 0,
                    revision: revision
                ),
                feed: FeedID(rawValue: feed),
                keepsBallots: false,
                createTimeMilliseconds: 1_000,
                updateTimeMilliseconds: 1_000,
                editRevision: revision,
                content: content ?? PostContent(title: "Post \(id)")
            )
        )
    }

    /// The hash of a store and of accounts that the state is loaded into, and that take bodies beside.
    static func storeHash(
        _ database: StateDatabase?,
        _ bodies: [[UInt8]] = [],
        withSessions: Bool = true
    ) throws -> UInt64 {
        let store = FeedStore(stripeCount: 4) { 0 }
        let accounts = AccountsRecovery()
        if let database {
            try database.load(into: store, accounts: accounts, channels: { _, _ in })
        }
        for body in bodies {
            var reader = try LogEntryReader(body)
            while let entry = try reader.next() {
                try store.apply(entry)
                accounts.apply(entry)
            }
            accounts.endRecord()
        }
        var state = accounts.state
        if !withSessions { state.sessions = [] }
        return store.stateHash() &+ state.stateHash
    }
}

extension StateDatabase {
    static func create(on disk: FakeDisk) throws -> StateDatabase {
        try create(directory: ".", files: disk, vfs: disk.databaseDiskName)
    }

    /// Lets the file grow to so many pages of 4 KiB and no further.
    ///
    /// A limit below its size is its size. What needs more throws as on a full disk.
    func limitPages(to count: Int) throws {
        _ = try connection.text("PRAGMA max_page_count=\(count)")
    }
}
