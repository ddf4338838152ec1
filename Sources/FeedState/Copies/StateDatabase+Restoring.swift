import FeedJournal
import FeedSQLite
import Foundation

extension StateDatabase {
    /// Makes a data directory of a copy's directory, under a new instance id, with a journal that
    /// begins anew.
    ///
    /// All is checked before the file gets its name; where anything fails, there is none.
    /// - Parameters:
    ///   - backup: The directory in which the copy is, as ``copy(to:)`` made it.
    ///   - directory: The data directory to make; missing or empty, its parent there.
    ///   - progress: Called now and then while rows are checked.
    /// - Throws: `notEmpty`, `unfinishedFold`, `damaged`, or what SQLite or the system says.
    package static func restore(
        backup: String,
        into directory: String,
        progress: (LoadProgress) -> Void = { _ in }
    ) throws(StateError) {
        for name in [SegmentJournal.directoryName, SegmentJournal.markName]
        where FileManager.default.fileExists(atPath: "\(backup)/\(name)") {
            throw .notABackup(path: backup, name: name)
        }
        guard FileManager.default.isReadableFile(atPath: "\(backup)/\(fileName)") else {
            throw .missingFile(path: "\(backup)/\(fileName)")
        }
        let files = try openEmpty(directory)
        do {
            try copy("\(backup)/\(fileName)", to: directory)
            try renew(directory, files, progress)
        } catch {
            // What is left is no state; it would be made anew in any case.
            try? removeNewFile(files)
            throw error
        }
        try publishNewFile(files)
    }

    /// Makes the directory where none is, and locks it.
    private static func openEmpty(_ directory: String) throws(StateError) -> POSIXFiles {
        let files: POSIXFiles
        do {
            files = try POSIXFiles.creating(path: directory)
        } catch {
            throw .directory(error)
        }
        // The lock has just been made; a restore that was killed may have left the new file.
        let names = try fileErrors { () throws(FileError) in try files.names(in: ".") }
        if let name = names.first(where: { $0 != "lock" && !$0.hasPrefix(newFileName) }) {
            throw .notEmpty(directory: directory, name: name)
        }
        try removeNewFile(files)
        return files
    }

    private static func copy(_ backup: String, to directory: String) throws(StateError) {
        // By bytes, as the backup may be where nothing can be written, and SQLite would want to.
        do {
            try FileManager.default.copyItem(
                atPath: backup,
                toPath: "\(directory)/\(newFileName)"
            )
        } catch {
            throw .missingFile(path: backup)
        }
    }

    /// Checks the copy and makes it a state of its own; it is closed on return.
    private static func renew(
        _ directory: String,
        _ files: any JournalFiles,
        _ progress: (LoadProgress) -> Void
    ) throws(StateError) {
        let database = try StateDatabase(directory, files, name: newFileName)
        guard !database.meta.isFolding else {
            throw .unfinishedFold(file: fileName, sequence: database.meta.folding.sequence)
        }
        try database.verify(progress: progress)
        try database.updateMeta { meta in
            // Clients see another instance: what they have in doubt, this state may not know.
            meta.instanceID = .random(in: 1 ... .max)
            meta.folded = .start
            meta.folding = .start
            meta.bootID = ""
            meta.durability = ""
        }
        try databaseErrors { () throws(SQLiteError) in try database.connection.checkpoint() }
    }
}
