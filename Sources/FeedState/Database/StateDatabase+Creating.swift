package import FeedJournal
import FeedRanking
import FeedSQLite

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
