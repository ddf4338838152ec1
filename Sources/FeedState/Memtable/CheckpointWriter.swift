import FeedAccounts
import FeedLog
import FeedRanking
import FeedSQLite

/// Writes changes into the tables, in one transaction.
///
/// A chunk of counts is read when its first post changes and written when the next chunk's turn
/// comes, so each row is written once a step, however many of its posts have changed.
final class CheckpointWriter {
    private let statements: RowStatements
    private(set) var totals: [TableTotals]
    /// About the bytes of the rows that were written in this transaction.
    private(set) var byteCount = 0
    private var counts = CountsRow()
    private var chunkNumber: UInt64?
    private var chunkSum: UInt64?
    private var chunkHasChanged = false

    // Reused from row to row.
    private var ballots = BallotRow()
    private var marks = MarkRow()
    private var ballotRows: [PendingBallots.ChunkRow] = []
    private let buffer = RowBuffer()
    private static let rowByteCount = 64

    init(_ statements: RowStatements, _ totals: [TableTotals]) {
        self.statements = statements
        self.totals = totals
    }

    func write(_ row: some PendingRow) throws(StorageError) {
        var row = row
        let old = try storedSum(of: &row)
        try put(&row, over: old)
    }

    /// Writes a row, unless it does not replace the one with its key.
    func writeNewer(_ row: some PendingRow) throws(StorageError) {
        var (row, stored) = (row, row)
        let old = try readStored(&stored)
        guard old == nil || row.replaces(stored) else { return }
        try put(&row, over: old)
    }

    /// The checksum of the row that has the key of a row; nil where there is none.
    private func storedSum<Row: StateRow>(of row: inout Row) throws(StorageError) -> UInt64? {
        let statement = statements[Row.table].sum
        try row.bindKey(to: statement)
        defer { statement.reset() }
        return try statement.step() ? statement.uint64(0) : nil
    }

    /// Reads the row that has the key of a row into that; gives its checksum, nil where there is none.
    private func readStored<Row: StateRow>(_ row: inout Row) throws(StorageError) -> UInt64? {
        let statement = statements[Row.table].one
        defer { statement.reset() }
        try row.bindKey(to: statement)
        return try statement.step() ? try row.read(statement) : nil
    }

    @discardableResult
    private func put<Row: StateRow>(
        _ row: inout Row,
        over old: UInt64?
    ) throws(StorageError) -> UInt64 {
        let written = try row.write(by: statements[Row.table].upsert, buffer)
        replace(Row.table, old, by: written.sum, byteCount: written.byteCount)
        return written.sum
    }

    private func remove<Row: StateRow>(_ row: inout Row, _ old: UInt64?) throws(StorageError) {
        let statement = statements[Row.table].delete
        try row.bindKey(to: statement)
        try statement.run()
        replace(Row.table, old, by: nil)
    }

    private func removeRows(
        of table: StateTable,
        _ rows: RowStatements.Rows,
        _ bind: (Statement) throws(StorageError) -> Void
    ) throws(StorageError) {
        try bind(rows.sums)
        while try rows.sums.step() { replace(table, rows.sums.uint64(0), by: nil) }
        try bind(rows.delete)
        try rows.delete.run()
    }

    /// Notes that a row goes, comes or changes, and about the bytes of what is in it.
    private func replace(_ table: StateTable, _ old: UInt64?, by new: UInt64?, byteCount: Int = 0) {
        self.byteCount += Self.rowByteCount + byteCount
        totals[table.rawValue].replace(old, by: new)
    }
}

extension CheckpointWriter {
    /// Writes what has changed on a channel.
    ///
    /// Nothing if the channel has no row and was not first seen since the last checkpoint: its row
    /// was deleted.
    func write(_ news: PendingChannel) throws(StorageError) {
        var row = ChannelRow()
        row.channel.number = news.number
        if news.isDeleted {
            guard let old = try storedSum(of: &row) else { return }
            return try remove(&row, old)
        }
        let old = try readStored(&row)
        if old == nil {
            guard let state = news.state else { return }
            row.channel = state
        }
        row.merge(news.outcomes)
        try put(&row, over: old)
    }

    /// Writes an account that is new, was changed or whose sessions have ended, and deletes these sessions.
    ///
    /// An interrupted checkpoint may have written a later version.
    func writeAccount(_ id: UInt64, of accounts: PendingAccounts) throws(StorageError) {
        var row = AccountsRow()
        row.account.id = id
        let old = try readStored(&row)
        if let account = accounts.accounts[id] {
            if old == nil || account.version >= row.account.version { row.account = account }
        } else if old == nil {
            return
        }
        let generation = max(row.generation, accounts.generations[id] ?? 0)
        row.generation = generation
        try put(&row, over: old)
        guard generation > 0 else { return }
        try removeRows(of: .sessions, statements.sessionsBelow) {
            (statement) throws(StorageError) in
            try statement.bind(id, at: 1)
            try statement.bind(generation, at: 2)
        }
    }

    /// Writes a session, or deletes one that has ended.
    ///
    /// A session of a generation that has ended is deleted with its account's row, so accounts are
    /// written before sessions.
    func write(
        _ hash: TokenHash,
        _ session: SessionRow?,
        of accounts: PendingAccounts
    ) throws(StorageError) {
        var row = SessionsRow()
        row.session.tokenHash = hash
        let old = try readStored(&row)
        let isVoid = session.map { $0.generation < accounts.generations[$0.userID] ?? 0 } ?? true
        if !isVoid, let session {
            // An interrupted checkpoint may have written a later expiry.
            let expiry = row.session.expireTimeMilliseconds
            guard old == nil || expiry <= session.expireTimeMilliseconds else { return }
            row.session = session
            try put(&row, over: old)
        } else if old != nil {
            try remove(&row, old)
        }
    }

    func writeMarks(_ key: UInt64, _ news: [PostMarks]) throws(StorageError) {
        marks.key = key
        let old = try readStored(&marks)
        if old == nil { marks.marks.clear() }
        marks.marks.merge(news)
        if !marks.marks.entries.isEmpty {
            try put(&marks, over: old)
        } else if old != nil {
            try remove(&marks, old)
        }
    }
}

extension CheckpointWriter {
    /// Writes all that has changed of a post: its row, its ballots, its counts.
    ///
    /// They go into one transaction, so all rows of a post on the disk carry one revision, the one
    /// in its counts. If that revision is not older than the memtable's, an interrupted checkpoint
    /// has written the post already, and nothing is to be done.
    func writePost(
        _ id: UInt64,
        of memtable: borrowing Memtable,
        at time: Int64
    ) throws(StorageError) {
        guard let news = memtable.counts[id] else { return }
        try enterChunk(CountsChunk.number(id))
        let place = CountsChunk.place(id)
        let old = counts.counts[place]
        if memtable.deletions.contains(id) {
            if old.revision != 0 { try removePost(id) }
            return try writeDeletion(of: id, revision: news.revision, at: time)
        }
        guard old.revision < news.revision else { return }
        if var post = memtable.posts[id] {
            let sum = old.revision == 0 ? nil : try storedSum(of: &post)
            try put(&post, over: sum)
        } else if old.revision == 0 {
            // A later record deleted it, and an interrupted checkpoint has written that already.
            return
        }
        try writeBallots(id, of: memtable)
        counts.counts[place] = CountsChunk.Entry(
            upvoteCount: news.upvoteCount,
            downvoteCount: news.downvoteCount,
            revision: news.revision,
            risingSum: news.risingSum.isInitial ? old.risingSum : news.risingSum.rawValue
        )
        chunkHasChanged = true
    }

    func flushChunk() throws(StorageError) {
        guard chunkNumber != nil, chunkHasChanged else { return }
        counts.newestRevision = counts.counts.newestRevision
        if counts.newestRevision == 0 {
            try remove(&counts, chunkSum)
            chunkSum = nil
        } else {
            chunkSum = try put(&counts, over: chunkSum)
        }
        chunkHasChanged = false
    }

    private func enterChunk(_ number: UInt64) throws(StorageError) {
        guard chunkNumber != number else { return }
        try flushChunk()
        chunkNumber = nil
        counts.chunk = number
        chunkSum = try readStored(&counts)
        if chunkSum == nil { counts.counts.clear() }
        chunkNumber = number
    }

    private func removePost(_ id: UInt64) throws(StorageError) {
        var row = PostRow()
        row.post.counts.id = PostID(rawValue: id)
        let sum = try storedSum(of: &row)
        try remove(&row, sum)
        try removeRows(of: .ballots, statements.ballotsOfPost) {
            (statement) throws(StorageError) in
            try statement.bind(id, at: 1)
        }
        counts.counts[CountsChunk.place(id)] = CountsChunk.Entry()
        chunkHasChanged = true
    }

    private func writeBallots(_ id: UInt64, of memtable: borrowing Memtable) throws(StorageError) {
        memtable.ballots.rows(of: id, into: &ballotRows)
        for row in ballotRows {
            ballots.post = id
            ballots.chunk = UInt64(row.chunk)
            let old = try readStored(&ballots)
            if old == nil { ballots.ballots.clear() }
            memtable.ballots.change(&ballots.ballots, by: row)
            if ballots.ballots.count > 0 {
                try put(&ballots, over: old)
            } else if old != nil {
                try remove(&ballots, old)
            }
        }
    }
}

/// The deletions that readers of changes may still have to learn.
extension CheckpointWriter {
    /// The deletions that one checkpoint forgets at most, in its last step.
    private static let forgottenCount = 65_536

    private func writeDeletion(of id: UInt64, revision: UInt64, at time: Int64) throws(StorageError)
    {
        var row = DeletionRow(revision: revision, post: id, time: time)
        let old = try storedSum(of: &row)
        try put(&row, over: old)
    }

    /// Forgets deletions that are a day old at the time of the checkpoint, and the oldest beyond the limit.
    ///
    /// A file of an earlier format has no floor: all deletions up to the highest revision after the
    /// checkpoint may be missing.
    func forgetDeletions(at time: Int64, highestRevision: UInt64) throws(StorageError) {
        let (oldFloor, oldSum) = try deletionsFloor()
        var floor = oldFloor ?? highestRevision
        var last: UInt64?
        var count = totals[StateTable.deletions.rawValue].rowCount
        let row = statements.oldestDeletions
        defer { row.reset() }
        try row.bind(Int64(Self.forgottenCount), at: 1)
        while try row.step() {
            let isOld = row.int64(1) < time - RankingLimits.tombstoneLifetime
            guard isOld || count > UInt64(RankingLimits.maximumTombstoneCount) else { break }
            replace(.deletions, row.uint64(2), by: nil)
            last = row.uint64(0)
            count -= 1
        }
        row.reset()
        if let last {
            try statements.deletionsThrough.bind(last, at: 1)
            try statements.deletionsThrough.run()
            floor = max(floor, last)
        }
        if floor != oldFloor { try writeFloor(floor, over: oldSum) }
    }

    /// Writes that deletions up to a revision may be missing.
    func raiseDeletionsFloor(to revision: UInt64) throws(StorageError) {
        let (floor, sum) = try deletionsFloor()
        if floor ?? 0 < revision { try writeFloor(revision, over: sum) }
    }

    private func writeFloor(_ floor: UInt64, over oldSum: UInt64?) throws(StorageError) {
        try statements.deletionsFloor.delete.run()
        var row = DeletionRow(floor: floor)
        try put(&row, over: oldSum)
    }

    private func deletionsFloor() throws(StorageError) -> (revision: UInt64?, sum: UInt64?) {
        let row = statements.deletionsFloor.one
        defer { row.reset() }
        return try row.step() ? (row.uint64(0), row.uint64(1)) : (nil, nil)
    }
}

extension StateDatabase {
    /// Calls `body` in a transaction with a writer, then writes the meta that `body` returns; where
    /// anything fails, nothing has changed.
    func writeStep<Result>(
        _ body: (CheckpointWriter) throws(StorageError) -> (Result, StateMeta)
    ) throws(StorageError) -> Result {
        let writer = CheckpointWriter(try rowStatements(), totals)
        try connection.execute("BEGIN IMMEDIATE")
        do {
            let (result, changed) = try body(writer)
            if changed != meta {
                try TableTotals.rewrite(writer.totals, connection)
                try changed.write(connection, format: format)
            } else {
                try TableTotals.write(writer.totals, over: totals, connection)
            }
            let began = ContinuousClock.now
            try connection.execute("COMMIT")
            lastCommitTime = began.duration(to: .now)
            totals = writer.totals
            meta = changed
            return result
        } catch {
            // Some errors have undone it already; the one to report is the first.
            if connection.isInTransaction {
                try? connection.execute("ROLLBACK")
            }
            throw error
        }
    }

    /// Writes that deletions up to a revision may be missing: durable on return.
    func raiseDeletionsFloor(to revision: UInt64) throws(StorageError) {
        try writeStep { (writer) throws(StorageError) in
            try writer.raiseDeletionsFloor(to: revision)
            return ((), meta)
        }
    }
}
