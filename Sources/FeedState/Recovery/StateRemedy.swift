internal import FeedJournal

/// What a directory has left whose `state.db` is missing or damaged.
package enum StateRemedy: Equatable, Sendable {
    /// No backup below the directory can be used.
    case noBackup

    /// The journal continues a backup up to its end: nothing is lost.
    case continued(backup: String, folded: UInt64, last: UInt64)

    /// The newest backup that can be used, which the journal does not continue.
    case behind(backup: String, folded: UInt64, problem: String)

    /// How many backups are looked at, the newest ones.
    private static let maximumBackupCount = 8

    /// Looks at the backups, the newest first, and at the journal, and changes nothing.
    ///
    /// O(rows of a backup and bytes of the journal), for each backup that is looked at.
    package static func find(path: String) -> StateRemedy {
        let folder = "\(path)/\(BackupFolders.directory)"
        var behind: StateRemedy?
        for name in RefusalCommands(path: path).backups.prefix(maximumBackupCount) {
            let backup = "\(folder)/\(name)"
            guard let database = try? BackupVerification.open(path: backup),
                let files = try? POSIXFiles(path: path, for: .look)
            else { continue }
            let folded = database.meta.folded.sequence
            do throws(JournalError) {
                let found = try JournalContinuation(of: database, path, files)
                guard (try? database.verify()) != nil else { continue }
                return .continued(backup: backup, folded: folded, last: found.last)
            } catch {
                guard behind == nil, (try? database.verify()) != nil else { continue }
                behind = .behind(backup: backup, folded: folded, problem: "\(error)")
            }
        }
        return behind ?? .noBackup
    }
}
