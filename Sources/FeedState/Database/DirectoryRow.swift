package import FeedJournal
import FeedSQLite

/// What `state.db` knows of the other files of its data directory, in the one row of `directory`.
///
/// The row belongs to an instance. A restored state has another one, so the row of its backup means
/// nothing to it; a file of version 0.1 has no such table.
package struct DirectoryRow: Equatable, Sendable {
    /// A record of the journal that was durable at the last start.
    ///
    /// From then on the journal and its watermark must be there.
    package var known: JournalPosition
    /// What told `state.db` from a copy at the last start; nil where the file system cannot say.
    package var identity: FileIdentity?
    /// The instance before this one, while the change of instance is not finished; else nil.
    package var previousInstanceID: UInt64?
    /// The last record that is left of an acceptance of loss that is not finished; nil where none
    /// is under way.
    package var acceptedLoss: UInt64?

    package init(known: JournalPosition, identity: FileIdentity? = nil) {
        self.known = known
        self.identity = identity
    }

    private static let tableName = "directory"

    static func createTable(_ database: Database) throws(StorageError) {
        try database.execute(
            """
            CREATE TABLE IF NOT EXISTS \(tableName) (
                id INTEGER PRIMARY KEY CHECK (id = 1), instance_id INTEGER NOT NULL,
                known_sequence INTEGER NOT NULL, known_hash INTEGER NOT NULL,
                inode INTEGER, birth INTEGER, previous_instance_id INTEGER,
                accepted_loss INTEGER, sum INTEGER NOT NULL
            ) STRICT
            """
        )
    }

    /// The row that belongs to an instance; nil where there is none.
    static func read(_ database: Database, instanceID: UInt64) throws(StorageError) -> DirectoryRow?
    {
        guard try StateSchema.tables(in: database).contains(tableName) else { return nil }
        let row = try database.prepare(
            """
            SELECT instance_id, known_sequence, known_hash, inode, birth,
                previous_instance_id, accepted_loss, sum FROM \(tableName)
            """
        )
        guard try row.step(), row.uint64(0) == instanceID else { return nil }
        let known = JournalPosition(number: row.uint64(1), hash: row.uint64(2))
        var record = DirectoryRow(known: known)
        if !row.isNull(3) {
            let birth = row.uint64(4)
            record.identity = FileIdentity(inode: row.uint64(3), birthNanoseconds: birth)
        }
        record.previousInstanceID = row.isNull(5) ? nil : row.uint64(5)
        record.acceptedLoss = row.isNull(6) ? nil : row.uint64(6)
        guard row.uint64(7) == record.sum(instanceID) else {
            throw .damagedRow(
                table: tableName,
                key: "the only row",
                reason: "the checksum does not fit the row"
            )
        }
        return record
    }

    func write(_ database: Database, instanceID: UInt64) throws(StorageError) {
        try Self.createTable(database)
        let row = try database.prepare(
            "INSERT OR REPLACE INTO \(Self.tableName) VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?)"
        )
        let optional = [
            (4, identity?.inode), (5, identity?.birthNanoseconds), (6, previousInstanceID),
            (7, acceptedLoss),
        ]
        for (index, number) in optional {
            if let number {
                try row.bind(number, at: index)
            } else {
                try row.bindNull(at: index)
            }
        }
        try row.bind(instanceID, at: 1)
        try row.bind(known.number, at: 2)
        try row.bind(known.hash, at: 3)
        try row.bind(sum(instanceID), at: 8)
        try row.run()
    }

    private func sum(_ instanceID: UInt64) -> UInt64 {
        var sum = RowSum(seed: 0x6469_7265_6374_6F72)
        sum.add([
            instanceID, known.number, known.hash, identity == nil ? 0 : 1,
            identity?.inode ?? 0, identity?.birthNanoseconds ?? 0,
            previousInstanceID == nil ? 0 : 1, previousInstanceID ?? 0,
            acceptedLoss == nil ? 0 : 1, acceptedLoss ?? 0,
        ])
        return sum.value
    }
}

/// The highest account number that was skipped, in the one row of `account_numbers`.
///
/// A start that skips numbers writes it (``SkippedNumbers``). Until then a file has no such table.
struct AccountNumbers: OneRow {
    static let tableName = "account_numbers"
    static let seed: UInt64 = 0x6163_636F_756E_7473

    var skipped: UInt64 = 0

    mutating func visit(_ columns: inout Columns) {
        columns.one()
        columns.number("skipped", &skipped)
        columns.sumColumn()
    }

    /// The row of a file; nothing is skipped where it has no such table.
    static func read(_ database: Database) throws(StorageError) -> AccountNumbers {
        var row = AccountNumbers()
        guard try StateSchema.tables(in: database).contains(tableName) else { return row }
        guard try row.readOne(database) != nil else { throw damaged("it has no row") }
        return row
    }

    /// Writes the row in place of the one that is there; makes the table where a file has none.
    mutating func write(_ database: Database) throws(StorageError) {
        try database.execute(TableDescription(Self.self).creationIfMissing)
        try writeOne(database)
    }
}

/// The numbers that a start skips, so that none is given twice.
///
/// Every number that a client has seen is durable, as answers wait for that, and a run continues
/// them. It cannot where the machine was started after a run with `--durability os`, which may have
/// lost changes, or where the state is an older one, as after a restore. Then a start skips more
/// numbers than were given since, as far as that can be told.
package enum SkippedNumbers {
    /// What revisions are raised by at each start, above all that were given before.
    package static let revisions: UInt64 = 1 << 24
    /// What they are raised by where the last ones are not known: by days of changes and thousands of starts.
    package static let unknownRevisions: UInt64 = 1 << 40
    /// What the ids of posts are raised by: they are places in memory, so they are not raised by more.
    package static let postIDs: UInt64 = 1 << 24

    /// The highest account number from which an instance continues, where it skips numbers.
    ///
    /// It skips 2^32 to 2^44 of them, and another instance another count as a rule: two restores of one
    /// backup do not give the same numbers. Numbers stay without the top bit, which is for the users of
    /// a service's own; where no more can be skipped, none are.
    package static func accounts(above highest: UInt64, instance: UInt64) -> UInt64 {
        let raised = highest &+ (instance % 4096 + 1) << 32
        return raised >> 63 == 0 ? raised : highest
    }
}
