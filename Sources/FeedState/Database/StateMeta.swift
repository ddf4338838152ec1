package import FeedJournal
import FeedSQLite

/// What `state.db` knows of itself, in its one row of `meta`.
package struct StateMeta: Equatable, Sendable {
    /// Names the data directory; a restored or a new one has another.
    package var instanceID: UInt64

    /// The last record of the journal whose log entries are all in the tables.
    package var checkpointed: JournalPosition = .start

    /// The last record of which some log entries are in the tables, or `checkpointed`.
    ///
    /// They differ where a checkpoint has not ended: the loaded rows are of no one moment then,
    /// until the journal is replayed up to here.
    package var checkpointing: JournalPosition = .start

    /// The key that page tokens are signed with, 16 random bytes.
    package var pageTokenKey: PageTokenKey

    /// The highest id given to a post as of `checkpointed`.
    package var highestID: UInt64 = 0

    /// The highest revision given as of `checkpointed`.
    package var highestRevision: UInt64 = 0

    /// The number that the next channel gets.
    package var nextChannel: UInt64 = 1

    /// The system's boot id when the service last started; empty before the first start, and where
    /// the next start must skip numbers.
    package var bootID = ""

    /// How durable an answer of the last run was, by `Durability`'s raw value; empty before it, and
    /// `os` where the next start must skip numbers.
    package var durability = ""

    /// The key that page tokens are signed with.
    package struct PageTokenKey: Equatable, Sendable {
        /// The first eight bytes.
        package var high: UInt64
        /// The last eight bytes.
        package var low: UInt64

        /// A key of these bytes.
        package init(high: UInt64, low: UInt64) {
            self.high = high
            self.low = low
        }
    }

    /// The meta of a new data directory.
    package init(instanceID: UInt64, pageTokenKey: PageTokenKey) {
        self.instanceID = instanceID
        self.pageTokenKey = pageTokenKey
    }

    /// The meta of a new data directory, with a random name and a random key.
    package static func random() -> StateMeta {
        StateMeta(
            instanceID: .random(in: 1 ... .max),
            pageTokenKey: PageTokenKey(
                high: .random(in: .min ... .max),
                low: .random(in: .min ... .max)
            )
        )
    }

    /// Makes this another state: what clients hold of the one before means nothing here.
    ///
    /// The page tokens of the old instance end with it, as their key does. Its numbers do not come
    /// back: this state may be older than others that were served.
    package mutating func becomeAnotherInstance() {
        let other = StateMeta.random()
        instanceID = other.instanceID
        pageTokenKey = other.pageTokenKey
        skipNumbersAtNextStart()
    }

    /// Lets the next start skip numbers, as after a power cut with `--durability os`.
    package mutating func skipNumbersAtNextStart() {
        bootID = ""
        durability = Durability.os.rawValue
    }

    /// Whether a checkpoint has begun and not ended.
    package var isCheckpointing: Bool { checkpointing.number > checkpointed.number }
}

extension StateMeta {
    /// The checksum of the row under a format.
    private func sum(format: Int64) -> UInt64 {
        var sum = RowSum(seed: 0x6D65_7461)
        sum.add([
            UInt64(bits: format), instanceID, checkpointed.number, checkpointed.hash,
            checkpointing.number,
            checkpointing.hash, pageTokenKey.high, pageTokenKey.low, highestID, highestRevision,
            nextChannel,
        ])
        sum.add(bootID)
        sum.add(durability)
        return sum.value
    }

    /// The row of a database whose format is known.
    static func read(_ database: Database, format: Int64) throws(StateError) -> StateMeta {
        let row = try databaseErrors { () throws(SQLiteError) in
            try database.prepare(
                """
                SELECT instance_id, folded_sequence, folded_hash, folding_sequence, folding_hash,
                    page_token_key_high, page_token_key_low, highest_id, highest_revision,
                    next_channel, boot_id, durability, sum FROM meta
                """
            )
        }
        guard try databaseErrors({ () throws(SQLiteError) in try row.step() }) else {
            throw damaged("it has no row")
        }
        var meta = StateMeta(
            instanceID: row.uint64(0),
            pageTokenKey: PageTokenKey(high: row.uint64(5), low: row.uint64(6))
        )
        meta.checkpointed = JournalPosition(number: row.uint64(1), hash: row.uint64(2))
        meta.checkpointing = JournalPosition(number: row.uint64(3), hash: row.uint64(4))
        meta.highestID = row.uint64(7)
        meta.highestRevision = row.uint64(8)
        meta.nextChannel = row.uint64(9)
        guard let bootID = row.text(10), let durability = row.text(11) else {
            throw damaged("a text is missing")
        }
        meta.bootID = bootID
        meta.durability = durability
        guard row.uint64(12) == meta.sum(format: format) else {
            throw damaged("the checksum does not fit the row")
        }
        guard try !databaseErrors({ () throws(SQLiteError) in try row.step() }) else {
            throw damaged("it has a second row")
        }
        return meta
    }

    /// Writes the row in place of the one that is there.
    func write(_ database: Database, format: Int64) throws(SQLiteError) {
        let row = try database.prepare(
            """
            INSERT OR REPLACE INTO meta (id, format, instance_id, folded_sequence, folded_hash,
                folding_sequence, folding_hash, page_token_key_high, page_token_key_low,
                highest_id, highest_revision, next_channel, boot_id, durability, sum)
            VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """
        )
        try row.bind(format, at: 1)
        try row.bind(instanceID, at: 2)
        try row.bind(checkpointed.number, at: 3)
        try row.bind(checkpointed.hash, at: 4)
        try row.bind(checkpointing.number, at: 5)
        try row.bind(checkpointing.hash, at: 6)
        try row.bind(pageTokenKey.high, at: 7)
        try row.bind(pageTokenKey.low, at: 8)
        try row.bind(highestID, at: 9)
        try row.bind(highestRevision, at: 10)
        try row.bind(nextChannel, at: 11)
        try row.bind(bootID, at: 12)
        try row.bind(durability, at: 13)
        try row.bind(sum(format: format), at: 14)
        try row.run()
    }

    private static func damaged(_ reason: String) -> StateError {
        .damaged(table: "meta", key: "the only row", reason: reason)
    }
}
