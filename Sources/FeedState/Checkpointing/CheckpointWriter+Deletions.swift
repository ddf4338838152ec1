import FeedRanking
import FeedSQLite

/// The deletions that readers of changes may still have to learn.
extension CheckpointWriter {
    /// The deletions that one checkpoint forgets at most, in its last step.
    private static let forgottenCount = 65_536

    /// Writes that a post was deleted; again is no error.
    func writeDeletion(of id: UInt64, revision: UInt64, at time: Int64) throws(SQLiteError) {
        let old = try statements.deletion.sum.number(of: revision)
        let row = statements.deletion.upsert
        let new = try DeletionRow.write(.deletion, revision, post: id, at: time, with: row)
        replace(.deletions, old, by: new)
    }

    /// Forgets deletions that are a day old, and the oldest beyond the limit.
    ///
    /// A file of an earlier format has no floor: all deletions up to its highest revision may be
    /// missing.
    ///
    /// - Parameters:
    ///   - time: The time of the checkpoint, in Unix milliseconds.
    ///   - highestRevision: The highest revision after the checkpoint.
    /// - Throws: What SQLite says.
    func forgetDeletions(at time: Int64, highestRevision: UInt64) throws(SQLiteError) {
        let (oldFloor, oldSum) = try deletionsFloor()
        var floor = oldFloor ?? highestRevision
        var count = totals[StateTable.deletions.rawValue].rowCount
        let row = statements.deletion.oldest
        defer { row.reset() }
        try row.bind(Int64(Self.forgottenCount), at: 1)
        var last: UInt64?
        while try row.step() {
            let isOld = row.int64(1) < time - RankingLimits.tombstoneLifetime
            guard isOld || count > UInt64(RankingLimits.maximumTombstoneCount) else { break }
            replace(.deletions, row.uint64(2), by: nil)
            last = row.uint64(0)
            count -= 1
        }
        row.reset()
        if let last {
            try statements.deletion.deleteThrough.run(for: last)
            floor = max(floor, last)
        }
        guard floor != oldFloor else { return }
        try writeFloor(floor, over: oldSum)
    }

    /// Writes that deletions up to a revision may be missing.
    func raiseDeletionsFloor(to revision: UInt64) throws(SQLiteError) {
        let (floor, sum) = try deletionsFloor()
        if floor ?? 0 < revision { try writeFloor(revision, over: sum) }
    }

    private func writeFloor(_ floor: UInt64, over oldSum: UInt64?) throws(SQLiteError) {
        try statements.deletionsFloor.delete.run()
        let upsert = statements.deletion.upsert
        let new = try DeletionRow.write(.floor, floor, post: 0, at: 0, with: upsert)
        replace(.deletions, oldSum, by: new)
    }

    private func deletionsFloor() throws(SQLiteError) -> (revision: UInt64?, sum: UInt64?) {
        let row = statements.deletionsFloor.one
        defer { row.reset() }
        return try row.step() ? (row.uint64(0), row.uint64(1)) : (nil, nil)
    }
}
