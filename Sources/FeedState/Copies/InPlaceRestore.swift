package import FeedJournal
internal import FeedSQLite
internal import Foundation

/// A backup that was put in the place of a `state.db` that is missing or damaged.
///
/// The journal beside it continues the backup, so nothing is lost with the old file, and the instance
/// stays.
package struct InPlaceRestore: Equatable, Sendable {
    /// The last record that is in the backup.
    package let checkpointed: UInt64
    /// The last whole record of the journal, which the next start replays.
    package let last: UInt64
    /// What is wrong with the journal after that; the next start refuses it, and says what is lost.
    package let problem: JournalError?
    /// The files that were there before, as they are named in `quarantine/` now.
    package let kept: [String]

    /// Puts a backup in the place of a directory's `state.db`.
    ///
    /// - Parameters:
    ///   - backup: The directory in which the backup is, of which nothing is changed; or the directory's own
    ///     journal, where that has all of the state.
    ///   - directory: The data directory, which no service uses.
    /// - Returns: What was done.
    /// - Throws: Why the directory is as it was; or, where it was interrupted, marked as such: then
    ///   no start serves it, and the same call finishes it.
    package static func run(
        backup: String,
        directory: String
    ) throws(RestoreError) -> InPlaceRestore {
        let isJournal = WholeJournal.isPath(backup, in: directory)
        let source = isJournal ? nil : try BackupRestore.open(backup)
        try refuse(isJournal ? nil : backup, directory)
        let files: POSIXFiles
        do {
            files = try POSIXFiles(path: directory)
        } catch {
            throw .state(.directory(error))
        }
        return try run(source, of: backup, in: directory, files)
    }

    /// Throws where it is known already that nothing can be done; changes nothing.
    private static func refuse(_ backup: String?, _ directory: String) throws(RestoreError) {
        let database = try backup.map { (path) throws(RestoreError) in
            try restoreErrors { () throws(StateError) in try BackupVerification.open(path: path) }
        }
        let files: POSIXFiles
        do {
            files = try POSIXFiles(path: directory, for: .look)
        } catch {
            throw .state(.directory(error))
        }
        guard let backup, let database else {
            _ = try WholeJournal.check(directory, files)
            return
        }
        _ = try continuation(of: database, backup, directory, files)
    }

    private static func continuation(
        of database: StateDatabase,
        _ backup: String,
        _ directory: String,
        _ files: any JournalFiles,
        vfs: String? = nil
    ) throws(RestoreError) -> JournalContinuation {
        do {
            return try JournalContinuation(of: database, directory, files, vfs: vfs)
        } catch {
            throw .notContinued(
                backup: backup,
                checkpointed: database.meta.checkpointed.number,
                problem: error
            )
        }
    }

    /// The same of a file, in a directory that is locked.
    ///
    /// - Parameters:
    ///   - source: The `state.db` of the backup; nil where the directory's own journal has all.
    ///   - backup: The path of the backup, noted for the case that the restore is interrupted.
    ///   - directory: The path under which SQLite finds the directory.
    ///   - files: The same directory.
    ///   - vfs: SQLite's virtual file system that has it; nil is the system's own.
    /// - Returns: What was done.
    /// - Throws: As above.
    package static func run(
        _ source: (any JournalFile)?,
        of backup: String,
        in directory: String,
        _ files: any JournalFiles,
        vfs: String? = nil
    ) throws(RestoreError) -> InPlaceRestore {
        let byteCount = try restoreErrors { () throws(StateError) in
            // What a run that was killed has left takes room.
            try StateDatabase.removeNewFile(files)
            return try fileErrors { () throws(FileError) in
                // A new state has a page for each table.
                try source?.byteCount() ?? 1 << 20
            }
        }
        let noRoom = { () -> RestoreError in
            .noRoom(
                directory: directory,
                // SQLite's log while the copy is noted in it, and names of files.
                neededByteCount: byteCount + (1 << 20),
                freeByteCount: (try? files.freeByteCount()) ?? 0
            )
        }
        let free = try restoreErrors { () throws(StateError) in
            try fileErrors { () throws(FileError) in try files.freeByteCount() }
        }
        guard free - byteCount >= 1 << 20 else { throw noRoom() }
        let marker: InPlaceMarker
        let found: JournalContinuation
        let interrupted = InPlaceMarker.read(files).flatMap { $0.hasMoved(files) ? $0 : nil }
        do throws(RestoreError) {
            marker = try begin(backup, files)
            if let source {
                try copy(source, byteCount, files)
            } else {
                let meta = try WholeJournal.check(directory, files, vfs: vfs).meta
                try restoreErrors { () throws(StateError) in
                    try StateDatabase.writeNewFile(directory, files, vfs: vfs, meta)
                }
            }
            found = try prepare(backup, in: directory, files, vfs: vfs)
        } catch {
            // `state.db` is as it was, or was moved by an earlier run that was interrupted: then its
            // marker stays, with the number under which its log is to be moved too.
            try? StateDatabase.removeNewFile(files)
            if let interrupted {
                try? interrupted.write(files)
            } else {
                try? InPlaceMarker.remove(files)
            }
            try? files.removeDirectory(Quarantine.directoryName)
            throw error.isOutOfSpace ? noRoom() : error
        }
        do throws(RestoreError) {
            let kept = try publish(marker, files)
            return InPlaceRestore(
                checkpointed: found.checkpointed,
                last: found.last,
                problem: found.problem,
                kept: kept
            )
        } catch {
            throw error.isOutOfSpace ? noRoom() : error
        }
    }

    /// Marks the directory: no start serves it until the marker is removed.
    private static func begin(
        _ backup: String,
        _ files: any JournalFiles
    ) throws(RestoreError) -> InPlaceMarker {
        try restoreErrors { () throws(StateError) in
            try fileErrors { () throws(FileError) in
                try files.createDirectory(Quarantine.directoryName)
                try files.syncDirectory(".")
                let folder = FileManager.default.currentDirectoryPath
                let path = backup.hasPrefix("/") ? backup : "\(folder)/\(backup)"
                let kept = try Set(files.names(in: Quarantine.directoryName))
                let marker = InPlaceMarker.next(
                    path,
                    kept,
                    moving: try oldNames(files),
                    interrupted: InPlaceMarker.read(files)
                )
                try marker.write(files)
                return marker
            }
        }
    }

    private static func copy(
        _ source: any JournalFile,
        _ byteCount: Int,
        _ files: any JournalFiles
    ) throws(RestoreError) {
        try restoreErrors { () throws(StateError) in
            try fileErrors { () throws(FileError) in
                let target = try files.create(StateDatabase.newFileName)
                let copy = StateCopy(of: source, byteCount: byteCount, to: target)
                while try !copy.step() {}
            }
        }
    }

    /// Checks the copy, and that the journal continues it, and notes that the copy is the
    /// directory's own file now; it is closed on return.
    private static func prepare(
        _ backup: String,
        in directory: String,
        _ files: any JournalFiles,
        vfs: String?
    ) throws(RestoreError) -> JournalContinuation {
        let name = StateDatabase.newFileName
        let database = try restoreErrors { () throws(StateError) in
            let database = try StateDatabase(directory, files, vfs: vfs, name: name)
            guard !database.meta.isCheckpointing else {
                let number = database.meta.checkpointing.number
                throw .unfinishedCheckpoint(file: StateDatabase.fileName, record: number)
            }
            try database.verify()
            return database
        }
        let found = try continuation(of: database, backup, directory, files, vfs: vfs)
        try restoreErrors { () throws(StateError) in
            let record = DirectoryRow(
                known: found.known,
                identity: try fileErrors { () throws(FileError) in try files.identity(of: name) }
            )
            try database.update(record) { meta in
                // How durable the lost file's last answers were is not known.
                meta.skipNumbersAtNextStart()
            }
            try databaseErrors { () throws(SQLiteError) in try database.connection.checkpointLog() }
        }
        return found
    }

    /// The files of the old database that are there, in the order in which they are moved away.
    ///
    /// The database first: without it no start serves what else is left. And all of them before the
    /// copy gets its name: SQLite would take an old log for the copy's own.
    private static func oldNames(_ files: any JournalFiles) throws(FileError) -> [String] {
        let names = try files.names(in: ".")
        return ["", "-wal", "-shm", "-journal"].map { StateDatabase.fileName + $0 }
            .filter(names.contains)
    }

    /// Moves the files of the old database away, and gives the copy its name.
    private static func publish(
        _ marker: InPlaceMarker,
        _ files: any JournalFiles
    ) throws(RestoreError) -> [String] {
        try restoreErrors { () throws(StateError) in
            var kept: [String] = []
            try fileErrors { () throws(FileError) in
                for name in try oldNames(files) {
                    let folder = Quarantine.directoryName
                    let moved = "\(folder)/\(marker.keptName(of: name))"
                    try files.rename(name, to: moved)
                    try files.syncDirectory(folder)
                    try files.syncDirectory(".")
                    kept.append(moved)
                }
            }
            try StateDatabase.publishNewFile(files)
            try fileErrors { () throws(FileError) in try InPlaceMarker.remove(files) }
            return kept
        }
    }
}
