internal import FeedConcurrency
package import FeedLog
package import FeedRanking
import FeedSQLite

/// How far the loading of `state.db` has come.
package struct LoadProgress: Equatable, Sendable {
    /// The rows read so far.
    package var rowCount: UInt64

    /// All rows that there are to read.
    package var totalRowCount: UInt64

    /// So many of so many.
    package init(rowCount: UInt64, totalRowCount: UInt64) {
        self.rowCount = rowCount
        self.totalRowCount = totalRowCount
    }
}

extension StateDatabase {
    /// Puts the whole state into a store that holds nothing yet; O(rows).
    ///
    /// Every row is checked, and that none is missing. Where something is wrong, what was loaded
    /// is of no use.
    /// - Parameters:
    ///   - store: Where all but accounts, sessions and channels go.
    ///   - accounts: Where accounts and sessions go.
    ///   - channels: Called with each channel and the outcomes of its latest calls, in the order of
    ///     sequences.
    ///   - progress: Called now and then, and at the end.
    /// - Throws: `damaged` with the row, or what SQLite says.
    package func load(
        into store: FeedStore,
        accounts: AccountsRecovery = AccountsRecovery(),
        channels: (ChannelState, [ChannelOutcome]) -> Void,
        progress: (LoadProgress) -> Void = { _ in }
    ) throws(StateError) {
        try visit(
            { (entry) throws(StateError) in
                accounts.apply(entry)
                do throws(RecoveryError) {
                    try store.apply(entry)
                } catch {
                    // "Post 7 cannot be in feed 9." becomes a part of another sentence.
                    throw entry.damagedRow("\(error)".trimmingSuffix("."))
                }
            },
            channels,
            progress
        )
        if let floor = try deletionsFloor() { store.restore(deletionsKnownSince: floor) }
    }

    /// The revision up to which deletions are not kept; nil where none has been kept yet.
    private func deletionsFloor() throws(StateError) -> UInt64? {
        guard format >= 2 else { return nil }
        return try databaseErrors { () throws(SQLiteError) in
            let row = try connection.prepare(DeletionRow.floor)
            return try row.step() ? row.uint64(0) : nil
        }
    }

    /// Reads and checks everything, SQLite's own pages too, without keeping it; O(rows).
    package func verify(
        progress: (LoadProgress) -> Void = { _ in }
    ) throws(StateError) {
        try checkPages()
        // A store finds what no checksum can: a post in a feed that is not there.
        try load(into: FeedStore(stripeCount: 1) { 0 }, channels: { _, _ in }, progress: progress)
    }

    /// Reads and checks every row, and that none is missing, without a store; O(rows).
    ///
    /// - Parameter continues: Called now and then; false ends the check.
    /// - Throws: `damaged` with the row, `stopped` where the check was ended, or what SQLite says.
    func checkRows(while continues: () -> Bool) throws(StateError) {
        var isEnded = false
        func checkIsWanted() throws(StateError) {
            if isEnded { throw .stopped(reason: "The check was ended.") }
        }
        try visit(
            { (_) throws(StateError) in try checkIsWanted() },
            { _, _ in },
            { _ in isEnded = !continues() }
        )
        try checkIsWanted()
    }

    /// Checks the pages on a thread of its own, with a connection of its own, while `body` loads the rows.
    ///
    /// A million posts of 120 bytes take 0.7 s of a processor, a third of what their load takes. What
    /// `body` throws comes first, as it names a row.
    func checkingPages(_ body: () throws(StateError) -> Void) throws(StateError) {
        // A test's disk takes one thread at a time.
        guard vfs == nil else {
            try checkPages()
            return try body()
        }
        // The other connection reads the file alone.
        try databaseErrors { () throws(SQLiteError) in try connection.checkpointLog() }
        let path = connection.path
        try ReadAhead<Void, StateError>.run("feed-pages", refused: StateError.thread) {
            (ahead) throws(StateError) in
            // One batch, at which the rows are loaded.
            _ = ahead.send(())
            let reader = try databaseErrors { () throws(SQLiteError) in
                try Database(path: path, mode: .immutable)
            }
            try Self.checkPages(of: reader)
        } applying: { (_) throws(StateError) in
            try body()
        }
    }

    /// Has SQLite check its own pages; O(pages).
    func checkPages() throws(StateError) { try Self.checkPages(of: connection) }

    /// The same of a connection.
    static func checkPages(of connection: Database) throws(StateError) {
        let problems = try databaseErrors { () throws(SQLiteError) in
            try connection.pageProblems(limit: 1)
        }
        guard let problem = problems.first else { return }
        // "*** in database main ***" is a line of its own.
        let reason = problem.split(whereSeparator: \.isNewline).last.map(String.init) ?? problem
        throw .damaged(table: "sqlite_schema", key: "the file's pages", reason: reason)
    }

    /// Reads and checks everything, in an order in which nothing comes before what it refers to.
    ///
    /// A thread of its own reads the rows ahead; all that is given is called on this one. O(rows).
    package func visit(
        _ body: (LogEntry) throws(StateError) -> Void,
        _ channels: (ChannelState, [ChannelOutcome]) -> Void,
        _ progress: (LoadProgress) -> Void
    ) throws(StateError) {
        var found = [TableTotals](repeating: TableTotals(), count: totals.count)
        var sinceProgress = 0
        let (transferred, expected, format) = (Transferred(connection), totals, format)
        try ReadAhead<LoadedRows, StateError>.run("feed-load", refused: StateError.thread) {
            (ahead) throws(StateError) in
            var loader = StateLoader(
                transferred.value,
                expected,
                format: format,
                send: ahead.send
            )
            try loader.readAll()
        } applying: { (rows) throws(StateError) in
            for entry in rows.entries { try body(entry) }
            found = rows.found
            sinceProgress += rows.entries.count
            guard sinceProgress >= Self.entriesPerProgress else { return }
            sinceProgress = 0
            progress(LoadProgress(rowCount: found.rowCount, totalRowCount: rowCount))
        }
        // The thread has ended: the rest is read here.
        var channelLoader = StateLoader(connection, totals, format: format, found: found)
        try channelLoader.channels(channels)
        try channelLoader.checkTotals()
        try body(.counters(lastID: meta.highestID, revision: meta.highestRevision))
        progress(LoadProgress(rowCount: rowCount, totalRowCount: rowCount))
    }

    /// How many log entries are given between two reports of progress.
    private static var entriesPerProgress: Int { 16_384 }
}

extension String {
    fileprivate func trimmingSuffix(_ suffix: String) -> String {
        hasSuffix(suffix) ? String(dropLast(suffix.count)) : self
    }
}
