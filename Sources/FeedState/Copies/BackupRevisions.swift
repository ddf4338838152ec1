internal import FeedJournal
internal import FeedSQLite

/// The order of backups by what they have: the names tell it only where the clock was always right.
package struct BackupRevisions {
    private let directory: String
    private let files: any JournalFiles
    private let vfs: String?

    /// The order of the backups below a state's directory.
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
        let database = try? StateDatabase(directory, files, vfs: vfs, name: file, mode: .immutable)
        return database?.meta.highestRevision ?? 0
    }
}

@available(*, unavailable)
extension BackupRevisions: Sendable {}
