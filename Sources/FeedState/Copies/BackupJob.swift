package import FeedJournal
internal import FeedSQLite
internal import Foundation

/// One backup being made: `state.db` as it stood between two checkpoints, copied into a folder of its own.
///
/// The thread that has the database begins it. From then on another thread may continue it, one at a time.
package final class BackupJob {
    /// The folder in `backups/`; empty before ``open(at:)``.
    package private(set) var name = ""
    package let byteCount: Int
    package var copiedByteCount: Int { copy?.copiedByteCount ?? 0 }

    private let kind: BackupKind
    private let meta: StateMeta
    private let files: any JournalFiles
    private let revisions: BackupRevisions
    private let options: BackupOptions
    private let reservedByteCount: Int
    private let source: any JournalFile
    private var copy: StateCopy?

    /// Holds `state.db` still, to be copied, between two checkpoints.
    ///
    /// The caller thaws the database after the job, and where this throws. No file of `backups/` is
    /// touched here: that may be a link to a disk that hangs, and checkpoints must not wait for it.
    package init(
        of database: StateDatabase,
        _ options: BackupOptions,
        kind: BackupKind = .called,
        reservedByteCount: Int
    ) throws(BackupError) {
        self.kind = kind
        files = database.files
        revisions = BackupRevisions(database)
        meta = database.meta
        (source, byteCount) = try backupErrors(database.freeze)
        self.options = options
        self.reservedByteCount = reservedByteCount
    }

    /// Makes the folder, named by a time, and begins the copy; to be called once, before ``step()``.
    ///
    /// What earlier backups have left is removed first. Where this throws, no folder is left.
    package func open() throws(BackupError) {
        let free = try backupErrors { () throws(StorageError) in
            _ = try BackupFolders.removeLeftovers(files)
            try files.createDirectory(BackupFolders.directory)
            return try files.freeByteCount(in: BackupFolders.directory)
        }
        guard free - byteCount >= reservedByteCount else {
            throw .noRoom(
                neededByteCount: byteCount,
                freeByteCount: free,
                reservedByteCount: reservedByteCount
            )
        }
        copy = StateCopy(
            of: source,
            byteCount: byteCount,
            to: try backupErrors(create),
            stepByteCount: options.stepByteCount
        )
    }

    /// Copies some bytes more; returns whether all are copied.
    package func step() throws(BackupError) -> Bool {
        guard let copy else { preconditionFailure("A copy is opened before its first step.") }
        let free = try backupErrors { () throws(StorageError) in
            min(try files.freeByteCount(), try files.freeByteCount(in: BackupFolders.directory))
        }
        guard free >= reservedByteCount else {
            throw .roomShrank(freeByteCount: free, reservedByteCount: reservedByteCount)
        }
        return try backupErrors(copy.step)
    }

    /// Reads every page and row of the copy, of which all is copied, as `feed-service verify` does, while
    /// `continues` says so.
    ///
    /// No store is filled, which would take as much memory again as the service has: rows that fit
    /// one another no more are those of a state that was so before it was copied.
    package func verify(while continues: () -> Bool = { true }) throws(BackupError) {
        do throws(StorageError) {
            let copy = try revisions.open(newName)
            guard copy.meta == meta else {
                throw .damagedRow(
                    table: "meta",
                    key: "the only row",
                    reason: "it is another state's"
                )
            }
            try copy.checkPages()
            try copy.checkRows(while: continues)
        } catch {
            // A disk that does not give the copy has not damaged it.
            throw error.isDamage ? .damagedCopy(name: name, error) : .failed(error)
        }
    }

    private var newName: String { "\(folder)/\(StateDatabase.newFileName)" }

    private var folder: String { "\(BackupFolders.directory)/\(name)" }

    /// Gives the copy, of which all is copied, its name, and removes older backups of its kind.
    package func finish() throws(BackupError) -> (backup: BackupSummary, removed: [String]) {
        try backupErrors { () throws(StorageError) in
            try files.rename(newName, to: "\(folder)/\(StateDatabase.fileName)")
            try files.syncDirectory(folder)
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
        let made = BackupSummary(name: name, revision: meta.highestRevision, byteCount: byteCount)
        return (made, removed)
    }

    /// Removes what was copied; where that fails, the next backup does it, or the next start.
    package func abandon() {
        guard !name.isEmpty else { return }
        try? BackupFolders.remove(name, files)
    }

    /// Makes the folder and the file in it.
    private func create() throws(StorageError) -> any JournalFile {
        name = try BackupFolders.create(kind, at: options.timeOfDay(), files)
        do {
            return try files.create(newName)
        } catch {
            abandon()
            name = ""
            throw error
        }
    }
}

package struct BackupSummary: Sendable, Equatable {
    /// Its folder in `backups/` of the data directory.
    package var name: String
    package var revision: UInt64
    package var byteCount: Int
}

private func backupErrors<Result>(
    _ body: () throws(StorageError) -> Result
) throws(BackupError) -> Result {
    do {
        return try body()
    } catch {
        throw .failed(error)
    }
}

/// A copy of a file that does not change meanwhile, made and synced some bytes at a time.
///
/// One sync of a large copy at its end would hold up every other sync of the disk.
package final class StateCopy {
    private static let pieceByteCount = 1 << 20

    package let byteCount: Int
    package private(set) var copiedByteCount = 0
    private let stepByteCount: Int
    private let source: any JournalFile
    private let target: any JournalFile

    /// Begins a copy of a file's first bytes into an empty file, so many in each step.
    package init(
        of source: any JournalFile,
        byteCount: Int,
        to target: any JournalFile,
        stepByteCount: Int = BackupOptions().stepByteCount
    ) {
        self.stepByteCount = stepByteCount
        self.source = source
        self.byteCount = byteCount
        self.target = target
    }

    /// Copies the next bytes; returns whether all are copied and durable.
    package func step() throws(StorageError) -> Bool {
        let end = min(copiedByteCount + stepByteCount, byteCount)
        while copiedByteCount < end {
            let range = copiedByteCount..<min(copiedByteCount + Self.pieceByteCount, end)
            let bytes = try source.read(range)
            guard bytes.count == range.count else {
                throw .system("read all of", source.name, code: EIO)
            }
            try target.write(bytes.span, at: range.lowerBound)
            copiedByteCount = range.upperBound
        }
        try target.sync()
        return copiedByteCount == byteCount
    }
}

/// The order of backups by what they have: the names tell it only where the clock was always right.
package struct BackupRevisions {
    private let directory: String
    private let files: any JournalFiles
    private let vfs: String?

    package init(_ database: StateDatabase) {
        directory = database.directory
        files = database.files
        vfs = database.vfs
    }

    /// The same names, the oldest state first; O(backups).
    ///
    /// A later state has a higher revision, also after a restore. Backups with one revision are in the
    /// order of their names; those that cannot be read come first.
    package func sorted(_ names: [String]) -> [String] {
        names.map { (revision: revision(of: $0), name: $0) }.sorted { $0 < $1 }.map(\.name)
    }

    private func revision(of name: String) -> UInt64 {
        let file = "\(BackupFolders.directory)/\(name)/\(StateDatabase.fileName)"
        return (try? open(file))?.meta.highestRevision ?? 0
    }

    /// Opens a file below the state's directory to read it.
    fileprivate func open(_ file: String) throws(StorageError) -> StateDatabase {
        try StateDatabase(directory, files, vfs: vfs, name: file, mode: .immutable)
    }
}

package enum BackupError: Error, Equatable, Sendable {
    case running
    /// The disk has less room than the backup takes beside the bytes that must stay free.
    case noRoom(neededByteCount: Int, freeByteCount: Int, reservedByteCount: Int)
    /// While it was made, the free space fell below the bytes that must stay free.
    case roomShrank(freeByteCount: Int, reservedByteCount: Int)
    case logTooLong(byteCount: Int, limit: Int)
    case damagedCopy(name: String, StorageError)
    case stopping
    case failed(StorageError)
}

extension BackupError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .running:
            "A backup is under way already, and one is made at a time."
        case .noRoom(let needed, let free, let reserved):
            "A backup takes \(needed) bytes, and the disk has \(free) bytes free, of which "
                + "\(reserved) must stay free: free \(needed + reserved - free) bytes, or link "
                + "backups/ to another disk."
        case .roomShrank(let free, let reserved):
            "The backup was cancelled: the disk has only \(free) bytes free, and \(reserved) must "
                + "stay free."
        case .logTooLong(let byteCount, let limit):
            "The backup was cancelled: while it was copied, \(byteCount) bytes of changes had to "
                + "wait beside state.db, and the limit is \(limit) bytes. Make it when fewer changes "
                + "come, or onto a faster disk."
        case .damagedCopy(let name, let error):
            "The backup \(name) did not pass its check, and was removed: \(error)"
        case .stopping:
            "The backup was cancelled: the service stops."
        case .failed(let error):
            "The backup failed: \(error)"
        }
    }
}
