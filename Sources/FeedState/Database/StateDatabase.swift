internal import FeedConcurrency
package import FeedJournal
package import FeedLog
package import FeedRanking
package import FeedSQLite

/// The durable state of the service: `state.db` in a data directory, and the one connection to it.
///
/// It is a checkpoint of the journal: ``Checkpoint`` writes a ``Memtable`` into it, and
/// ``load(into:accounts:channels:progress:)`` puts it back into a store. One thread uses it at a time. The
/// process that opens it holds the data directory's lock, which keeps other processes out.
package final class StateDatabase {
    package static let fileName = "state.db"

    /// What it knows of itself, as it is on the disk.
    package internal(set) var meta: StateMeta
    /// What the file knows of the other files beside it; nil where the directory has not begun.
    package internal(set) var directoryRow: DirectoryRow?
    /// The highest account number that was skipped; 0 where none was.
    package private(set) var skippedAccountID: UInt64
    package let connection: Database
    /// The data directory, where the connection finds it and where its files are renamed.
    let directory: String
    let files: any JournalFiles
    /// SQLite's virtual file system that has the directory; nil is the system's own.
    let vfs: String?
    /// The totals of each table, as they are on the disk, by ``StateTable``'s raw value.
    var totals: [TableTotals]
    /// How long the commit of the last checkpoint step took, its sync included.
    var lastCommitTime = Duration.zero
    private var preparedStatements: RowStatements?
    /// The pages of SQLite's log after which a log checkpoint is due again once ``thaw()`` is
    /// called; nil while the file is not frozen.
    private var thawedCheckpointInterval: Int?
    /// The last record that is in the file while it is frozen; else nil.
    package private(set) var frozenRecord: UInt64?
    /// The file as copies read it, once there was one: closing it would drop SQLite's locks, so it
    /// stays open as long as the connection.
    private var copySource: (any JournalFile)?

    deinit {
        // The statements keep the connection open, and the directory's lock must not end before it:
        // the next process that takes the lock opens the same file.
        preparedStatements = nil
    }

    /// Opens the state of a data directory, which SQLite finds under a path, in a virtual file system of its
    /// or in the system's own.
    ///
    /// A file of an older format is copied to `state.db.format-<n>` and then changed.
    package convenience init(
        directory: String,
        files: any JournalFiles,
        vfs: String? = nil,
        migrations: [StateMigration] = StateMigration.all
    ) throws(StorageError) {
        try self.init(directory, files, vfs: vfs, name: Self.fileName, mode: .existing, migrations)
    }

    /// Opens the state of a data directory to look at it: no file is changed.
    package static func look(
        directory: String,
        files: any JournalFiles,
        vfs: String? = nil
    ) throws(StorageError) -> StateDatabase {
        let mode: Database.Mode = try hasLog(fileName, files) ? .keepingLog : .immutable
        return try StateDatabase(directory, files, vfs: vfs, name: fileName, mode: mode)
    }

    /// Opens a file that may have another name, as one that is being made.
    init(
        _ directory: String,
        _ files: any JournalFiles,
        vfs: String? = nil,
        name: String,
        mode: Database.Mode = .existing,
        _ migrations: [StateMigration] = StateMigration.all
    ) throws(StorageError) {
        let path = "\(directory)/\(name)"
        try Self.checkFile(name, path, files)
        let connection = try Database(path: path, mode: mode, vfs: vfs)
        // What a row had is gone with it: a deleted account leaves no texts in free pages.
        try connection.execute("PRAGMA secure_delete=ON")
        let known = migrations.last.map { $0.format + 1 } ?? StateSchema.format
        try StateSchema.checkTables(["meta"], of: connection, name)
        let format = try StateSchema.format(of: connection)
        guard format <= known else {
            try Self.checkPages(of: connection)
            throw .newerFormat(file: name, format: format, known: known)
        }
        try StateSchema.checkTables(StateSchema.tables(of: format), of: connection, name)
        var meta = try StateMeta.read(connection, format: format)
        // An older format is read as it is where nothing may be changed.
        let isMigrated = format < known && mode == .existing
        if isMigrated {
            try StateMigration.run(
                migrations,
                on: connection,
                from: format,
                meta,
                // What a file that is being made was made of is still there.
                copyingIn: name == Self.fileName ? files : nil
            )
            meta = try StateMeta.read(connection, format: known)
        }
        directoryRow = try DirectoryRow.read(connection, instanceID: meta.instanceID)
        skippedAccountID = try AccountNumbers.read(connection).skipped
        self.directory = directory
        self.files = files
        self.vfs = vfs
        self.connection = connection
        self.format = isMigrated ? known : format
        self.meta = meta
        totals = try TableTotals.readAll(connection, format: self.format)
    }

    /// The format of the file, which its meta's checksum covers.
    package let format: Int64

    /// Makes the file that of a cluster, whose records begin behind one of this directory's, durably and
    /// in one step.
    func beginCluster(after position: JournalPosition) throws(StorageError) {
        try update { $0.chain = RecordChain(after: position) }
    }

    /// Changes what the file knows of itself, of the other files, and the highest account number that was
    /// skipped, in one step, durably; where it fails, nothing has changed.
    package func update(
        _ record: DirectoryRow? = nil,
        skippedAccountID: UInt64? = nil,
        _ change: (inout StateMeta) -> Void = { _ in }
    ) throws(StorageError) {
        var changed = meta
        change(&changed)
        let skipped = skippedAccountID ?? self.skippedAccountID
        try writeTotals(totals) { () throws(StorageError) in
            if changed != meta { try changed.write(connection, format: format) }
            try record?.write(connection, instanceID: changed.instanceID)
            if skipped != self.skippedAccountID {
                var numbers = AccountNumbers(skipped: skipped)
                try numbers.write(connection)
            }
        }
        meta = changed
        if let record { directoryRow = record }
        self.skippedAccountID = skipped
    }

    private func writeTotals(
        _ totals: [TableTotals],
        with others: () throws(StorageError) -> Void
    ) throws(StorageError) {
        try connection.transaction { () throws(StorageError) in
            try others()
            try TableTotals.rewrite(totals, connection)
        }
    }

    /// Refuses a copy that was made in the middle of a checkpoint, and has no journal that would mend it.
    func checkIsOfOneMoment() throws(StorageError) {
        guard meta.isCheckpointing else { return }
        throw .unfinishedCheckpoint(file: Self.fileName, record: meta.checkpointing.number)
    }

    func rowStatements() throws(StorageError) -> RowStatements {
        if let preparedStatements { return preparedStatements }
        let prepared = try RowStatements(connection)
        preparedStatements = prepared
        return prepared
    }

    package var rowCount: UInt64 { totals.rowCount }

    private static let magic = Array("SQLite format 3\0".utf8)

    /// Refuses a file that is not there, or no database: SQLite takes an empty one for a new one.
    private static func checkFile(
        _ name: String,
        _ path: String,
        _ files: any JournalFiles
    ) throws(StorageError) {
        let begin = try files.begin(of: name, byteCount: magic.count + 4)
        guard let begin else { throw .missingFile(path: path) }
        guard !begin.isEmpty else { throw .notAState(file: name, reason: "the file is empty") }
        // The two versions are those of a write-ahead log: with another one SQLite only reads.
        guard begin.prefix(16).elementsEqual(magic),
            begin.dropFirst(18).allSatisfy({ (1...2).contains($0) })
        else {
            throw .notAState(file: name, reason: "it does not begin as an SQLite database does")
        }
    }

    /// Whether SQLite's log of a file has anything that is not in the file.
    static func hasLog(_ name: String, _ files: any JournalFiles) throws(StorageError) -> Bool {
        guard let log = try files.open("\(name)-wal") else { return false }
        return try log.byteCount() > 0
    }
}

extension StateDatabase {
    /// The name under which a file is made; it is renamed once it is whole.
    static let newFileName = "state.db.new"

    /// Makes the state of a new data directory, with the feeds that every store has, and opens it.
    ///
    /// After a crash there is a whole file or none. What an earlier attempt left is made anew.
    package static func create(
        directory: String,
        files: any JournalFiles,
        vfs: String? = nil,
        meta: StateMeta = .random()
    ) throws(StorageError) -> StateDatabase {
        let names = try files.names(in: ".")
        guard !names.contains(fileName) else {
            throw .notEmpty(directory: directory, name: fileName)
        }
        try writeNewFile(directory, files, vfs: vfs, meta)
        try publishNewFile(files)
        return try StateDatabase(directory: directory, files: files, vfs: vfs)
    }

    /// Makes the file of a new state, which has no name of its own yet, and closes it.
    static func writeNewFile(
        _ directory: String,
        _ files: any JournalFiles,
        vfs: String?,
        _ meta: StateMeta
    ) throws(StorageError) {
        try removeNewFile(files)
        // SQLite would let everybody read it, and its log has the same rights.
        _ = try files.create(newFileName)
        try write(meta, to: Database(path: "\(directory)/\(newFileName)", vfs: vfs))
    }

    static func removeNewFile(_ files: any JournalFiles) throws(StorageError) {
        for suffix in ["", "-wal", "-shm", "-journal"] {
            try files.remove(newFileName + suffix)
        }
    }

    /// Gives a file that is whole and closed its name.
    static func publishNewFile(_ files: any JournalFiles) throws(StorageError) {
        try files.open(newFileName)?.sync()
        try files.rename(newFileName, to: fileName)
        try files.syncDirectory(".")
    }

    private static func write(_ meta: StateMeta, to database: Database) throws(StorageError) {
        try database.transaction { () throws(StorageError) in
            for statement in StateSchema.statements { try database.execute(statement) }
            var totals = [TableTotals](repeating: TableTotals(), count: StateTable.allCases.count)
            func write<Row: StateRow>(_ row: Row) throws(StorageError) {
                var row = row
                let upsert = try database.prepare(TableDescription(Row.self).upsert)
                let (sum, _) = try row.write(by: upsert, RowBuffer())
                totals[Row.table.rawValue].replace(nil, by: sum)
            }
            for (number, policy) in [FeedPolicy.posts, .tweets].enumerated() {
                try write(FeedRow(id: FeedID(rawValue: UInt32(number)), policy: policy))
            }
            // All deletions of a new state are kept.
            try write(DeletionRow(floor: 0))
            try TableTotals.write(totals, over: nil, database)
            try meta.write(database, format: StateSchema.format)
            try DirectoryRow.createTable(database)
        }
        try database.checkpointLog()
    }
}

extension StateDatabase {
    /// Whether the file stays as it is: checkpoints go into SQLite's log alone.
    package var isFrozen: Bool { thawedCheckpointInterval != nil }

    /// The bytes of SQLite's log, which holds what was written since the file was frozen.
    package var logByteCount: Int {
        get throws(StorageError) {
            try connection.logByteCount()
        }
    }

    /// Runs a log checkpoint, and leaves the file as it is until ``thaw()``; gives the file to copy from,
    /// on any thread.
    ///
    /// To be called between two checkpoints: in the middle of one, posts are of different moments, and a
    /// copy has no journal that would mend it.
    package func freeze() throws(StorageError) -> (source: any JournalFile, byteCount: Int) {
        precondition(
            !isFrozen && !meta.isCheckpointing,
            "A file is frozen once, between two checkpoints."
        )
        let interval = try connection.checkpointInterval()
        try connection.setCheckpointInterval(0)
        thawedCheckpointInterval = interval
        try connection.checkpointLog()
        let source = try openCopySource()
        let byteCount = try source.byteCount()
        frozenRecord = meta.checkpointed.number
        return (source, byteCount)
    }

    private func openCopySource() throws(StorageError) -> any JournalFile {
        if let copySource { return copySource }
        let opened = try files.open(Self.fileName)
        guard let opened else { throw .missingFile(path: "\(directory)/\(Self.fileName)") }
        copySource = opened
        return opened
    }

    /// Lets SQLite move its log into the file again, and has it do so; nothing where the file is not frozen.
    ///
    /// Where the disk is full the log stays, and SQLite tries again with a later transaction.
    package func thaw() throws(StorageError) {
        guard let interval = thawedCheckpointInterval else { return }
        thawedCheckpointInterval = nil
        frozenRecord = nil
        do {
            try connection.setCheckpointInterval(interval)
            try connection.checkpointLog()
        } catch {
            guard error.isOutOfSpace else { throw error }
        }
    }

    /// Moves SQLite's log into the file and empties it, so that it keeps nothing of earlier rows; where
    /// the file is frozen, ``thaw()`` does so.
    func emptyLog() throws(StorageError) {
        guard !isFrozen else { return }
        do {
            try connection.checkpointLog()
        } catch {
            guard error.isOutOfSpace else { throw error }
        }
    }
}

extension StateDatabase {
    /// Ends all sessions of all users, durably.
    ///
    /// A copy does not know which of its sessions have ended since: a user who has signed out may have done
    /// so because the token was stolen.
    func endAllSessions() throws(StorageError) {
        var changed = totals
        changed[StateTable.sessions.rawValue] = TableTotals()
        try writeTotals(changed) { () throws(StorageError) in
            try connection.execute("DELETE FROM sessions")
        }
        totals = changed
    }
}

extension StateDatabase {
    /// Puts the whole state into a store that holds nothing yet, and into `accounts`; calls `channels` with
    /// each channel and the outcomes of its latest calls, in the order of sequences; O(rows).
    ///
    /// Every row is checked, and that none is missing. Where something is wrong, what was loaded is of no
    /// use.
    package func load(
        into store: FeedStore,
        accounts: AccountsRecovery = AccountsRecovery(),
        channels: (ChannelState, [ChannelOutcome]) -> Void,
        progress: (_ rowCount: UInt64, _ totalRowCount: UInt64) -> Void = { _, _ in }
    ) throws(StorageError) {
        try visit(
            { (entry) throws(StorageError) in
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
    private func deletionsFloor() throws(StorageError) -> UInt64? {
        guard format >= 2 else { return nil }
        let row = try connection.prepare(DeletionRow.floor)
        return try row.step() ? row.uint64(0) : nil
    }

    /// Reads and checks everything, SQLite's own pages too, without keeping it; O(rows).
    package func verify() throws(StorageError) {
        try checkPages()
        // A store finds what no checksum can: a post in a feed that is not there.
        try load(into: FeedStore(stripeCount: 1) { 0 }, channels: { _, _ in })
    }

    /// Reads and checks every row, and that none is missing, without a store; throws `stopped` where
    /// `continues` says false; O(rows).
    func checkRows(while continues: () -> Bool) throws(StorageError) {
        var isEnded = false
        func checkIsWanted() throws(StorageError) {
            if isEnded { throw .stateStopped(reason: "The check was ended.") }
        }
        try visit(
            { (_) throws(StorageError) in try checkIsWanted() },
            { _, _ in },
            { _, _ in isEnded = !continues() }
        )
        try checkIsWanted()
    }

    /// Checks the pages on a thread of its own, with a connection of its own, while `body` loads the rows.
    ///
    /// A million posts of 120 bytes take 0.7 s of a processor, a third of what their load takes. What
    /// `body` throws comes first, as it names a row.
    func checkingPages(_ body: () throws(StorageError) -> Void) throws(StorageError) {
        // A test's disk takes one thread at a time.
        guard vfs == nil else {
            try checkPages()
            return try body()
        }
        // The other connection reads the file alone.
        try connection.checkpointLog()
        let path = connection.path
        try ReadAhead<Void, StorageError>.run("feed-pages", refused: StorageError.thread) {
            (ahead) throws(StorageError) in
            // One batch, at which the rows are loaded.
            _ = ahead.send(())
            let reader = try Database(path: path, mode: .immutable)
            try Self.checkPages(of: reader)
        } applying: { (_) throws(StorageError) in
            try body()
        }
    }

    func checkPages() throws(StorageError) { try Self.checkPages(of: connection) }

    static func checkPages(of connection: Database) throws(StorageError) {
        let problems = try connection.pageProblems(limit: 1)
        guard let problem = problems.first else { return }
        // "*** in database main ***" is a line of its own.
        let reason = problem.split(whereSeparator: \.isNewline).last.map(String.init) ?? problem
        throw .damagedRow(table: "sqlite_schema", key: "the file's pages", reason: reason)
    }

    /// Reads and checks everything, in an order in which nothing comes before what it refers to.
    ///
    /// A thread of its own reads the rows ahead; all that is given is called on this one. O(rows).
    package func visit(
        _ body: (LogEntry) throws(StorageError) -> Void,
        _ channels: (ChannelState, [ChannelOutcome]) -> Void,
        _ progress: (_ rowCount: UInt64, _ totalRowCount: UInt64) -> Void
    ) throws(StorageError) {
        var found = [TableTotals](repeating: TableTotals(), count: totals.count)
        var sinceProgress = 0
        let (transferred, expected, format) = (Transferred(connection), totals, format)
        try ReadAhead<LoadedRows, StorageError>.run("feed-load", refused: StorageError.thread) {
            (ahead) throws(StorageError) in
            var loader = StateLoader(transferred.value, expected, format: format, send: ahead.send)
            try loader.loadAll()
        } applying: { (rows) throws(StorageError) in
            for entry in rows.entries { try body(entry) }
            found = rows.found
            sinceProgress += rows.entries.count
            guard sinceProgress >= Self.entriesPerProgress else { return }
            sinceProgress = 0
            progress(found.rowCount, rowCount)
        }
        // The thread has ended: the rest is read here.
        var channelLoader = StateLoader(connection, totals, format: format, found: found)
        try channelLoader.loadChannels(channels)
        try channelLoader.checkTotals()
        try body(.counters(lastID: meta.highestID, revision: meta.highestRevision))
        progress(rowCount, rowCount)
    }

    private static var entriesPerProgress: Int { 16_384 }
}

extension String {
    fileprivate func trimmingSuffix(_ suffix: String) -> String {
        hasSuffix(suffix) ? String(dropLast(suffix.count)) : self
    }
}
