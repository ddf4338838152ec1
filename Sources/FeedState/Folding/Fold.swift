package import FeedJournal
import FeedRanking
import FeedSQLite

/// Writes what a table has gathered into `state.db`, a slice at a time.
///
/// Each slice is a transaction; the last one moves `folded` too. A crash between slices leaves some
/// posts newer than others, and does no harm: `folded` has not moved, every record that was gathered
/// is durable, so replay reaches at least to the fold's end, and an effect that is older than what
/// is there changes nothing. Until then `folding` says how far replay has to go. A slice that fails,
/// as on a full disk, is undone whole and may be tried again.
package final class Fold {
    /// The record whose effects are in the tables with the last slice.
    package let target: JournalPosition

    /// Whether the last slice is written.
    package private(set) var isDone = false

    /// How far it has come; copied before a slice, put back where that fails.
    private struct Cursor {
        var voters: SortedRuns
        var posts: SortedRuns
        var channels: SortedRuns
        var feedIsDue = true
        /// The voters, posts and channels that are written.
        var writtenCount = 0

        /// Whether nothing is left to sort.
        var isReady: Bool { voters.isReady && posts.isReady && channels.isReady }

        /// Sorts a piece of what is left.
        mutating func sortRun() {
            if !voters.isReady {
                voters.sortRun()
            } else if !posts.isReady {
                posts.sortRun()
            } else {
                channels.sortRun()
            }
        }
    }

    private let database: StateDatabase
    private let table: FoldTable
    private var cursor: Cursor
    private let channelPlaces: [UInt64: Int]
    private let changeCount: Int

    /// The share of the changes that is written, 0 to 1.
    var writtenShare: Double {
        isDone ? 1 : min(1, Double(cursor.writtenCount) / Double(max(1, changeCount)))
    }

    /// Begins to write a table, with nothing written yet.
    package init(_ table: consuming FoldTable, into database: StateDatabase) {
        target = table.position == .start ? database.meta.folded : table.position
        precondition(
            target.sequence >= database.meta.folded.sequence,
            "Records are folded in their order."
        )
        cursor = Cursor(
            voters: SortedRuns(table.voters.keys.map { UInt64($0.rawValue) }),
            posts: SortedRuns(table.counts.ids()),
            channels: SortedRuns(table.channels.map(\.number))
        )
        channelPlaces = Dictionary(
            uniqueKeysWithValues: table.channels.enumerated().map { ($1.number, $0) }
        )
        changeCount = table.counts.count + table.voters.count + table.channels.count
        self.table = table
        self.database = database
    }

    /// Writes one slice: at most so many posts, voters and channels, and no more once their rows have
    /// so many bytes or `isDue` says so, but one in any case; returns whether it was the last.
    ///
    /// Durable on return. O(log n) for each.
    package func step(
        changes limit: Int = .max,
        bytes byteLimit: Int = .max,
        until isDue: () -> Bool = { false }
    ) throws(StateError) -> Bool {
        guard !isDone else { return true }
        while !cursor.isReady {
            cursor.sortRun()
            if isDue() { return false }
        }
        let before = cursor
        let meta = database.meta
        do {
            isDone = try database.writeSlice { (writer) throws(StateError) in
                var left = limit
                var isLast = false
                repeat {
                    isLast = try !writeNext(writer)
                    left -= 1
                } while !isLast && left > 0 && writer.byteCount < byteLimit && !isDue()
                try writer.flushChunk()
                return (isLast, moved(meta, isLast: isLast))
            }
        } catch {
            cursor = before
            throw error
        }
        return isDone
    }

    /// Writes the next change; false when there is none.
    private func writeNext(_ writer: FoldWriter) throws(StateError) -> Bool {
        // Whatever is referred to comes first, so that what is on the disk can always be loaded.
        if cursor.feedIsDue {
            cursor.feedIsDue = false
            for (feed, policy) in table.feeds {
                try databaseErrors { () throws(SQLiteError) in try writer.write(feed, policy) }
            }
        }
        if let number = cursor.voters.next() {
            let voter = VoterID(rawValue: UInt32(number))
            guard let device = table.voters[voter] else { return true }
            try databaseErrors { () throws(SQLiteError) in try writer.write(voter, device) }
        } else if let id = cursor.posts.next() {
            try writer.write(id, of: table)
        } else if let number = cursor.channels.next() {
            guard let place = channelPlaces[number] else { return true }
            try writer.write(table.channels[place])
        } else {
            return false
        }
        cursor.writtenCount += 1
        return true
    }

    /// What the file knows of itself after a slice.
    private func moved(_ old: StateMeta, isLast: Bool) -> StateMeta {
        var meta = old
        // A fold that was cut off may have reached further than this one does.
        if target.sequence > meta.folding.sequence { meta.folding = target }
        guard isLast else { return meta }
        meta.folded = target
        meta.highestID = max(meta.highestID, table.highestID)
        meta.highestRevision = max(meta.highestRevision, table.highestRevision)
        meta.nextChannel = max(meta.nextChannel, table.nextChannel)
        return meta
    }
}

@available(*, unavailable)
extension Fold: Sendable {}
