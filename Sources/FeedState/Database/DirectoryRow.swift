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

    /// A record that was durable, beside a file.
    package init(known: JournalPosition, identity: FileIdentity? = nil) {
        self.known = known
        self.identity = identity
    }
}

extension DirectoryRow {
    private static let tableName = "directory"

    /// Makes the table, where a file has none.
    static func createTable(_ database: Database) throws(SQLiteError) {
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
    static func read(
        _ database: Database,
        instanceID: UInt64
    ) throws(StateError) -> DirectoryRow? {
        let found = try databaseErrors {
            () throws(SQLiteError) -> (record: DirectoryRow, sum: UInt64)? in
            let tables = try database.prepare(
                "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = '\(tableName)'"
            )
            guard try tables.step() else { return nil }
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
            return (record, row.uint64(7))
        }
        guard let found else { return nil }
        guard found.sum == found.record.sum(instanceID) else {
            throw .damaged(
                table: tableName,
                key: "the only row",
                reason: "the checksum does not fit the row"
            )
        }
        return found.record
    }

    /// Writes the row in place of the one that is there.
    func write(_ database: Database, instanceID: UInt64) throws(SQLiteError) {
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
