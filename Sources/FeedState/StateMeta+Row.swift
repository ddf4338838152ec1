import FeedJournal
import FeedSQLite

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
