internal import FeedJournal
internal import FeedSQLite
internal import Foundation

/// One backup being made: `state.db` as it stood between two checkpoints, copied into a folder of
/// its own.
///
/// The thread that has the database begins it. From then on another thread may continue it, one at
/// a time.
package final class BackupJob {
    /// The folder in `backups/`; empty before ``open(at:)``.
    package private(set) var name = ""
    /// The bytes of the backup.
    package let byteCount: Int
    /// The bytes that are copied.
    package var copiedByteCount: Int { copy?.copiedByteCount ?? 0 }

    private let kind: BackupKind
    private let meta: StateMeta
    /// Where SQLite finds the data directory, and its virtual file system.
    private let directory: String
    private let vfs: String?
    private let files: any JournalFiles
    private let revisions: BackupRevisions
    private let options: BackupOptions
    private let reservedByteCount: Int
    private let source: any JournalFile
    private var copy: StateCopy?

    /// Holds `state.db` still, to be copied.
    ///
    /// The caller thaws the database after the job, and where this throws. No file of `backups/` is
    /// touched here: that may be a link to a disk that hangs, and checkpoints must not wait for it.
    /// - Parameters:
    ///   - database: The state, between two checkpoints.
    ///   - options: How fast, and how many backups are kept.
    ///   - kind: Who asked for it.
    ///   - reservedByteCount: The bytes that must stay free on the disk.
    /// - Throws: What SQLite or the system says.
    package init(
        of database: StateDatabase,
        _ options: BackupOptions,
        kind: BackupKind = .called,
        reservedByteCount: Int
    ) throws(BackupError) {
        self.kind = kind
        files = database.files
        revisions = BackupRevisions(database)
        directory = database.directory
        vfs = database.vfs
        meta = database.meta
        (source, byteCount) = try backupErrors { () throws(StateError) in
            try database.freeze()
        }
        self.options = options
        self.reservedByteCount = reservedByteCount
    }

    /// Makes the folder, named by a time, and begins the copy; to be called once, before ``step()``.
    ///
    /// What earlier backups have left is removed first. Where this throws, no folder is left.
    /// - Throws: `noRoom`, or what the system says.
    package func open() throws(BackupError) {
        let (name, target) = try backupErrors { () throws(StateError) in
            try fileErrors { () throws(FileError) in
                _ = try BackupFolders.removeLeftovers(files)
                return try create(at: options.timeOfDay())
            }
        }.get()
        self.name = name
        copy = StateCopy(
            of: source,
            byteCount: byteCount,
            to: target,
            stepByteCount: options.stepByteCount
        )
    }

    /// Copies some bytes more; returns whether all are copied.
    package func step() throws(BackupError) -> Bool {
        guard let copy else { preconditionFailure("A copy is opened before its first step.") }
        let free = try backupErrors { () throws(StateError) in
            try fileErrors { () throws(FileError) in
                min(try files.freeByteCount(), try files.freeByteCount(in: BackupFolders.directory))
            }
        }
        guard free >= reservedByteCount else {
            throw .roomShrank(freeByteCount: free, reservedByteCount: reservedByteCount)
        }
        return try backupErrors { () throws(StateError) in
            try fileErrors { () throws(FileError) in try copy.step() }
        }
    }

    /// Reads every page and row of the copy, of which all is copied, as `feed-service verify` does.
    ///
    /// No store is filled, which would take as much memory again as the service has: rows that fit
    /// one another no more are those of a state that was so before it was copied.
    /// - Parameter continues: Called now and then; false ends the check.
    /// - Throws: `damagedCopy`.
    package func verify(while continues: () -> Bool = { true }) throws(BackupError) {
        do throws(StateError) {
            let copy = try StateDatabase(
                directory,
                files,
                vfs: vfs,
                name: newName,
                mode: .immutable
            )
            guard copy.meta == meta else {
                throw .damaged(table: "meta", key: "the only row", reason: "it is another state's")
            }
            try copy.checkPages()
            try copy.checkRows(while: continues)
        } catch {
            // A disk that does not give the copy has not damaged it.
            throw error.isDamage ? .damagedCopy(name: name, error) : .failed(error)
        }
    }

    /// What the copy is called until it is complete.
    private var newName: String { "\(folder)/\(StateDatabase.newFileName)" }

    private var folder: String { "\(BackupFolders.directory)/\(name)" }

    /// Gives the copy, of which all is copied, its name, and removes older backups of its kind.
    ///
    /// - Returns: What was made, and the names of the backups that are gone.
    package func finish() throws(BackupError) -> (backup: BackupSummary, removed: [String]) {
        try backupErrors { () throws(StateError) in
            try fileErrors { () throws(FileError) in
                try files.rename(newName, to: "\(folder)/\(StateDatabase.fileName)")
                try files.syncDirectory(folder)
            }
        }
        // The backup is complete: that an old one cannot be looked at or removed is no failure of it.
        let kept = options.retention(of: kind)
        let pruned = try? BackupFolders.prune(
            kind,
            keeping: kept,
            newest: name,
            files,
            sorted: revisions.sorted
        )
        let removed = pruned ?? []
        let made = BackupSummary(
            name: name,
            revision: meta.highestRevision,
            byteCount: byteCount
        )
        return (made, removed)
    }

    /// Removes what was copied; where that fails, the next backup does it, or the next start.
    package func abandon() {
        guard !name.isEmpty else { return }
        try? BackupFolders.remove(name, files)
    }

    /// Makes the folder and the file in it, if there is room for it.
    private func create(
        at date: Date
    ) throws(FileError) -> Result<(String, any JournalFile), BackupError> {
        try files.createDirectory(BackupFolders.directory)
        let free = try files.freeByteCount(in: BackupFolders.directory)
        guard free - byteCount >= reservedByteCount else {
            return .failure(
                .noRoom(
                    neededByteCount: byteCount,
                    freeByteCount: free,
                    reservedByteCount: reservedByteCount
                )
            )
        }
        let name = try BackupFolders.create(kind, at: date, files)
        do {
            let path = "\(BackupFolders.directory)/\(name)/\(StateDatabase.newFileName)"
            return .success((name, try files.create(path)))
        } catch {
            try? BackupFolders.remove(name, files)
            throw error
        }
    }
}

@available(*, unavailable)
extension BackupJob: Sendable {}

/// A backup that was made.
package struct BackupSummary: Sendable, Equatable {
    /// Its folder in `backups/` of the data directory.
    package var name: String
    /// All up to this revision is in it.
    package var revision: UInt64
    /// The bytes that it takes.
    package var byteCount: Int
}

/// Calls `body`, whose failures are the backup's.
private func backupErrors<Result>(
    _ body: () throws(StateError) -> Result
) throws(BackupError) -> Result {
    do {
        return try body()
    } catch {
        throw .failed(error)
    }
}
