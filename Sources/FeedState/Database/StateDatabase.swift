package import FeedJournal
import FeedRanking
package import FeedSQLite

/// The durable state of the service: `state.db` in a data directory, and the one connection to it.
///
/// It is a checkpoint of the journal: ``Checkpoint`` writes a ``Memtable`` into it, and
/// ``load(into:channels:progress:)`` puts it back into a store. One thread uses it at a time. The
/// process that opens it holds the data directory's lock, which keeps other processes out.
package final class StateDatabase {
    /// The file's name in the data directory.
    package static let fileName = "state.db"

    /// What it knows of itself, as it is on the disk.
    package internal(set) var meta: StateMeta

    /// What the file knows of the other files beside it; nil where the directory has not begun.
    package internal(set) var directoryRow: DirectoryRow?

    /// The highest account number that was skipped; 0 where none was.
    package private(set) var skippedAccountID: UInt64

    /// The one connection to the file.
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

    /// Prepared by the first checkpoint and kept for the next ones.
    private var preparedStatements: RowStatements?

    /// The pages of SQLite's log after which a log checkpoint is due again once ``thaw()`` is
    /// called; nil while the file is not frozen.
    var thawedCheckpointInterval: Int?

    /// The file as copies read it, once there was one: closing it would drop SQLite's locks, so it
    /// stays open as long as the connection.
    var copySource: (any JournalFile)?

    deinit {
        // The statements keep the connection open, and the directory's lock must not end before it:
        // the next process that takes the lock opens the same file.
        preparedStatements = nil
    }

    /// Opens the state of a data directory.
    ///
    /// A file of an older format is copied to `state.db.format-<n>` and then changed.
    /// - Parameters:
    ///   - directory: The path under which SQLite finds the data directory.
    ///   - files: The same directory.
    ///   - vfs: SQLite's virtual file system that has it; nil is the system's own.
    ///   - migrations: What leads from each older format to the next.
    /// - Throws: `missingFile`, `newerFormat`, `damaged`, or what SQLite says.
    package convenience init(
        directory: String,
        files: any JournalFiles,
        vfs: String? = nil,
        migrations: [StateMigration] = StateMigration.all
    ) throws(StateError) {
        try self.init(directory, files, vfs: vfs, name: Self.fileName, mode: .existing, migrations)
    }

    /// Opens the state of a data directory to look at it: no file is changed.
    package static func look(
        directory: String,
        files: any JournalFiles,
        vfs: String? = nil
    ) throws(StateError) -> StateDatabase {
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
    ) throws(StateError) {
        let path = "\(directory)/\(name)"
        try Self.checkFile(name, path, files)
        let connection = try databaseErrors { () throws(SQLiteError) in
            try Database(path: path, mode: mode, vfs: vfs)
        }
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
            try StateMigration.run(migrations, on: connection, format: format, meta, files)
            meta = try StateMeta.read(connection, format: known)
        }
        directoryRow = try DirectoryRow.read(connection, instanceID: meta.instanceID)
        skippedAccountID = try AccountNumbers.read(connection)
        self.directory = directory
        self.files = files
        self.vfs = vfs
        self.connection = connection
        self.format = isMigrated ? known : format
        self.meta = meta
        totals = try TableTotals.readAll(connection, format: self.format)
    }

    /// The format of the file, which its meta's checksum covers.
    let format: Int64

    /// Changes what the file knows of itself, durably; where it fails, nothing has changed.
    ///
    /// - Parameters:
    ///   - skippedAccountID: The highest account number that was skipped; nil where it stays.
    ///   - change: The change.
    /// - Throws: What SQLite says.
    package func updateMeta(
        skippedAccountID: UInt64? = nil,
        _ change: (inout StateMeta) -> Void
    ) throws(StateError) {
        let skipped = skippedAccountID ?? self.skippedAccountID
        var changed = meta
        change(&changed)
        try databaseErrors { () throws(SQLiteError) in
            try connection.transaction { () throws(SQLiteError) in
                try changed.write(connection, format: format)
                if skipped != self.skippedAccountID {
                    try AccountNumbers.write(skipped, connection)
                }
                try TableTotals.rewrite(totals, connection)
            }
        }
        meta = changed
        self.skippedAccountID = skipped
    }

    /// Changes what the file knows of itself and of the other files, in one step, durably.
    package func update(
        _ record: DirectoryRow,
        _ change: (inout StateMeta) -> Void = { _ in }
    ) throws(StateError) {
        var changed = meta
        change(&changed)
        try databaseErrors { () throws(SQLiteError) in
            try connection.transaction { () throws(SQLiteError) in
                if changed != meta { try changed.write(connection, format: format) }
                try record.write(connection, instanceID: changed.instanceID)
                try TableTotals.rewrite(totals, connection)
            }
        }
        meta = changed
        directoryRow = record
    }

    /// The statements that write rows.
    func rowStatements() throws(StateError) -> RowStatements {
        if let preparedStatements { return preparedStatements }
        let prepared = try databaseErrors { () throws(SQLiteError) in
            try RowStatements(connection)
        }
        preparedStatements = prepared
        return prepared
    }

    /// How many rows the tables of the state have.
    package var rowCount: UInt64 { totals.rowCount }
}

extension StateDatabase {
    /// What every SQLite database begins with.
    private static let magic = Array("SQLite format 3\0".utf8)

    /// Refuses a file that is not there, or no database: SQLite takes an empty one for a new one.
    static func checkFile(
        _ name: String,
        _ path: String,
        _ files: any JournalFiles
    ) throws(StateError) {
        let begin = try fileErrors { () throws(FileError) -> [UInt8]? in
            try files.begin(of: name, byteCount: magic.count + 4)
        }
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
    static func hasLog(_ name: String, _ files: any JournalFiles) throws(StateError) -> Bool {
        try fileErrors { () throws(FileError) in
            guard let log = try files.open("\(name)-wal") else { return false }
            return try log.byteCount() > 0
        }
    }
}

@available(*, unavailable)
extension StateDatabase: Sendable {}

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
    ) throws(StateError) -> StateDatabase {
        let names = try fileErrors { () throws(FileError) in try files.names(in: ".") }
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
    ) throws(StateError) {
        try removeNewFile(files)
        // SQLite would let everybody read it, and its log has the same rights.
        _ = try fileErrors { () throws(FileError) in try files.create(newFileName) }
        try databaseErrors { () throws(SQLiteError) in
            try write(meta, to: Database(path: "\(directory)/\(newFileName)", vfs: vfs))
        }
    }

    /// Removes what an attempt to make a file has left.
    static func removeNewFile(_ files: any JournalFiles) throws(StateError) {
        try fileErrors { () throws(FileError) in
            for suffix in ["", "-wal", "-shm", "-journal"] {
                try files.remove(newFileName + suffix)
            }
        }
    }

    /// Gives a file that is whole and closed its name.
    static func publishNewFile(_ files: any JournalFiles) throws(StateError) {
        try fileErrors { () throws(FileError) in
            try files.open(newFileName)?.sync()
            try files.rename(newFileName, to: fileName)
            try files.syncDirectory(".")
        }
    }

    private static func write(
        _ meta: StateMeta,
        to database: Database
    ) throws(SQLiteError) {
        try database.transaction { () throws(SQLiteError) in
            for statement in StateSchema.statements { try database.execute(statement) }
            var totals = [TableTotals](repeating: TableTotals(), count: StateTable.allCases.count)
            let feed = try database.prepare(FeedRow.upsert)
            for (number, policy) in [FeedPolicy.posts, .tweets].enumerated() {
                let id = FeedID(rawValue: UInt32(number))
                let sum = try FeedRow.write(id, policy, with: feed)
                totals[StateTable.feeds.rawValue].replace(nil, by: sum)
            }
            // All deletions of a new state are kept.
            let deletion = try database.prepare(DeletionRow.upsert)
            let floor = try DeletionRow.write(.floor, 0, post: 0, at: 0, with: deletion)
            totals[StateTable.deletions.rawValue].replace(nil, by: floor)
            try TableTotals.write(totals, over: nil, database)
            try meta.write(database, format: StateSchema.format)
            try DirectoryRow.createTable(database)
        }
        try database.checkpointLog()
    }
}
