package import FeedJournal
internal import FeedSQLite
internal import Foundation

/// A backup that was put in the place of a `state.db` that is missing or damaged.
///
/// The journal beside it continues the backup, so nothing is lost with the old file, and the instance stays.
package struct InPlaceRestore: Equatable, Sendable {
    /// The last record that is in the backup.
    package let checkpointed: UInt64
    /// The last whole record of the journal, which the next start replays.
    package let last: UInt64
    /// What is wrong with the journal after that; the next start refuses it, and says what is lost.
    package let problem: StorageError?
    /// The files that were there before, as they are named in `quarantine/` now.
    package let kept: [String]

    /// Puts a backup, of which nothing is changed, or what the directory's own journal leads to if that has
    /// all of the state, in the place of a directory's `state.db`, which no service uses.
    ///
    /// What it throws says why the directory is as it was; or, where it was interrupted, marked as such:
    /// then no start serves it, and the same call finishes it.
    package static func run(
        backup: String,
        directory: String
    ) throws(RestoreError) -> InPlaceRestore {
        let isJournal = WholeJournal.isPath(backup, in: directory)
        let source = isJournal ? nil : try BackupRestore.open(backup)
        try refuse(isJournal ? nil : backup, directory)
        let files = try restoreErrors { () throws(StorageError) in try POSIXFiles(path: directory) }
        return try run(source, of: backup, in: directory, files)
    }

    /// Throws where it is known already that nothing can be done; changes nothing.
    private static func refuse(_ backup: String?, _ directory: String) throws(RestoreError) {
        let (database, files) = try restoreErrors { () throws(StorageError) in
            let database = try backup.map { (path) throws(StorageError) in
                try BackupVerification.open(path: path)
            }
            return (database, try POSIXFiles(path: directory, for: .look))
        }
        let run = RestoreRun(directory: directory, files: files, vfs: nil)
        guard let backup, let database else {
            _ = try WholeJournal.check(directory, files)
            return
        }
        _ = try run.continuation(of: database, backup)
    }

    /// The same of a backup's `state.db`, nil where the directory's own journal has all, in a directory
    /// that is locked, and that SQLite finds under a path.
    package static func run(
        _ source: (any JournalFile)?,
        of backup: String,
        in directory: String,
        _ files: any JournalFiles,
        vfs: String? = nil
    ) throws(RestoreError) -> InPlaceRestore {
        if let marker = InstallMarker.read(files) {
            throw .installing(directory: directory, record: marker.record)
        }
        let run = RestoreRun(directory: directory, files: files, vfs: vfs)
        let byteCount = try restoreErrors { () throws(StorageError) in
            // What a run that was killed has left takes room.
            try StateDatabase.removeNewFile(files)
            // A new state has a page for each table.
            return try source?.byteCount() ?? 1 << 20
        }
        // SQLite's log while the copy is noted in it, and names of files.
        let noRoom = try run.room(for: byteCount + (1 << 20))
        let marker: InPlaceMarker
        let found: JournalContinuation
        let interrupted = InPlaceMarker.read(files).flatMap { $0.hasMoved(files) ? $0 : nil }
        do throws(RestoreError) {
            marker = try restoreErrors { () throws(StorageError) in
                try run.markInPlace(backup)
            }
            let meta =
                source == nil ? try WholeJournal.check(directory, files, vfs: vfs).meta : nil
            // It is closed at the end of this scope: before the copy gets its name, or is removed.
            let database = try restoreErrors { () throws(StorageError) in
                if let source { try run.copy(source, byteCount) }
                if let meta {
                    try StateDatabase.writeNewFile(directory, files, vfs: vfs, meta)
                }
                return try run.checkedCopy()
            }
            found = try run.continuation(of: database, backup)
            try restoreErrors { () throws(StorageError) in
                try run.adopt(database, known: found.known)
            }
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
        do throws(StorageError) {
            return InPlaceRestore(
                checkpointed: found.checkpointed,
                last: found.last,
                problem: found.problem,
                kept: try run.publishInPlace(marker)
            )
        } catch {
            throw error.isOutOfSpace ? noRoom() : .storage(error)
        }
    }
}

// How a copy comes into the place of a `state.db`.
extension RestoreRun {
    fileprivate func continuation(
        of database: StateDatabase,
        _ backup: String
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

    /// Marks the directory: no start serves it until the marker is removed.
    fileprivate func markInPlace(_ backup: String) throws(StorageError) -> InPlaceMarker {
        try files.createDirectory(Quarantine.directoryName)
        try files.syncDirectory(".")
        let kept = try Set(files.names(in: Quarantine.directoryName))
        let marker = InPlaceMarker.next(
            RestoreSource(path: backup).absolutePath,
            kept,
            moving: try oldNames(),
            interrupted: InPlaceMarker.read(files)
        )
        try marker.write(files)
        return marker
    }

    /// Notes that a checked copy, which the journal continues, is the directory's own file now.
    fileprivate func adopt(
        _ database: StateDatabase,
        known: JournalPosition
    ) throws(StorageError) {
        let identity = try files.identity(of: StateDatabase.newFileName)
        try database.update(DirectoryRow(known: known, identity: identity)) { meta in
            // How durable the lost file's last answers were is not known.
            meta.skipNumbersAtNextStart()
        }
        try database.connection.checkpointLog()
    }

    /// The files of the old database that are there, in the order in which they are moved away.
    ///
    /// The database first: without it no start serves what else is left. And all of them before the
    /// copy gets its name: SQLite would take an old log for the copy's own.
    private func oldNames() throws(StorageError) -> [String] {
        let names = try files.names(in: ".")
        return ["", "-wal", "-shm", "-journal"].map { StateDatabase.fileName + $0 }
            .filter(names.contains)
    }

    /// Moves the files of the old database away, and gives the copy, which is closed, its name.
    fileprivate func publishInPlace(_ marker: InPlaceMarker) throws(StorageError) -> [String] {
        var kept: [String] = []
        let folder = Quarantine.directoryName
        for name in try oldNames() {
            let moved = "\(folder)/\(marker.keptName(of: name))"
            try files.rename(name, to: moved)
            try files.syncDirectory(folder)
            try files.syncDirectory(".")
            kept.append(moved)
        }
        try StateDatabase.publishNewFile(files)
        try InPlaceMarker.remove(files)
        return kept
    }
}

/// What the file `restoring` says while a restore in place is under way: one line,
/// `in-place <number> <the backup's path>`.
struct InPlaceMarker: Equatable {
    private static let prefix = "in-place "

    /// The number in the names of the files that are moved to `quarantine/`: a repetition keeps it, so
    /// that a database and its log stay together.
    let number: Int

    let backup: String

    static func read(_ files: any JournalFiles) -> InPlaceMarker? {
        guard let text = RestoringFile.line(files), text.hasPrefix(prefix) else { return nil }
        let words = text.dropFirst(prefix.count).split(separator: " ", maxSplits: 1)
        guard words.count == 2, let number = Int(words[0]) else { return nil }
        return InPlaceMarker(number: number, backup: String(words[1]))
    }

    /// The marker, which is not written yet, of a restore that begins, or begins anew: then the number of the
    /// run that was interrupted stays if it can.
    ///
    /// Files are to be moved to `quarantine/`, and nothing that is kept there is overwritten.
    static func next(
        _ backup: String,
        _ kept: Set<String>,
        moving: [String],
        interrupted: InPlaceMarker?
    ) -> InPlaceMarker {
        if let number = interrupted?.number {
            let marker = InPlaceMarker(number: number, backup: backup)
            if moving.allSatisfy({ !kept.contains(marker.keptName(of: $0)) }) { return marker }
        }
        var number = 1
        while kept.contains(where: { $0.hasPrefix("\(StateDatabase.fileName).\(number)") }) {
            number += 1
        }
        return InPlaceMarker(number: number, backup: backup)
    }

    /// What a file of the old database is called in `quarantine/`: `state.db.1-wal`, say.
    func keptName(of name: String) -> String {
        let suffix = name.dropFirst(StateDatabase.fileName.count)
        return "\(StateDatabase.fileName).\(number)\(suffix)"
    }

    /// Whether the old database was moved under this marker's number.
    func hasMoved(_ files: any JournalFiles) -> Bool {
        let kept = (try? files.names(in: Quarantine.directoryName)) ?? []
        return kept.contains(keptName(of: StateDatabase.fileName))
    }

    /// Writes the marker, whole or not at all, durably.
    func write(_ files: any JournalFiles) throws(StorageError) {
        try RestoringFile.write("\(Self.prefix)\(number) \(backup)", files)
    }

    /// Removes the marker, durably.
    static func remove(_ files: any JournalFiles) throws(StorageError) {
        try RestoringFile.remove(files)
    }
}

/// The file `restoring` of a directory whose files are put into other places, with one line that says how.
enum RestoringFile {
    /// Its name until it is whole.
    static let newName = "\(BackupRestore.restoringName).new"

    /// Its line; nil if there is no such file, or more in it.
    static func line(_ files: any JournalFiles) -> String? {
        guard
            let bytes = try? files.begin(of: BackupRestore.restoringName, byteCount: 1 << 16),
            bytes.last == UInt8(ascii: "\n")
        else { return nil }
        return String(validating: bytes.dropLast(), as: UTF8.self)
    }

    /// Writes it, whole or not at all, durably.
    static func write(_ line: String, _ files: any JournalFiles) throws(StorageError) {
        let file = try files.create(newName)
        try file.write(Array("\(line)\n".utf8).span, at: 0)
        try file.sync()
        try files.rename(newName, to: BackupRestore.restoringName)
        try files.syncDirectory(".")
    }

    /// Removes it, durably.
    static func remove(_ files: any JournalFiles) throws(StorageError) {
        try files.remove(newName)
        try files.remove(BackupRestore.restoringName)
        try files.syncDirectory(".")
    }
}
