import FeedAccounts
import FeedConcurrency
package import FeedJournal
import FeedRanking
import FeedSQLite

/// Writes a memtable into `state.db`, a step at a time.
///
/// Each step is a database transaction. The last step moves `checkpointed` too. A crash between
/// steps leaves some posts newer than others, which does no harm: `checkpointed` has not moved, and
/// every record in the memtable is durable, so replay reaches at least to the checkpoint's target.
/// A log entry that is older than the row changes nothing. Until then `checkpointing` says how far
/// replay has to go. A step that fails, as on a full disk, is undone whole and may be tried again.
package final class Checkpoint {
    /// The record whose log entries are all in the tables after the last step.
    package let target: JournalPosition

    /// Whether the last step is written.
    package private(set) var isDone = false

    private let database: StateDatabase
    private var memtable: Memtable
    /// Copied before a step, and restored where the step fails.
    private var cursor: CheckpointCursor
    private let channelPlaces: [UInt64: Int]
    /// The sessions and the marks through posts that the cursor names by their places.
    private let sessions: [TokenHash]
    private let markThroughs: [MarkThrough]
    private let changeCount: Int
    /// When it began, in Unix milliseconds: the time of the deletions that it writes.
    private let time: Int64

    /// The share of the changes that is written, 0 to 1.
    var writtenShare: Double {
        isDone ? 1 : min(1, Double(cursor.writtenCount) / Double(max(1, changeCount)))
    }

    /// Begins to write a memtable, with nothing written yet, at a time or now.
    package init(
        _ memtable: consuming Memtable,
        into database: StateDatabase,
        at time: Int64? = nil
    ) {
        self.time = time ?? Int64(SystemClock.unixMicroseconds() / 1_000)
        target = memtable.position == .start ? database.meta.checkpointed : memtable.position
        precondition(
            target.number >= database.meta.checkpointed.number,
            "Records are checkpointed in their order."
        )
        sessions = Array(memtable.accounts.sessions.keys)
        markThroughs = Array(memtable.marks.throughs.values)
        cursor = CheckpointCursor(memtable)
        channelPlaces = Dictionary(
            uniqueKeysWithValues: memtable.channels.enumerated().map { ($1.number, $0) }
        )
        changeCount = memtable.changeCount
        self.memtable = memtable
        self.database = database
    }

    /// Writes one step; returns whether it was the last.
    ///
    /// A step has at most so many posts, voters and channels. It ends once their rows have so many
    /// bytes or `isDue` says so, and has at least one change. Durable on return. O(log n) for each
    /// change.
    package func step(
        changes limit: Int = .max,
        bytes byteLimit: Int = .max,
        until isDue: () -> Bool = { false }
    ) throws(StateError) -> Bool {
        guard !isDone else { return true }
        while !cursor.isReady || !memtable.ballots.isSorted {
            if cursor.isReady { memtable.ballots.sortPiece() } else { cursor.sortRun() }
            if isDue() { return false }
        }
        let before = cursor
        let meta = database.meta
        do {
            isDone = try database.writeStep { (writer) throws(StateError) in
                var left = limit
                var isLast = false
                repeat {
                    isLast = try !writeNext(writer)
                    left -= 1
                } while !isLast && left > 0 && writer.byteCount < byteLimit && !isDue()
                try writer.flushChunk()
                let moved = moved(meta, isLast: isLast)
                if isLast {
                    try databaseErrors { () throws(SQLiteError) in
                        let revision = moved.highestRevision
                        try writer.forgetDeletions(at: time, highestRevision: revision)
                    }
                }
                return (isLast, moved)
            }
        } catch {
            cursor = before
            throw error
        }
        return isDone
    }

    /// Writes the next change; false when there is none.
    private func writeNext(_ writer: CheckpointWriter) throws(StateError) -> Bool {
        // A row follows the rows that it refers to, so the rows on the disk can always be loaded.
        if cursor.feedIsDue {
            cursor.feedIsDue = false
            for (feed, policy) in memtable.feeds {
                try databaseErrors { () throws(SQLiteError) in try writer.write(feed, policy) }
            }
        }
        guard let (part, key) = cursor.next() else { return false }
        switch part {
        case .voters:
            let voter = VoterID(rawValue: UInt32(key))
            guard let device = memtable.voters[voter] else { return true }
            try databaseErrors { () throws(SQLiteError) in try writer.write(voter, device) }
        case .userVoters:
            let voter = VoterID(rawValue: UInt32(key))
            guard let user = memtable.userVoters[voter] else { return true }
            try databaseErrors { () throws(SQLiteError) in try writer.write(voter, user: user) }
        case .accounts: try writer.writeAccount(key, of: memtable.accounts)
        case .sessions:
            let hash = sessions[Int(key)]
            guard let session = memtable.accounts.sessions[hash] else { return true }
            try writer.write(hash, session, of: memtable.accounts)
        case .posts: try writer.write(key, of: memtable, at: time)
        case .marks: try writer.writeMarks(key, memtable.marks[key])
        case .markThroughs: try writer.write(markThroughs[Int(key)])
        case .channels:
            guard let place = channelPlaces[key] else { return true }
            try writer.write(memtable.channels[place])
        }
        cursor.writtenCount += 1
        return true
    }

    /// The meta row after a step.
    private func moved(_ old: StateMeta, isLast: Bool) -> StateMeta {
        var meta = old
        // An interrupted checkpoint may have reached further than this one does.
        if target.number > meta.checkpointing.number { meta.checkpointing = target }
        guard isLast else { return meta }
        meta.checkpointed = target
        meta.highestID = max(meta.highestID, memtable.highestID)
        meta.highestRevision = max(meta.highestRevision, memtable.highestRevision)
        meta.nextChannel = max(meta.nextChannel, memtable.nextChannel)
        return meta
    }
}

@available(*, unavailable)
extension Checkpoint: Sendable {}
