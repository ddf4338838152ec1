internal import FeedJournal
internal import FeedSQLite

// A start on a full disk.
extension StateDirectory {
    /// Calls `body`; where the disk is full, gives up what only keeps room and calls it once more.
    ///
    /// - Parameters:
    ///   - journal: The journal once it is open: it knows of what it has given up.
    ///   - body: What needs room.
    /// - Returns: What `body` returns.
    /// - Throws: `full` where even that does not suffice, or what `body` throws.
    func withRoom<Result>(
        _ journal: SegmentJournal? = nil,
        _ body: () throws(StateStartError) -> Result
    ) throws(StateStartError) -> Result {
        do throws(StateStartError) {
            return try body()
        } catch {
            guard error.isOutOfSpace else { throw error }
        }
        try journalErrors { () throws(JournalError) in
            if let journal {
                try journal.giveUpReserves()
            } else {
                try SegmentJournal.removeReserves(files)
            }
        }
        do throws(StateStartError) {
            return try body()
        } catch {
            throw error.isOutOfSpace ? full() : error
        }
    }

    /// The disk is full: with the bytes that a start takes at most, and those that are free.
    func full() -> StateStartError {
        // SQLite's log goes into the file, and the journal may need a segment; an accepted loss may
        // take a copy of another one in quarantine.
        let log = try? files.open("\(StateDatabase.fileName)-wal")?.byteCount()
        let segments = options.acceptedLoss == nil ? 1 : 2
        let needed = (log ?? 0) + segments * options.journal.segmentByteCount + (1 << 20)
        return .full(neededByteCount: needed, freeByteCount: (try? files.freeByteCount()) ?? 0)
    }
}
