internal import FeedJournal

/// What a directory has left whose `state.db` is missing or damaged.
package enum StateRemedy: Equatable, Sendable {
    /// No backup below the directory can be used.
    case noBackup
    /// The journal continues a backup up to a record, and then has a problem; without one nothing is
    /// lost. The backup is the journal itself where that has all from the beginning.
    case continued(backup: String, checkpointed: UInt64, last: UInt64, problem: String? = nil)
    /// The newest backup that can be used, which the journal does not continue.
    case behind(backup: String, checkpointed: UInt64, problem: String)
    /// No backup of this instance can be used; the newest one that can is of another instance, whose
    /// record numbers cannot be compared with those here.
    case ofAnotherInstance(backup: String)

    /// How many backups are looked at, the newest ones.
    private static let maximumBackupCount = 8

    /// The last record up to which all can be had.
    var last: UInt64 {
        switch self {
        case .noBackup, .ofAnotherInstance: 0
        case .continued(_, _, let last, _): last
        case .behind(_, let checkpointed, _): checkpointed
        }
    }

    private var isOfInstance: Bool {
        switch self {
        case .noBackup, .ofAnotherInstance: false
        case .continued, .behind: true
        }
    }

    /// Looks at the backups and at the journal for what has more records than the directory has without a
    /// backup, and changes nothing.
    ///
    /// O(rows of a backup and bytes of the journal), for each backup that is looked at; of a backup
    /// that has no more than `left` or another one, the rows are not looked at.
    package static func find(path: String, beyond left: UInt64 = 0) -> StateRemedy {
        let folder = "\(path)/\(BackupFolders.directory)"
        var best: StateRemedy?
        for name in RefusalCommands(path: path).backups.prefix(maximumBackupCount) {
            let backup = "\(folder)/\(name)"
            guard let database = try? BackupVerification.open(path: backup),
                let files = try? POSIXFiles(path: path, for: .look)
            else { continue }
            let remedy = remedy(backup, database, at: path, files)
            // What is not more than is left helps only where nothing is left.
            let isFirst = best == nil && left == 0
            let isMore = remedy.isOfInstance && remedy.last > left
            let isBetter = isMore && (best?.isOfInstance != true || remedy.last > best?.last ?? 0)
            guard isFirst || isBetter, (try? database.verify()) != nil else { continue }
            best = remedy
        }
        if left == 0, let whole = ofJournal(path),
            best?.isOfInstance != true || whole.last > best?.last ?? 0
        {
            best = whole
        }
        return best ?? .noBackup
    }

    /// What the journal has where it has all from the beginning; nil where it does not.
    private static func ofJournal(_ path: String) -> StateRemedy? {
        guard let files = try? POSIXFiles(path: path, for: .look),
            let found = try? WholeJournal.check(path, files).found
        else { return nil }
        return .continued(
            backup: WholeJournal.path(in: path),
            checkpointed: 0,
            last: found.last,
            problem: found.problem.map { "\($0)" }
        )
    }

    private static func remedy(
        _ backup: String,
        _ database: StateDatabase,
        at path: String,
        _ files: any JournalFiles
    ) -> StateRemedy {
        let checkpointed = database.meta.checkpointed.number
        do throws(StorageError) {
            let found = try JournalContinuation(of: database, path, files)
            let problem = found.problem.map { "\($0)" }
            return .continued(
                backup: backup,
                checkpointed: checkpointed,
                last: found.last,
                problem: problem
            )
        } catch {
            if case .otherInstance = error { return .ofAnotherInstance(backup: backup) }
            return .behind(backup: backup, checkpointed: checkpointed, problem: "\(error)")
        }
    }
}
