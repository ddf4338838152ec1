package import FeedJournal
internal import FeedSQLite
internal import Foundation

package enum BackupRestore {
    /// A file that a restore makes first and removes last: a directory that has it was not restored
    /// to the end, and is not served.
    ///
    /// It notes the ``RestoreSource``.
    package static let restoringName = "restoring"

    /// Makes a data directory of a backup, under a new instance id, with a journal that begins anew: missing,
    /// empty, or of a restore that was killed; its parent is there.
    ///
    /// All sessions of users end, as some may have ended after the backup.
    ///
    /// All is checked before the file gets its name. A restore that was killed leaves a directory
    /// that no start serves; the same call, made again, finishes it. A restore that fails removes the
    /// directory that it has made. `typed`, or else the backup's path, is noted for the case that it is
    /// interrupted. `advance` brings the copy to a later state, before its rows are checked.
    package static func run(
        backup: String,
        into directory: String,
        typed: RestoreSource? = nil,
        advancing advance: (StateDatabase) throws(StorageError) -> Void = { _ in }
    ) throws(RestoreError) {
        let source = try open(backup)
        let from = typed?.path ?? backup
        guard !isWithin(from, directory) else { throw .within(source: from, directory: directory) }
        let isThere = (try? POSIXFiles(reading: directory)) != nil
        let files: POSIXFiles
        do {
            files = try POSIXFiles.creating(path: directory)
        } catch {
            guard error.isOutOfSpace else { throw .storage(error) }
            let above = URL(filePath: directory).deletingLastPathComponent().path
            throw .noRoom(
                directory: directory,
                neededByteCount: ((try? source.byteCount()) ?? 0) + startByteCount,
                freeByteCount: (try? POSIXFiles(reading: above).freeByteCount()) ?? 0
            )
        }
        do throws(RestoreError) {
            try run(
                source,
                typed: typed ?? RestoreSource(path: backup),
                into: directory,
                files,
                advancing: advance
            )
        } catch {
            if !isThere { files.removeUnused() }
            throw error
        }
    }

    private static func isWithin(_ other: String, _ directory: String) -> Bool {
        let target = URL(filePath: directory).standardizedFileURL
        let parent = target.deletingLastPathComponent().resolvingSymlinksInPath()
        let resolved = parent.appending(path: target.lastPathComponent).pathComponents
        let source = URL(filePath: other).standardizedFileURL.resolvingSymlinksInPath()
            .pathComponents
        return resolved.starts(with: source)
    }

    /// The same of a backup's `state.db`, into a directory that is locked, and that SQLite finds under a
    /// path.
    package static func run(
        _ source: any JournalFile,
        typed: RestoreSource,
        into directory: String,
        _ files: any JournalFiles,
        vfs: String? = nil,
        advancing advance: (StateDatabase) throws(StorageError) -> Void = { _ in }
    ) throws(RestoreError) {
        let run = RestoreRun(directory: directory, files: files, vfs: vfs)
        let byteCount = try restoreErrors { () throws(StorageError) in
            try removeRestored(directory, files, keepsMarker: true)
            return try source.byteCount()
        }
        let noRoom = try run.room(for: byteCount + startByteCount)
        do throws(StorageError) {
            try typed.write(files)
            try run.copy(source, byteCount)
            try renew(run, advancing: advance)
            try StateDatabase.publishNewFile(files)
            try endRestoring(files)
        } catch {
            // What is left is no state. Where it cannot be removed, the next restore does it.
            try? removeRestored(directory, files, keepsMarker: false)
            throw error.isOutOfSpace ? noRoom() : .storage(error)
        }
    }

    static func open(_ backup: String) throws(RestoreError) -> any JournalFile {
        let files = try reading(backup)
        let source = try restoreErrors { () throws(StorageError) in
            let names = try files.names(in: ".")
            for name in [SegmentJournal.directoryName, SegmentJournal.watermarkName]
            where names.contains(name) {
                throw .notABackup(path: backup, name: name)
            }
            return try files.open(StateDatabase.fileName)
        }
        guard let source else { throw .incomplete(path: backup, file: StateDatabase.fileName) }
        return source
    }

    /// Opens a directory to read it.
    static func reading(_ path: String) throws(RestoreError) -> POSIXFiles {
        do {
            return try POSIXFiles(reading: path)
        } catch {
            throw error.isMissing ? .noBackup(path: path) : .storage(error)
        }
    }

    /// Removes what a restore that was killed has left; refuses a directory that has anything else.
    private static func removeRestored(
        _ directory: String,
        _ files: any JournalFiles,
        keepsMarker: Bool
    ) throws(StorageError) {
        let names = try files.names(in: ".")
        let isRestoring = names.contains(restoringName)
        for name in names where !["lock", "lost+found", restoringName].contains(name) {
            // An empty directory of a restore of 0.1 may have the new file without the marker.
            let isOurs =
                name.hasPrefix(StateDatabase.newFileName)
                || isRestoring && name.hasPrefix(StateDatabase.fileName)
            guard isOurs else { throw .notEmpty(directory: directory, name: name) }
        }
        // The marker goes last: until then nothing that is left is served.
        for name in names where name.hasPrefix(StateDatabase.fileName) {
            try files.remove(name)
        }
        if isRestoring, !keepsMarker { try endRestoring(files) }
    }

    private static func endRestoring(_ files: any JournalFiles) throws(StorageError) {
        // Not before the file's own name: else a power cut could keep this change alone.
        try files.syncDirectory(".")
        try files.remove(restoringName)
        try files.syncDirectory(".")
    }

    /// What the start after the restore takes: a segment; and 1 MiB each for SQLite's log, while the
    /// new instance is written, and for what else a start writes.
    private static var startByteCount: Int {
        JournalConfiguration(instanceID: 0).segmentByteCount + (2 << 20)
    }

    /// Checks the copy and makes it a state of its own; it is closed on return.
    private static func renew(
        _ run: RestoreRun,
        advancing advance: (StateDatabase) throws(StorageError) -> Void
    ) throws(StorageError) {
        let database = try run.checkedCopy(advancing: advance)
        try database.endAllSessions()
        try database.update { meta in
            // Clients see another instance: what they have in doubt, this state may not know.
            meta.becomeAnotherInstance()
            meta.checkpointed = .start
            meta.checkpointing = .start
            // Nor is it any cluster's.
            meta.chain = .ofOneMachine
        }
        try database.connection.checkpointLog()
    }
}

/// What every restore does in a directory that is locked: it copies `state.db` under another name, checks
/// the copy, and gives it its name.
///
/// Meanwhile the directory is marked by the file `restoring`, and no start serves it.
struct RestoreRun {
    /// Where SQLite finds the directory.
    let directory: String
    let files: any JournalFiles
    let vfs: String?

    /// Throws where there is too little room; returns the error to say so later with the free bytes
    /// of that time.
    func room(for neededByteCount: Int) throws(RestoreError) -> () -> RestoreError {
        let error = { (free: Int) in
            RestoreError.noRoom(
                directory: directory,
                neededByteCount: neededByteCount,
                freeByteCount: free
            )
        }
        let free = try restoreErrors { () throws(StorageError) in try files.freeByteCount() }
        guard free >= neededByteCount else { throw error(free) }
        return { error((try? files.freeByteCount()) ?? 0) }
    }

    func copy(_ source: any JournalFile, _ byteCount: Int) throws(StorageError) {
        let target = try files.create(StateDatabase.newFileName)
        let copy = StateCopy(of: source, byteCount: byteCount, to: target)
        while try !copy.step() {}
    }

    /// The copy, of which every page and row is right, after `advance` has brought it to a later state.
    func checkedCopy(
        advancing advance: (StateDatabase) throws(StorageError) -> Void = { _ in }
    ) throws(StorageError) -> StateDatabase {
        let name = StateDatabase.newFileName
        let database = try StateDatabase(directory, files, vfs: vfs, name: name)
        try database.checkIsOfOneMoment()
        try advance(database)
        try database.verify()
        return database
    }
}

/// Calls `body`, whose failures are the restore's.
func restoreErrors<Result>(
    _ body: () throws(StorageError) -> Result
) throws(RestoreError) -> Result {
    do {
        return try body()
    } catch {
        throw .storage(error)
    }
}

/// What a data directory is restored from, as a person types it: a backup's path, or the flags that
/// name a moment and the path of a data directory.
package struct RestoreSource: Equatable, Sendable {
    /// The path of the backup; with flags, of the data directory.
    package let path: String
    /// The flags before the path: `--at` or `--at-revision`, and its value.
    package let flags: [String]

    package init(path: String, flags: [String] = []) {
        self.path = path
        self.flags = flags
    }

    var isMoment: Bool { !flags.isEmpty }
}

// The file `restoring`: the flags, one on each line, and the absolute path after them.
extension RestoreSource {
    /// The source that an interrupted restore has noted.
    ///
    /// nil where it has noted none, as in 0.1, where a part has a line's end in it, and where a power
    /// cut left a part of the note.
    package static func read(_ files: any JournalFiles) -> RestoreSource? {
        let name = BackupRestore.restoringName
        guard let bytes = (try? files.begin(of: name, byteCount: 1 << 16)) ?? nil,
            bytes.last == UInt8(ascii: "\n"), !bytes.contains(0),
            // Bytes of a power cut may be no text at all.
            var rest = String(validating: bytes.dropLast(), as: UTF8.self)?[...]
        else { return nil }
        var flags: [String] = []
        // A path is absolute, so that it is no flag.
        while rest.hasPrefix("--") {
            let lines = rest.split(separator: "\n", maxSplits: 2, omittingEmptySubsequences: false)
            guard lines.count == 3 else { return nil }
            flags += lines[...1].map(String.init)
            rest = lines[2]
        }
        // With a line's end in it, it may be a part of a longer one.
        guard rest.hasPrefix("/"), !rest.contains("\n") else { return nil }
        return RestoreSource(path: String(rest), flags: flags)
    }

    /// The path below the root, so that another working directory does not change it.
    var absolutePath: String {
        path.hasPrefix("/") ? path : "\(FileManager.default.currentDirectoryPath)/\(path)"
    }

    package func write(_ files: any JournalFiles) throws(StorageError) {
        let text = (flags + [absolutePath]).map { "\($0)\n" }.joined()
        let marker = try files.create(BackupRestore.restoringName)
        try marker.write(Array(text.utf8).span, at: 0)
        try marker.sync()
        try files.syncDirectory(".")
    }
}
