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
    package var nextChannel: UInt64 = 1
    /// The records of the directory's cluster up to `checkpointed`, in a table of its own.
    package var chain = RecordChain.ofOneMachine
    /// The system's boot id when the service last started; empty before the first start, and where
    /// the next start must skip numbers.
    package var bootID = ""
    /// How durable an answer of the last run was, by `Durability`'s raw value; empty before it, and
    /// `os` where the next start must skip numbers.
    package var durability = ""

    package struct PageTokenKey: Equatable, Sendable {
        package var high: UInt64
        package var low: UInt64

        package init(high: UInt64, low: UInt64) {
            self.high = high
            self.low = low
        }
    }

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

    package var isCheckpointing: Bool { checkpointing.number > checkpointed.number }

    static var creation: String { TableDescription(MetaRow.self).creation[0] }

    static func read(_ database: Database, format: Int64) throws(StorageError) -> StateMeta {
        var row = MetaRow()
        guard let statement = try row.readOne(database) else {
            throw MetaRow.damaged("it has no row")
        }
        guard try !statement.step() else { throw MetaRow.damaged("it has a second row") }
        guard row.format == format else {
            throw MetaRow.damaged("it has format \(row.format), and not \(format)")
        }
        if format >= StateSchema.clusterFormat { row.meta.chain = try RecordChain.read(database) }
        return row.meta
    }

    func write(_ database: Database, format: Int64) throws(StorageError) {
        var row = MetaRow(format: format, meta: self)
        try row.writeOne(database)
        if format >= StateSchema.clusterFormat { try chain.write(database) }
    }
}

/// The row of `meta`, of a format whose columns all formats keep.
private struct MetaRow: OneRow {
    static let tableName = "meta"
    static let seed: UInt64 = 0x6D65_7461
    static let impossible = "a text is missing"

    var format: Int64 = 0
    var meta = StateMeta(instanceID: 0, pageTokenKey: StateMeta.PageTokenKey(high: 0, low: 0))

    mutating func visit(_ columns: inout Columns) {
        columns.one()
        columns.number("format", &format)
        columns.number("instance_id", &meta.instanceID)
        columns.number("folded_sequence", &meta.checkpointed.number)
        columns.number("folded_hash", &meta.checkpointed.hash)
        columns.number("folding_sequence", &meta.checkpointing.number)
        columns.number("folding_hash", &meta.checkpointing.hash)
        columns.number("page_token_key_high", &meta.pageTokenKey.high)
        columns.number("page_token_key_low", &meta.pageTokenKey.low)
        columns.number("highest_id", &meta.highestID)
        columns.number("highest_revision", &meta.highestRevision)
        columns.number("next_channel", &meta.nextChannel)
        columns.text("boot_id", &meta.bootID)
        columns.text("durability", &meta.durability)
        columns.sumColumn()
    }
}
