import FeedAccounts
import FeedLog
import FeedRanking
import FeedSQLite

/// Writes changes into the tables, in one transaction.
///
/// A chunk of counts is read when its first post changes and written when the next chunk's turn
/// comes, so each row is written once a step, however many of its posts have changed.
final class CheckpointWriter {
    let statements: RowStatements

    /// The totals of each table with what was written in this transaction.
    private(set) var totals: [TableTotals]

    /// About the bytes of the rows that were written in this transaction.
    private(set) var byteCount = 0

    /// The chunk of counts whose posts are being written.
    var chunk = CountsChunk()
    var chunkNumber: UInt64?
    var chunkSum: UInt64?
    var chunkHasChanged = false

    /// Reused from row to row.
    var ballotChunk = BallotChunk()
    var markChunk = MarkChunk()
    var ballotRows: [PendingBallots.Row] = []
    var ring = OutcomeRing()
    var buffer: [UInt8] = []

    /// What a row takes beside its texts and packed columns.
    private static let rowByteCount = 64

    /// A writer for one transaction, with the totals that are on the disk.
    init(_ statements: RowStatements, _ totals: [TableTotals]) {
        self.statements = statements
        self.totals = totals
    }

    /// Notes that a row goes, comes or changes, and about the bytes of what is in it.
    func replace(_ table: StateTable, _ old: UInt64?, by new: UInt64?, byteCount: Int = 0) {
        self.byteCount += Self.rowByteCount + byteCount
        totals[table.rawValue].replace(old, by: new)
    }

    /// Writes a voter.
    func write(_ voter: VoterID, _ device: Device16) throws(SQLiteError) {
        let old = try statements.voter.sum.number(of: UInt64(voter.rawValue))
        let new = try VoterRow.write(voter, device, with: statements.voter.upsert)
        replace(.voters, old, by: new)
    }

    /// Writes a feed.
    func write(_ feed: FeedID, _ policy: FeedPolicy) throws(SQLiteError) {
        let old = try statements.feed.sum.number(of: UInt64(feed.rawValue))
        let new = try FeedRow.write(feed, policy, with: statements.feed.upsert)
        replace(.feeds, old, by: new)
    }

    /// Writes what has changed on a channel.
    ///
    /// Nothing if the channel has no row and was not first seen since the last checkpoint: its row
    /// was deleted.
    func write(_ news: PendingChannel) throws(StateError) {
        if news.isDeleted {
            return try databaseErrors { () throws(SQLiteError) in
                guard let old = try statements.channel.sum.number(of: news.number) else { return }
                try statements.channel.delete.run(for: news.number)
                replace(.channels, old, by: nil)
            }
        }
        let (state, old) = try readChannel(news.number)
        guard let state = state ?? news.state else { return }
        ring.merge(news.outcomes)
        try databaseErrors { () throws(SQLiteError) in
            let new = try ChannelRow.write(state, ring, &buffer, with: statements.channel.upsert)
            replace(.channels, old, by: new, byteCount: buffer.count)
        }
    }

    /// Reads a channel's row, its outcomes into the ring; nil where there is none.
    private func readChannel(
        _ number: UInt64
    ) throws(StateError) -> (state: ChannelState?, sum: UInt64?) {
        ring = OutcomeRing()
        let row = statements.channel.one
        defer { row.reset() }
        let found = try databaseErrors { () throws(SQLiteError) in
            try row.bind(number, at: 1)
            return try row.step()
        }
        guard found else { return (nil, nil) }
        let (state, sum) = try ChannelRow.read(row, into: &ring)
        return (state, sum)
    }
}

/// Users that vote, accounts and their sessions.
extension CheckpointWriter {
    /// Writes a voter that is a user.
    func write(_ voter: VoterID, user: UInt64) throws(SQLiteError) {
        let old = try statements.userVoter.sum.number(of: UInt64(voter.rawValue))
        let new = try UserVoterRow.write(voter, user, with: statements.userVoter.upsert)
        replace(.userVoters, old, by: new)
    }

    /// Writes an account that is new or whose sessions have ended, and deletes these sessions.
    func writeAccount(_ id: UInt64, of accounts: PendingAccounts) throws(StateError) {
        let stored = try readAccount(id)
        guard let account = accounts.accounts[id] ?? stored?.account else { return }
        let generation = max(stored?.generation ?? 0, accounts.generations[id] ?? 0)
        try databaseErrors { () throws(SQLiteError) in
            let row = statements.account.upsert
            let new = try AccountsRow.write(account, generation, with: row)
            let byteCount = account.email.utf8.count + account.passwordHash.utf8.count
            replace(.accounts, stored?.sum, by: new, byteCount: byteCount)
            if generation > 0 { try deleteSessions(of: id, below: generation) }
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
    ) throws(StateError) {
        let stored = try readSession(hash)
        let isVoid = session.map { $0.generation < accounts.generations[$0.userID] ?? 0 } ?? true
        try databaseErrors { () throws(SQLiteError) in
            if !isVoid, let session {
                // An interrupted checkpoint may have written a later expiry.
                if let expiry = stored?.session.expireTimeMilliseconds,
                    expiry > session.expireTimeMilliseconds
                {
                    return
                }
                let new = try SessionsRow.write(session, with: statements.session.upsert)
                replace(.sessions, stored?.sum, by: new, byteCount: TokenHash.byteCount)
            } else if let stored {
                let row = statements.session.delete
                try row.bind(hash.bytes, at: 1)
                try row.run()
                replace(.sessions, stored.sum, by: nil)
            }
        }
    }

    private func deleteSessions(of user: UInt64, below generation: UInt64) throws(SQLiteError) {
        let sums = statements.sessionsBelow.sums
        try sums.bind(user, at: 1)
        try sums.bind(generation, at: 2)
        while try sums.step() { replace(.sessions, sums.uint64(0), by: nil) }
        let row = statements.sessionsBelow.delete
        try row.bind(user, at: 1)
        try row.bind(generation, at: 2)
        try row.run()
    }

    private func readAccount(
        _ id: UInt64
    ) throws(StateError) -> (account: AccountRow, generation: UInt64, sum: UInt64)? {
        let row = statements.account.one
        defer { row.reset() }
        let found = try databaseErrors { () throws(SQLiteError) in
            try row.bind(id, at: 1)
            return try row.step()
        }
        return found ? try AccountsRow.read(row) : nil
    }

    private func readSession(
        _ hash: TokenHash
    ) throws(StateError) -> (session: SessionRow, sum: UInt64)? {
        let row = statements.session.one
        defer { row.reset() }
        let found = try databaseErrors { () throws(SQLiteError) in
            try row.bind(hash.bytes, at: 1)
            return try row.step()
        }
        guard found else { return nil }
        let (session, sum) = try SessionsRow.read(row)
        return (session, sum)
    }
}

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

/// What viewers have marked.
extension CheckpointWriter {
    /// Writes the marks of a viewer on the posts of a chunk.
    func writeMarks(_ key: UInt64, _ news: [PostMarks]) throws(StateError) {
        let old = try readMarks(key)
        markChunk.merge(news)
        try databaseErrors { () throws(SQLiteError) in
            var sum: UInt64?
            if !markChunk.entries.isEmpty {
                sum = try MarkRow.write(key, markChunk, &buffer, with: statements.marks.upsert)
            } else if old != nil {
                let row = statements.marks.delete
                try MarkRow.bind(key, to: row)
                try row.run()
            }
            replace(.marks, old, by: sum, byteCount: sum == nil ? 0 : buffer.count)
        }
    }

    /// Writes a viewer's mark through a post, unless a newer one is at its place.
    func write(_ mark: MarkThrough) throws(StateError) {
        let stored = try readMark(at: mark)
        guard stored?.mark.revision ?? 0 < mark.revision else { return }
        try databaseErrors { () throws(SQLiteError) in
            let new = try MarkThroughRow.write(mark, with: statements.markThrough.upsert)
            replace(.markThroughs, stored?.sum, by: new)
        }
    }

    /// Reads the marks of a chunk; gives the row's checksum, nil where there is none.
    private func readMarks(_ key: UInt64) throws(StateError) -> UInt64? {
        let row = statements.marks.one
        defer { row.reset() }
        let found = try databaseErrors { () throws(SQLiteError) in
            try MarkRow.bind(key, to: row)
            return try row.step()
        }
        guard found else {
            markChunk.clear()
            return nil
        }
        return try MarkRow.read(row, into: &markChunk).sum
    }

    /// Reads the mark that a mark would replace.
    private func readMark(
        at mark: MarkThrough
    ) throws(StateError) -> (mark: MarkThrough, sum: UInt64)? {
        let row = statements.markThrough.one
        defer { row.reset() }
        let found = try databaseErrors { () throws(SQLiteError) in
            try MarkThroughRow.bindKey(of: mark, to: row)
            return try row.step()
        }
        guard found else { return nil }
        let (stored, sum) = try MarkThroughRow.read(row)
        return (stored, sum)
    }

    /// Writes all that has changed of a post: its row, its ballots, its counts.
    ///
    /// They go into one transaction, so all rows of a post on the disk carry one revision, the one
    /// in its counts. If that revision is not older than the memtable's, an interrupted checkpoint
    /// has written the post already, and nothing is to be done.
    func write(
        _ id: UInt64,
        of memtable: borrowing Memtable,
        at time: Int64
    ) throws(StateError) {
        guard let news = memtable.counts[id] else { return }
        try enterChunk(CountsChunk.number(id))
        let place = CountsChunk.place(id)
        let old = chunk[place]
        if memtable.deletions.contains(id) {
            try remove(id, isThere: old.revision != 0)
            return try databaseErrors { () throws(SQLiteError) in
                try writeDeletion(of: id, revision: news.revision, at: time)
            }
        }
        guard old.revision < news.revision else { return }
        if let post = memtable.posts[id] {
            try databaseErrors { () throws(SQLiteError) in
                let sum = old.revision == 0 ? nil : try statements.post.sum.number(of: id)
                replace(
                    .posts,
                    sum,
                    by: try PostRow.write(post, with: statements.post.upsert),
                    byteCount: post.content.byteCount
                )
            }
        } else if old.revision == 0 {
            // A later record deleted it, and an interrupted checkpoint has written that already.
            return
        }
        try writeBallots(id, of: memtable)
        chunk[place] = CountsChunk.Entry(
            upvoteCount: news.upvoteCount,
            downvoteCount: news.downvoteCount,
            revision: news.revision,
            risingSum: news.risingSum.isInitial ? old.risingSum : news.risingSum.rawValue
        )
        chunkHasChanged = true
    }

    /// Writes the chunk of counts that is being changed.
    func flushChunk() throws(StateError) {
        guard let number = chunkNumber, chunkHasChanged else { return }
        try databaseErrors { () throws(SQLiteError) in
            var sum: UInt64?
            if chunk.newestRevision == 0 {
                try statements.counts.delete.run(for: number)
            } else {
                let row = statements.counts.upsert
                sum = try CountsRow.write(number, chunk, &buffer, with: row)
            }
            replace(.counts, chunkSum, by: sum, byteCount: sum == nil ? 0 : buffer.count)
            chunkSum = sum
        }
        chunkHasChanged = false
    }

    private func enterChunk(_ number: UInt64) throws(StateError) {
        guard chunkNumber != number else { return }
        try flushChunk()
        chunkNumber = nil
        let row = statements.counts.one
        defer { row.reset() }
        let found = try databaseErrors { () throws(SQLiteError) in
            try row.bind(number, at: 1)
            return try row.step()
        }
        if found {
            chunkSum = try CountsRow.read(row, into: &chunk)
        } else {
            chunk.clear()
            chunkSum = nil
        }
        chunkNumber = number
    }

    private func remove(_ id: UInt64, isThere: Bool) throws(StateError) {
        guard isThere else { return }
        try databaseErrors { () throws(SQLiteError) in
            let sum = try statements.post.sum.number(of: id)
            try statements.post.delete.run(for: id)
            replace(.posts, sum, by: nil)
            let sums = statements.ballotsOfPost.sums
            try sums.bind(id, at: 1)
            while try sums.step() { replace(.ballots, sums.uint64(0), by: nil) }
            try statements.ballotsOfPost.delete.run(for: id)
        }
        chunk[CountsChunk.place(id)] = CountsChunk.Entry()
        chunkHasChanged = true
    }

    private func writeBallots(_ id: UInt64, of memtable: borrowing Memtable) throws(StateError) {
        memtable.ballots.rows(of: id, into: &ballotRows)
        for row in ballotRows {
            let old = try readBallots(id, row.chunk)
            memtable.ballots.change(&ballotChunk, by: row)
            try writeBallots(id, row.chunk, over: old)
        }
    }

    /// Reads one row of ballots; nil where there is none.
    private func readBallots(_ id: UInt64, _ number: UInt32) throws(StateError) -> UInt64? {
        let row = statements.ballots.one
        defer { row.reset() }
        let found = try databaseErrors { () throws(SQLiteError) in
            try row.bind(id, at: 1)
            try row.bind(Int64(number), at: 2)
            return try row.step()
        }
        guard found else {
            ballotChunk.clear()
            return nil
        }
        return try BallotRow.read(row, into: &ballotChunk)
    }

    private func writeBallots(
        _ id: UInt64,
        _ number: UInt32,
        over old: UInt64?
    ) throws(StateError) {
        try databaseErrors { () throws(SQLiteError) in
            var sum: UInt64?
            if ballotChunk.count > 0 {
                let row = statements.ballots.upsert
                sum = try BallotRow.write(id, number, ballotChunk, &buffer, with: row)
            } else if old != nil {
                try statements.ballots.delete.bind(id, at: 1)
                try statements.ballots.delete.bind(Int64(number), at: 2)
                try statements.ballots.delete.run()
            }
            replace(.ballots, old, by: sum, byteCount: sum == nil ? 0 : buffer.count)
        }
    }
}
