internal import FeedJournal

/// What a directory has left whose `state.db` is missing or damaged.
package enum StateRemedy: Equatable, Sendable {
    /// No backup below the directory can be used.
    case noBackup

    /// The journal continues a backup up to a record, and then has a problem; without one nothing is
    /// lost.
    case continued(backup: String, folded: UInt64, last: UInt64, problem: String? = nil)

    /// The newest backup that can be used, which the journal does not continue.
    case behind(backup: String, folded: UInt64, problem: String)

    /// How many backups are looked at, the newest ones.
    private static let maximumBackupCount = 8

    /// The last record up to which all can be had.
    var last: UInt64 {
        switch self {
        case .noBackup: 0
        case .continued(_, _, let last, _): last
        case .behind(_, let folded, _): folded
        }
    }

    /// Looks at the backups and at the journal for what has the most records, and changes nothing.
    ///
    /// O(rows of a backup and bytes of the journal), for each backup that is looked at; of a backup
    /// that comes to no more than `left` or another one, the rows are not looked at.
    ///
    /// - Parameters:
    ///   - path: The data directory.
    ///   - left: The last record that the directory has without a backup.
    /// - Returns: What was found.
    package static func find(path: String, beyond left: UInt64 = 0) -> StateRemedy {
        let folder = "\(path)/\(BackupFolders.directory)"
        var best: StateRemedy?
        // Record numbers of another instance cannot be compared with those here.
        var isBestOfInstance = false
        for name in RefusalCommands(path: path).backups.prefix(maximumBackupCount) {
            let backup = "\(folder)/\(name)"
            guard let database = try? BackupVerification.open(path: backup),
                let files = try? POSIXFiles(path: path, for: .look)
            else { continue }
            let (remedy, isOfInstance) = remedy(backup, database, path, files)
            // What is not more than is left helps only where nothing is left.
            let isFirst = best == nil && left == 0
            let isMore = isOfInstance && remedy.last > left
            let isBetter = isMore && (!isBestOfInstance || remedy.last > best?.last ?? 0)
            guard isFirst || isBetter, (try? database.verify()) != nil else { continue }
            best = remedy
            isBestOfInstance = isOfInstance
        }
        return best ?? .noBackup
    }

    private static func remedy(
        _ backup: String,
        _ database: StateDatabase,
        _ path: String,
        _ files: any JournalFiles
    ) -> (StateRemedy, isOfInstance: Bool) {
        let folded = database.meta.folded.sequence
        do throws(JournalError) {
            let found = try JournalContinuation(of: database, path, files)
            let problem = found.problem.map { "\($0)" }
            return (
                .continued(backup: backup, folded: folded, last: found.last, problem: problem), true
            )
        } catch {
            let remedy = StateRemedy.behind(backup: backup, folded: folded, problem: "\(error)")
            if case .otherInstance = error { return (remedy, false) }
            return (remedy, true)
        }
    }
}
