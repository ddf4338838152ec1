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
