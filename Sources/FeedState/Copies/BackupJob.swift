internal import FeedJournal
package import Foundation

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

    private let revision: UInt64
    private let files: any JournalFiles
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
    ///   - reservedByteCount: The bytes that must stay free on the disk.
    /// - Throws: What SQLite or the system says.
    package init(
        of database: StateDatabase,
        _ options: BackupOptions,
        reservedByteCount: Int
    ) throws(BackupError) {
        files = database.files
        revision = database.meta.highestRevision
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
    package func open(at date: Date = .timeOfDay) throws(BackupError) {
        let (name, target) = try backupErrors { () throws(StateError) in
            try fileErrors { () throws(FileError) in
                _ = try BackupFolders.removeLeftovers(files)
                return try Self.create(byteCount, reservedByteCount, at: date, files)
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

    /// Gives the copy, of which all is copied, its name, and removes the oldest backups.
    ///
    /// - Returns: What was made, and the names of the backups that are gone.
    package func finish() throws(BackupError) -> (backup: BackupSummary, removed: [String]) {
        try backupErrors { () throws(StateError) in
            try fileErrors { () throws(FileError) in
                let folder = "\(BackupFolders.directory)/\(name)"
                let newName = "\(folder)/\(StateDatabase.newFileName)"
                try files.rename(newName, to: "\(folder)/\(StateDatabase.fileName)")
                try files.syncDirectory(folder)
            }
        }
        // The backup is complete: that an old one cannot be looked at or removed is no failure of it.
        let kept = options.keptCount
        let removed = (try? BackupFolders.prune(keeping: kept, newest: name, files)) ?? []
        return (BackupSummary(name: name, revision: revision, byteCount: byteCount), removed)
    }

    /// Removes what was copied; where that fails, the next backup does it, or the next start.
    package func abandon() {
        guard !name.isEmpty else { return }
        try? BackupFolders.remove(name, files)
    }

    /// Makes the folder and the file in it, if there is room for it.
    private static func create(
        _ byteCount: Int,
        _ reservedByteCount: Int,
        at date: Date,
        _ files: any JournalFiles
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
        let name = try BackupFolders.create(at: date, files)
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
